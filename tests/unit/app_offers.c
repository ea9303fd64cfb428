/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A daemon that has lost buffers requests them from an application that records into them: it
 * offers them, keeps recording, and rings the doorbell of the consumer that drains them next. It
 * keeps no more descriptors than there is room for, and none of buffers that it has returned.
 */
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(offer_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))

#define TICK "offer_test:tick"
#define ROOM 32 /* of descriptors, that libltt leaves */

/* --- the application ------------------------------------------------------------ */

static char lower_limit(rlim_t to)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 'x';
	limit.rlim_cur = to;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 'k' : 'x';
}

static char fork_one(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid > 0 ? 'k' : 'x';
}

static int application(int fd)
{
	char command, answer;
	int n = 0;

	while (read(fd, &command, 1) == 1) {
		answer = 'k';
		if (command == 'e')
			ltt_trace(offer_test, tick, n++);
		else if (command == 'f')
			answer = fork_one();
		else
			answer = lower_limit(ROOM + 1);
		if (write(fd, &answer, 1) != 1)
			return 2;
	}
	return 0;
}

/* --- the daemon --------------------------------------------------------------------- */

static void emit(struct fake_child *c, int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
}

static bool is_helper(const char *task)
{
	char path[400], name[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/comm", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, name, sizeof(name) - 1) > 0);
	close(fd);
	return strstr(name, "-ltt\n");
}

static unsigned int memory_in(const char *task)
{
	char path[400], link[700], target[64];
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/fd", task);
	dir = opendir(path);
	CHECK(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		ssize_t len;

		snprintf(link, sizeof(link), "%s/%s", path, e->d_name);
		len = readlink(link, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		nr += strstr(target, "memfd:") != NULL;
	}
	closedir(dir);
	return nr;
}

/* Memory files that the application's helper has open. */
static unsigned int kept(const struct fake_child *c)
{
	char path[64], task[350];
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)c->pid);
	dir = opendir(path);
	CHECK(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		snprintf(task, sizeof(task), "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.' && is_helper(task))
			nr += memory_in(task);
	}
	closedir(dir);
	return nr;
}

static void want(const struct fake_app *app, uint64_t ring)
{
	struct msg_app_buffer_want m = { ring };
	struct encoder enc;

	app_fake_begin(&enc, MSG_app_buffer_want);
	msg_app_buffer_want_encode(&enc, &m);
	app_fake_send(app, &enc);
}

static struct msg_app_buffer_offer offered(const struct fake_app *app)
{
	static uint8_t rx[MSG_MAX_BYTES];
	char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec iov = { .iov_base = rx, .iov_len = sizeof(rx) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct msg_app_buffer_offer offer;
	struct msg_header header;
	struct decoder dec;
	struct cmsghdr *c;
	int fds[4];
	ssize_t len;

	CHECK(app_fake_readable(app->fd, WAIT_MS));
	len = recvmsg(app->fd, &msg, MSG_CMSG_CLOEXEC);
	c = CMSG_FIRSTHDR(&msg);
	CHECK(len > 0 && (!c || c->cmsg_len == CMSG_LEN(2 * sizeof(int))));
	if (c)
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	decoder_init(&dec, rx, (size_t)len, fds, c ? 2 : 0);
	CHECK(decode_header(&dec, &header) == 0 && header.type == MSG_app_buffer_offer);
	CHECK_IS(msg_app_buffer_offer_decode(&dec, &offer), ==, 0);
	return offer;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	CHECK(fstat(a, &x) == 0 && fstat(b, &y) == 0);
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool has(const struct fake_app *app, const struct fake_set *set)
{
	struct msg_app_buffer_offer offer;

	want(app, set->ring);
	offer = offered(app);
	CHECK(offer.ring == set->ring && (offer.data < 0) == (offer.ctl < 0));
	if (offer.data < 0)
		return false;
	CHECK(same_file(offer.data, set->data) && same_file(offer.ctl, set->ctl));
	CHECK_IS((fcntl(offer.ctl, F_GETFL) & O_ACCMODE), ==, O_RDONLY);
	close(offer.data);
	close(offer.ctl);
	return true;
}

static uint32_t rung(int doorbell)
{
	uint32_t times;

	CHECK_IS(pread(doorbell, &times, sizeof(times), 0), ==, sizeof(times));
	return times;
}

static void begin(int listener, struct fake_app *app, struct fake_set *set, struct fake_child *c)
{
	*c = app_fake_child_start("offers");
	app_fake_register(listener, app, 7);
	app_fake_set_init(set, 1, 100, "channel0", app->hello.producer);
	app_fake_send_buffer(app, set);
	app_fake_arm(app, set, TICK);
	app_fake_ready(app);
	app_fake_sync(app);
	emit(c, 1);
}

static void end(int listener, struct fake_app *app, struct fake_set *set, struct fake_child *c)
{
	CHECK_IS(app_fake_child_end(c), ==, 0);
	app_fake_set_fini(set);
	close(app->fd);
	close(listener);
}

/* All daemons die; the application keeps recording, and the next daemon receives everything. */
static void gives_back(void)
{
	struct fake_set set, other, strange = { .ring = 99 };
	int listener = app_fake_listen(), old_doorbell;
	struct fake_app app;
	struct fake_child c;
	uint32_t before;

	begin(listener, &app, &set, &c);
	app_fake_set_init(&other, 2, 100, "channel1", app.hello.producer);
	app_fake_send_buffer(&app, &other);
	app_fake_sync(&app);
	CHECK_IS(kept(&c), ==, 4);
	close(app.fd);
	close(listener);
	emit(&c, 3);
	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	CHECK(has(&app, &set) && has(&app, &other) && !has(&app, &strange));
	old_doorbell = set.doorbell;
	set.doorbell = app_fake_memfd(4096);
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	app_fake_ready(&app);
	app_fake_sync(&app);
	CHECK_IS(rung(set.doorbell), >, 0); /* for wake-ups at the old doorbell */
	CHECK(kept(&c) == 2 && has(&app, &set) && !has(&app, &other));
	before = rung(old_doorbell);
	app_fake_enable(&set, LTT_RING_ON | LTT_RING_WAKE);
	for (uint32_t i = 0, last = rung(set.doorbell); i < 3; i++, last++) {
		emit(&c, 1);
		CHECK_IS(rung(set.doorbell), ==, last + 1);
	}
	CHECK(rung(old_doorbell) == before && app_fake_recorded(&set) == 7);
	app_fake_drop(&app, &set);
	app_fake_sync(&app);
	CHECK(kept(&c) == 0 && !has(&app, &set));
	close(old_doorbell);
	app_fake_set_fini(&other);
	end(listener, &app, &set, &c);
}

/* Buffers of an earlier generation of the daemon's state are not offered. */
static void of_another_life(void)
{
	int listener = app_fake_listen();
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;

	begin(listener, &app, &set, &c);
	close(app.fd);
	app_fake_register(listener, &app, 8);
	CHECK(!has(&app, &set) && kept(&c) == 0);
	end(listener, &app, &set, &c);
}

/* A child has its parent's mappings, but no descriptors until it receives them. */
static void forked(void)
{
	int listener = app_fake_listen();
	struct fake_app app, forked;
	struct fake_set set;
	struct fake_child c;

	begin(listener, &app, &set, &c);
	CHECK_IS(app_fake_child_command(&c, 'f'), ==, 'k');
	app_fake_register(listener, &forked, 7);
	CHECK(!has(&forked, &set));
	app_fake_send_buffer(&forked, &set);
	app_fake_sync(&forked);
	CHECK(has(&forked, &set) && has(&app, &set));
	close(forked.fd);
	end(listener, &app, &set, &c);
}

/* The helper continues its work if the program may open few files. */
static void limited(void)
{
	int listener = app_fake_listen();
	struct fake_set set, other;
	struct fake_app app;
	struct fake_child c;

	begin(listener, &app, &set, &c);
	CHECK(has(&app, &set));
	CHECK_IS(app_fake_child_command(&c, 'l'), ==, 'k');
	CHECK(!has(&app, &set) && kept(&c) == 0);
	app_fake_set_init(&other, 2, 100, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &other);
	app_fake_arm(&app, &other, TICK);
	app_fake_sync(&app);
	emit(&c, 2);
	CHECK(app_fake_recorded(&set) == 1 && app_fake_recorded(&other) == 2);
	CHECK(!has(&app, &other) && kept(&c) == 0);
	app_fake_set_fini(&other);
	end(listener, &app, &set, &c);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(atoi(argv[2]));
	app_fake_rundir();
	gives_back();
	of_another_life();
	if (!UNDER_TSAN) /* it allows no new thread after a fork of several */
		forked();
	limited();
	app_fake_rundir_end();
	return 0;
}
