/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app_fake.h - a daemon for tests of the application's side: it listens, makes
 * ring sets as a consumer would, and speaks app.def. Every wait has an end.
 *
 * The test program is both: run without arguments it is the daemon, and it runs
 * itself with arguments as the application, in a runtime directory of its own.
 */
#ifndef APP_FAKE_H
#define APP_FAKE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "ltt_ring.h"
#include "proto/app.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN 0
#endif

#define UNUSED __attribute__((unused))
#define WAIT_MS 40000 /* ten thousand threads, on a busy machine, under a sanitizer */
#define MAX_POINTS 512

struct fake_point {
	uint32_t id;
	char name[64];
};

/** One application's connection. */
struct fake_app {
	int fd;
	struct msg_app_hello hello;
	char procname[64];
	struct fake_point points[MAX_POINTS];
	unsigned int nr_points, nr_removed;
	unsigned int nr_complete; /* announcements that are whole */
	unsigned int nr_synced;
	uint32_t last_synced;
	int last_producer; /* -1: nothing was said */
};

struct fake_set {
	uint64_t ring, session;
	const char *channel;
	int exclusive;
	bool own;
	int data, ctl, ctl_ro, doorbell;
	struct ltt_ring_desc desc;
	uint8_t *data_map, *ctl_map;
	size_t data_bytes, ctl_bytes;
};

extern char **environ;

static char fake_dir[64]; /* the runtime directory */

static UNUSED int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- where --------------------------------------------------------------------- */

/* Not directly in /tmp: there, others' files would wake the helper. */
static UNUSED void fake_rundir(void)
{
	strcpy(fake_dir, "/tmp/ltt-app.XXXXXX");
	CHECK(mkdtemp(fake_dir) != NULL);
	strcat(fake_dir, "/run");
	CHECK(mkdir(fake_dir, 0700) == 0);
	setenv("LTT_RUNDIR", fake_dir, 1);
	unsetenv("LTT_REGISTER_TIMEOUT");
}

static UNUSED void fake_rundir_remove(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/apps.sock", fake_dir);
	unlink(path);
	rmdir(fake_dir);
}

static UNUSED void fake_rundir_end(void)
{
	fake_rundir_remove();
	*strrchr(fake_dir, '/') = '\0';
	rmdir(fake_dir);
}

/** A daemon comes up, perhaps over the socket of a dead one. */
static UNUSED int fake_listen_as(uid_t uid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/apps.sock", fake_dir);
	unlink(addr.sun_path);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(uid == geteuid() || seteuid(uid) == 0);
	CHECK(listen(fd, 64) == 0);
	CHECK(seteuid(getuid()) == 0);
	return fd;
}

static UNUSED int fake_listen(void)
{
	return fake_listen_as(geteuid());
}

/* --- a ring set ---------------------------------------------------------------- */

static UNUSED int fake_memfd(size_t bytes)
{
	int fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
	return fd;
}

static UNUSED struct ltt_ring_cons *fake_cons(const struct fake_set *set, uint32_t ring)
{
	return (struct ltt_ring_cons *)(set->ctl_map + LTT_RING_CONS_OFFSET) + ring;
}

static UNUSED void fake_enable(struct fake_set *set, uint32_t state)
{
	for (uint32_t i = 0; i < set->desc.nr_rings; i++)
		__atomic_store_n(&fake_cons(set, i)->state, state, __ATOMIC_RELEASE);
}

static UNUSED void fake_set_init(struct fake_set *set, uint64_t ring, uint64_t session,
				 const char *channel, int exclusive)
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
	set->data = fake_memfd(set->data_bytes);
	set->ctl = fake_memfd(set->ctl_bytes);
	set->doorbell = fake_memfd(4096);
	set->data_map =
		mmap(NULL, set->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, set->data, 0);
	set->ctl_map = mmap(NULL, set->ctl_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, set->ctl, 0);
	CHECK(set->data_map != MAP_FAILED && set->ctl_map != MAP_FAILED);
	memcpy(set->ctl_map, &set->desc, sizeof(set->desc));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", set->ctl);
	set->ctl_ro = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(set->ctl_ro >= 0);
	fake_enable(set, LTT_RING_ON);
}

static UNUSED void fake_set_fini(struct fake_set *set)
{
	munmap(set->data_map, set->data_bytes);
	munmap(set->ctl_map, set->ctl_bytes);
	close(set->data);
	close(set->ctl);
	close(set->ctl_ro);
	close(set->doorbell);
}

/** Events that were published in the set; @what 1: refused for want of a ring. */
static UNUSED uint64_t fake_count(const struct fake_set *set, int what)
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

static UNUSED uint64_t fake_recorded(const struct fake_set *set)
{
	return fake_count(set, 0);
}

/* --- a connection ---------------------------------------------------------------- */

static UNUSED bool fake_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static UNUSED void fake_accept(int listener, struct fake_app *app)
{
	memset(app, 0, sizeof(*app));
	app->last_producer = -1;
	CHECK(fake_readable(listener, WAIT_MS));
	app->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(app->fd >= 0);
}

static UNUSED void fake_on_points(struct fake_app *app, struct decoder *dec)
{
	struct msg_app_points_add m;
	struct msg_app_point point;

	CHECK(msg_app_points_add_decode(dec, &m) == 0);
	while (msg_app_point_next(&m.points, &point)) {
		struct fake_point *p = &app->points[app->nr_points++];

		CHECK(app->nr_points < MAX_POINTS);
		p->id = point.id;
		snprintf(p->name, sizeof(p->name), "%s", point.name);
	}
	app->nr_complete += m.complete;
}

static UNUSED void fake_on_removed(struct fake_app *app, struct decoder *dec)
{
	struct msg_app_points_remove m;
	struct msg_app_point_ref ref;

	CHECK(msg_app_points_remove_decode(dec, &m) == 0);
	while (msg_app_point_ref_next(&m.points, &ref)) {
		app->nr_removed++;
		for (unsigned int i = 0; i < app->nr_points; i++)
			if (app->points[i].id == ref.id)
				app->points[i].name[0] = '\0';
	}
}

/** Take one message. Return: its type, 0 at the end, -1 after @ms. */
static UNUSED int fake_receive(struct fake_app *app, int ms)
{
	static uint8_t rx[MSG_MAX_BYTES];
	struct msg_app_producer producer;
	struct msg_app_synced synced;
	struct msg_header header;
	struct decoder dec;
	ssize_t len;

	if (!fake_readable(app->fd, ms))
		return -1;
	len = recv(app->fd, rx, sizeof(rx), 0);
	if (len <= 0)
		return 0;
	decoder_init(&dec, rx, (size_t)len, NULL, 0);
	CHECK(decode_header(&dec, &header) == 0);
	if (header.type == MSG_app_hello) {
		CHECK(msg_app_hello_decode(&dec, &app->hello) == 0);
		snprintf(app->procname, sizeof(app->procname), "%s", app->hello.procname);
	} else if (header.type == MSG_app_points_add) {
		fake_on_points(app, &dec);
	} else if (header.type == MSG_app_points_remove) {
		fake_on_removed(app, &dec);
	} else if (header.type == MSG_app_synced) {
		CHECK(msg_app_synced_decode(&dec, &synced) == 0);
		app->last_synced = synced.serial;
		app->nr_synced++;
	} else if (header.type == MSG_app_producer) {
		CHECK(msg_app_producer_decode(&dec, &producer) == 0);
		app->last_producer = producer.producer;
	}
	return header.type;
}

/** Take messages until the next announcement is whole. */
static UNUSED void fake_await_points(struct fake_app *app)
{
	unsigned int before = app->nr_complete;

	while (app->nr_complete == before)
		CHECK(fake_receive(app, WAIT_MS) > 0);
}

static UNUSED uint32_t fake_point(const struct fake_app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nr_points; i++)
		if (strcmp(app->points[i].name, name) == 0)
			return app->points[i].id;
	return 0;
}

/* --- what the daemon says ---------------------------------------------------------- */

static uint8_t fake_tx[MSG_MAX_BYTES];

static UNUSED void fake_begin(struct encoder *enc, uint16_t type)
{
	encoder_init(enc, fake_tx, sizeof(fake_tx));
	encode_header(enc, type, 0, 0);
}

static UNUSED void fake_send(const struct fake_app *app, const struct encoder *enc)
{
	struct iovec iov = { .iov_base = enc->buf, .iov_len = enc->len };
	char control[CMSG_SPACE(sizeof(enc->fds))] = "";
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	CHECK(encoder_finish(enc) == 0);
	if (enc->nr_fds) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(enc->nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(enc->nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), enc->fds, enc->nr_fds * sizeof(int));
	}
	CHECK(sendmsg(app->fd, &msg, MSG_NOSIGNAL) >= 0);
}

static UNUSED void fake_welcome(const struct fake_app *app, uint64_t instance)
{
	struct msg_app_welcome m = { .instance = instance };
	struct encoder enc;

	fake_begin(&enc, MSG_app_welcome);
	msg_app_welcome_encode(&enc, &m);
	fake_send(app, &enc);
}

static UNUSED void fake_say_buffer(const struct fake_app *app, const struct fake_set *set)
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

	fake_begin(&enc, MSG_app_buffer);
	msg_app_buffer_encode(&enc, &m);
	fake_send(app, &enc);
}

static UNUSED void fake_say_arming(const struct fake_app *app, uint16_t type,
				   const struct fake_set *set, uint32_t point, uint32_t event)
{
	struct msg_app_arming arming = { .point = point, .ring = set->ring, .event = event };
	struct msg_app_arm m;
	uint8_t bytes[64];
	struct encoder enc, list;

	encoder_init(&list, bytes, sizeof(bytes));
	msg_app_arming_add(&list, &arming);
	m.armings = encoder_list(&list);
	fake_begin(&enc, type);
	msg_app_arm_encode(&enc, &m);
	fake_send(app, &enc);
}

static UNUSED void fake_arm(const struct fake_app *app, const struct fake_set *set,
			    const char *point)
{
	CHECK(fake_point(app, point) != 0);
	fake_say_arming(app, MSG_app_arm, set, fake_point(app, point), 1);
}

static UNUSED void fake_disarm(const struct fake_app *app, const struct fake_set *set,
			       const char *point)
{
	fake_say_arming(app, MSG_app_disarm, set, fake_point(app, point), 1);
}

static UNUSED void fake_drop(const struct fake_app *app, const struct fake_set *set)
{
	struct msg_app_buffer_drop m = { .ring = set->ring };
	struct encoder enc;

	fake_begin(&enc, MSG_app_buffer_drop);
	msg_app_buffer_drop_encode(&enc, &m);
	fake_send(app, &enc);
}

static UNUSED void fake_ready(const struct fake_app *app)
{
	struct encoder enc;

	fake_begin(&enc, MSG_app_ready);
	fake_send(app, &enc);
}

static UNUSED void fake_await_synced(struct fake_app *app, uint32_t serial)
{
	while (app->last_synced != serial)
		CHECK(fake_receive(app, WAIT_MS) > 0);
}

/** Return when everything said before is in force. */
static UNUSED void fake_sync(struct fake_app *app)
{
	static uint32_t serial = 1000;
	struct msg_app_sync m = { .serial = ++serial };
	struct encoder enc;

	fake_begin(&enc, MSG_app_sync);
	msg_app_sync_encode(&enc, &m);
	fake_send(app, &enc);
	fake_await_synced(app, serial);
}

static UNUSED void fake_statedump(struct fake_app *app, uint64_t session)
{
	static uint32_t serial;
	struct msg_app_statedump m = { .session = session, .serial = ++serial };
	struct encoder enc;

	fake_begin(&enc, MSG_app_statedump);
	msg_app_statedump_encode(&enc, &m);
	fake_send(app, &enc);
	fake_await_synced(app, serial);
}

/** From hello to the end of the first announcement; @instance is welcomed. */
static UNUSED void fake_register(int listener, struct fake_app *app, uint64_t instance)
{
	fake_accept(listener, app);
	CHECK(fake_receive(app, WAIT_MS) == MSG_app_hello);
	fake_welcome(app, instance);
	fake_await_points(app);
}

/* --- the application's process ------------------------------------------------------ */

struct child {
	pid_t pid;
	int fd; /* it reads commands here, one byte each, and answers each with one */
};

/** Run this program as an application, which plays @role. */
static UNUSED struct child child_start(const char *role)
{
	int pair[2];
	struct child c;
	char fd[16];
	char *argv[] = { "app-under-test", (char *)role, fd, NULL };

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(fcntl(pair[0], F_SETFD, FD_CLOEXEC) == 0);
	snprintf(fd, sizeof(fd), "%d", pair[1]);
	CHECK(posix_spawn(&c.pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0);
	close(pair[1]);
	c.fd = pair[0];
	return c;
}

static UNUSED char child_answer(const struct child *c)
{
	char answer = 0;

	CHECK(fake_readable(c->fd, WAIT_MS));
	CHECK(read(c->fd, &answer, 1) == 1);
	return answer;
}

static UNUSED char child_ask(const struct child *c, char command)
{
	CHECK(write(c->fd, &command, 1) == 1);
	return child_answer(c);
}

/** End it; return its exit status or -signal. */
static UNUSED int child_end(struct child *c)
{
	int status = 0;

	close(c->fd);
	CHECK(waitpid(c->pid, &status, 0) == c->pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
