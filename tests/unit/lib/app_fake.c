/* SPDX-License-Identifier: GPL-2.0-only */
#include "app_fake.h"

#include <inttypes.h>
#include <spawn.h>
#include <sys/un.h>

char app_fake_dir[64];
static uint8_t app_fake_tx[MSG_MAX_BYTES];

int64_t app_fake_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void app_fake_rundir(void)
{
	strcpy(app_fake_dir, "/tmp/ltt-app.XXXXXX");
	CHECK(mkdtemp(app_fake_dir));
	strcat(app_fake_dir, "/run");
	CHECK_IS(mkdir(app_fake_dir, 0700), ==, 0);
	setenv("LTT_RUNDIR", app_fake_dir, 1);
	unsetenv("LTT_REGISTER_TIMEOUT");
}

void app_fake_rundir_remove(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/apps.sock", app_fake_dir);
	unlink(path);
	rmdir(app_fake_dir);
}

void app_fake_rundir_end(void)
{
	app_fake_rundir_remove();
	*strrchr(app_fake_dir, '/') = '\0';
	rmdir(app_fake_dir);
}

int app_fake_listen_as(uid_t uid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/apps.sock", app_fake_dir);
	unlink(addr.sun_path);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(uid == geteuid() || seteuid(uid) == 0);
	CHECK_IS(listen(fd, 64), ==, 0);
	CHECK_IS(seteuid(getuid()), ==, 0);
	return fd;
}

int app_fake_listen(void)
{
	return app_fake_listen_as(geteuid());
}

int app_fake_memfd(size_t bytes)
{
	int fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	CHECK_IS(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), ==, 0);
	return fd;
}

static struct ltt_ring_cons *app_fake_cons(const struct fake_set *set, uint32_t ring)
{
	return (struct ltt_ring_cons *)(set->ctl_map + LTT_RING_CONS_OFFSET) + ring;
}

void app_fake_enable(struct fake_set *set, uint32_t state)
{
	for (uint32_t i = 0; i < set->desc.nr_rings; i++)
		__atomic_store_n(&app_fake_cons(set, i)->state, state, __ATOMIC_RELEASE);
}

void app_fake_set_init(struct fake_set *set, uint64_t ring, uint64_t session, const char *channel,
		       int exclusive)
{
	char path[64];

	*set = (struct fake_set){
		.ring = ring, .session = session, .channel = channel, .exclusive = exclusive
	};
	set->desc = (struct ltt_ring_desc){
		.magic = LTT_RING_MAGIC,
		.version = LTT_RING_VERSION,
		.nr_rings = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.num_subbuf = 4,
		.subbuf_size = 262144,
		.data_size = 4 * 262144,
		.clock = LTT_CLOCK_MONOTONIC,
	};
	set->desc.max_record = ltt_ring_max_record(set->desc.data_size);
	set->data_bytes = ltt_ring_data_bytes(&set->desc);
	set->ctl_bytes = ltt_ring_ctl_bytes(&set->desc);
	set->data = app_fake_memfd(set->data_bytes);
	set->ctl = app_fake_memfd(set->ctl_bytes);
	set->doorbell = app_fake_memfd(4096);
	set->data_map =
		mmap(NULL, set->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, set->data, 0);
	set->ctl_map = mmap(NULL, set->ctl_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, set->ctl, 0);
	CHECK(set->data_map != MAP_FAILED && set->ctl_map != MAP_FAILED);
	memcpy(set->ctl_map, &set->desc, sizeof(set->desc));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", set->ctl);
	set->ctl_ro = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_IS(set->ctl_ro, >=, 0);
	app_fake_enable(set, LTT_RING_ON);
}

void app_fake_set_fini(struct fake_set *set)
{
	munmap(set->data_map, set->data_bytes);
	munmap(set->ctl_map, set->ctl_bytes);
	close(set->data);
	close(set->ctl);
	close(set->ctl_ro);
	close(set->doorbell);
}

uint64_t app_fake_count(const struct fake_set *set, int what)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < set->desc.nr_rings; i++) {
		const struct ltt_ring_prod *prod =
			(void *)(set->data_map + i * ltt_ring_stride(&set->desc));
		uint64_t pub = __atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE);

		sum += what ? prod->lost_busy : prod->count[(pub & LTT_PUB_PARITY) != 0];
	}
	return sum;
}

uint64_t app_fake_recorded(const struct fake_set *set)
{
	return app_fake_count(set, 0);
}

bool app_fake_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

void app_fake_accept(int listener, struct fake_app *app)
{
	memset(app, 0, sizeof(*app));
	app->last_producer = -1;
	CHECK(app_fake_readable(listener, WAIT_MS));
	app->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK_IS(app->fd, >=, 0);
}

static void app_fake_on_points(struct fake_app *app, struct decoder *dec)
{
	struct msg_app_points_add m;
	struct msg_app_point point;

	CHECK_IS(msg_app_points_add_decode(dec, &m), ==, 0);
	while (msg_app_point_next(&m.points, &point)) {
		struct fake_point *p = &app->points[app->nr_points++];

		CHECK_IS(app->nr_points, <, MAX_POINTS);
		p->id = point.id;
		snprintf(p->name, sizeof(p->name), "%s", point.name);
	}
	app->nr_complete += m.complete;
}

static void app_fake_on_removed(struct fake_app *app, struct decoder *dec)
{
	struct msg_app_points_remove m;
	struct msg_app_point_ref ref;

	CHECK_IS(msg_app_points_remove_decode(dec, &m), ==, 0);
	while (msg_app_point_ref_next(&m.points, &ref)) {
		app->nr_removed++;
		for (unsigned int i = 0; i < app->nr_points; i++)
			if (app->points[i].id == ref.id)
				app->points[i].name[0] = '\0';
	}
}

static void app_fake_on_channels(struct fake_app *app, struct decoder *dec)
{
	struct msg_app_channel channel;
	struct msg_app_channels msg;
	size_t len = 0;

	CHECK_IS(msg_app_channels_decode(dec, &msg), ==, 0);
	app->channels[0] = '\0';
	while (msg_app_channel_next(&msg.channels, &channel)) {
		len += (size_t)snprintf(app->channels + len, sizeof(app->channels) - len,
					"%s %s %" PRIu64 " %" PRIu32 "\n", channel.name,
					channel.events, channel.subbuf_size, channel.num_subbuf);
		CHECK_IS(len, <, sizeof(app->channels));
	}
}

int app_fake_receive(struct fake_app *app, int ms)
{
	static uint8_t rx[MSG_MAX_BYTES];
	struct msg_app_producer producer;
	struct msg_app_synced synced;
	struct msg_header header;
	struct decoder dec;
	ssize_t len;

	if (!app_fake_readable(app->fd, ms))
		return -1;
	len = recv(app->fd, rx, sizeof(rx), 0);
	if (len <= 0)
		return 0;
	decoder_init(&dec, rx, (size_t)len, NULL, 0);
	CHECK_IS(decode_header(&dec, &header), ==, 0);
	if (header.type == MSG_app_hello) {
		CHECK_IS(msg_app_hello_decode(&dec, &app->hello), ==, 0);
		snprintf(app->procname, sizeof(app->procname), "%s", app->hello.procname);
	} else if (header.type == MSG_app_points_add) {
		app_fake_on_points(app, &dec);
	} else if (header.type == MSG_app_points_remove) {
		app_fake_on_removed(app, &dec);
	} else if (header.type == MSG_app_synced) {
		CHECK_IS(msg_app_synced_decode(&dec, &synced), ==, 0);
		app->last_synced = synced.serial;
		app->nr_synced++;
	} else if (header.type == MSG_app_begun) {
		CHECK_IS(msg_app_begun_decode(&dec, &app->begun), ==, 0);
		app->nr_begun++;
	} else if (header.type == MSG_app_channels) {
		app_fake_on_channels(app, &dec);
	} else if (header.type == MSG_app_producer) {
		CHECK_IS(msg_app_producer_decode(&dec, &producer), ==, 0);
		app->last_producer = producer.producer;
	}
	return header.type;
}

void app_fake_await_points(struct fake_app *app)
{
	unsigned int before = app->nr_complete;

	while (app->nr_complete == before)
		CHECK_IS(app_fake_receive(app, WAIT_MS), >, 0);
}

uint32_t app_fake_point(const struct fake_app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nr_points; i++)
		if (strcmp(app->points[i].name, name) == 0)
			return app->points[i].id;
	return 0;
}

void app_fake_begin(struct encoder *enc, uint16_t type)
{
	encoder_init(enc, app_fake_tx, sizeof(app_fake_tx));
	encode_header(enc, type, 0, 0);
}

void app_fake_send(const struct fake_app *app, const struct encoder *enc)
{
	struct iovec iov = { .iov_base = enc->buf, .iov_len = enc->len };
	char control[CMSG_SPACE(sizeof(enc->fds))] = "";
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	CHECK_IS(encoder_finish(enc), ==, 0);
	if (enc->nr_fds) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(enc->nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(enc->nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), enc->fds, enc->nr_fds * sizeof(int));
	}
	CHECK_IS(sendmsg(app->fd, &msg, MSG_NOSIGNAL), >=, 0);
}

void app_fake_welcome(const struct fake_app *app, uint64_t instance)
{
	struct msg_app_welcome m = { .instance = instance };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_welcome);
	msg_app_welcome_encode(&enc, &m);
	app_fake_send(app, &enc);
}

void app_fake_send_buffer(const struct fake_app *app, const struct fake_set *set)
{
	struct msg_app_buffer m = { .ring = set->ring,
				    .session = set->session,
				    .data = set->data,
				    .ctl = set->ctl_ro,
				    .doorbell = set->doorbell,
				    .exclusive = (uint8_t)set->exclusive,
				    .channel = set->channel,
				    .own = set->own };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_buffer);
	msg_app_buffer_encode(&enc, &m);
	app_fake_send(app, &enc);
}

void app_fake_send_arming(const struct fake_app *app, uint16_t type, const struct fake_set *set,
			  uint32_t point, uint32_t event)
{
	struct msg_app_arming arming = { .point = point, .ring = set->ring, .event = event };
	struct msg_app_arm m = { .contexts = "", .filter_contexts = "" };
	uint8_t bytes[64];
	struct encoder enc, list;

	encoder_init(&list, bytes, sizeof(bytes));
	msg_app_arming_add(&list, &arming);
	m.armings = encoder_list(&list);
	app_fake_begin(&enc, type);
	msg_app_arm_encode(&enc, &m);
	app_fake_send(app, &enc);
}

void app_fake_arm(const struct fake_app *app, const struct fake_set *set, const char *point)
{
	CHECK_IS(app_fake_point(app, point), !=, 0);
	app_fake_send_arming(app, MSG_app_arm, set, app_fake_point(app, point), 1);
}

void app_fake_disarm(const struct fake_app *app, const struct fake_set *set, const char *point)
{
	app_fake_send_arming(app, MSG_app_disarm, set, app_fake_point(app, point), 1);
}

void app_fake_drop(const struct fake_app *app, const struct fake_set *set)
{
	struct msg_app_buffer_drop m = { .ring = set->ring };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_buffer_drop);
	msg_app_buffer_drop_encode(&enc, &m);
	app_fake_send(app, &enc);
}

void app_fake_ready(const struct fake_app *app)
{
	app_fake_ready_part(app, APP_READY_ALL);
}

void app_fake_ready_part(const struct fake_app *app, enum app_ready_part part)
{
	struct msg_app_ready m = { .part = (uint8_t)part };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_ready);
	msg_app_ready_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static void app_fake_await_synced(struct fake_app *app, uint32_t serial)
{
	while (app->last_synced != serial)
		CHECK_IS(app_fake_receive(app, WAIT_MS), >, 0);
}

void app_fake_sync(struct fake_app *app)
{
	static uint32_t serial = 1000;
	struct msg_app_sync m = { .serial = ++serial };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_sync);
	msg_app_sync_encode(&enc, &m);
	app_fake_send(app, &enc);
	app_fake_await_synced(app, serial);
}

void app_fake_statedump(struct fake_app *app, uint64_t session)
{
	static uint32_t serial;
	struct msg_app_statedump m = { .session = session, .serial = ++serial };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_statedump);
	msg_app_statedump_encode(&enc, &m);
	app_fake_send(app, &enc);
	app_fake_await_synced(app, serial);
}

void app_fake_register(int listener, struct fake_app *app, uint64_t instance)
{
	app_fake_accept(listener, app);
	CHECK_IS(app_fake_receive(app, WAIT_MS), ==, MSG_app_hello);
	app_fake_welcome(app, instance);
	app_fake_await_points(app);
}

struct fake_child app_fake_child_start(const char *role)
{
	int pair[2];
	struct fake_child c;
	char fd[16];
	char *argv[] = { "app-under-test", (char *)role, fd, NULL };

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), ==, 0);
	CHECK_IS(fcntl(pair[0], F_SETFD, FD_CLOEXEC), ==, 0);
	snprintf(fd, sizeof(fd), "%d", pair[1]);
	CHECK_IS(posix_spawn(&c.pid, "/proc/self/exe", NULL, NULL, argv, environ), ==, 0);
	close(pair[1]);
	c.fd = pair[0];
	return c;
}

char app_fake_child_read(const struct fake_child *c)
{
	char answer = 0;

	CHECK(app_fake_readable(c->fd, WAIT_MS));
	CHECK_IS(read(c->fd, &answer, 1), ==, 1);
	return answer;
}

char app_fake_child_command(const struct fake_child *c, char command)
{
	CHECK_IS(write(c->fd, &command, 1), ==, 1);
	return app_fake_child_read(c);
}

int app_fake_child_end(struct fake_child *c)
{
	int status = 0;

	close(c->fd);
	CHECK_IS(waitpid(c->pid, &status, 0), ==, c->pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
