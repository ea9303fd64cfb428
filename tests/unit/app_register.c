/* SPDX-License-Identifier: GPL-2.0-only */
/* An application and its daemon: registering, arming, losing each other. */
#include <dirent.h>

#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))
LTT_TRACEPOINT(app_test, dumped, (int n), LTT_INFO, ltt_int(int, n, n))

#define TICK "app_test:tick"

/* --- the application ------------------------------------------------------------ */

/* Descriptors that the program did not open. */
static char strange_descriptors(int own)
{
	DIR *dir = opendir("/proc/self/fd");
	char answer = 'k';

	for (struct dirent *e; (e = readdir(dir));) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd > 2 && fd != own && fd != dirfd(dir)) {
			fprintf(stderr, "descriptor %d is open\n", fd);
			answer = 'x';
		}
	}
	closedir(dir);
	return answer;
}

static void dump(void *priv)
{
	ltt_trace(app_test, dumped, *(int *)priv);
}

static char obey(char command, int fd)
{
	static int n;

	switch (command) {
	case 'e':
		ltt_trace(app_test, tick, n++);
		return 'k';
	case 'a':
		return ltt_enabled(app_test, tick) ? 'y' : 'n';
	case 'd':
		return strange_descriptors(fd);
	case 's':
		return ltt_statedump_register(dump, &n) == 0 ? 'k' : 'x';
	case 'S':
		return ltt_statedump_unregister(dump, &n) == 0 ? 'k' : 'x';
	case 'p': /* the next close is at the end */
		close(fd);
		pause();
		return 'k';
	default:
		return '?';
	}
}

static int application(const char *role, int fd)
{
	char command, answer = 'k';

	if (strcmp(role, "waiting") == 0 &&
	    write(fd, ltt_enabled(app_test, tick) ? "y" : "n", 1) != 1)
		return 2;
	for (int i = 3; i < 1024; i++)
		if (i != fd)
			close(i);
	while (read(fd, &command, 1) == 1) {
		answer = obey(command, fd);
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

static void registers_and_records(void)
{
	struct fake_app app;
	struct fake_set set;
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("events");

	app_fake_register(listener, &app, 7);
	CHECK(app.hello.abi == 1 && app.hello.bits == 64 && app.hello.pid == (uint32_t)c.pid);
	CHECK(strcmp(app.procname, "exe") == 0 && app.hello.start_ns > 0);
	CHECK(app_fake_point(&app, TICK) && app_fake_point(&app, "ltt_statedump:bin_info"));
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'n');
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	app_fake_ready(&app);
	app_fake_sync(&app);
	emit(&c, 5);
	CHECK_IS(app_fake_recorded(&set), ==, 5);
	CHECK_IS(app_fake_child_command(&c, 'd'), ==, 'k');
	app_fake_disarm(&app, &set, TICK);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'n');
	emit(&c, 2);
	CHECK_IS(app_fake_recorded(&set), ==, 5);
	app_fake_arm(&app, &set, TICK);
	app_fake_sync(&app);
	emit(&c, 1);
	app_fake_drop(&app, &set);
	app_fake_sync(&app);
	emit(&c, 1);
	CHECK_IS(app_fake_recorded(&set), ==, 6);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

static void unknown_things_are_ignored(struct fake_app *app, struct fake_set *set)
{
	struct encoder enc;

	app_fake_begin(&enc, 999);
	encode_u64(&enc, 1);
	app_fake_send(app, &enc);
	app_fake_send_arming(app, MSG_app_arm, set, 123456789, 3);
	app_fake_send_arming(app, MSG_app_disarm, set, 123456789, 3);
	app_fake_sync(app);
}

/* The daemon starts after the application, dies, and restarts with its state. */
static void daemon_comes_and_goes(void)
{
	struct fake_child c = app_fake_child_start("events");
	struct fake_app app;
	struct fake_set set;
	int listener;

	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	usleep(50000);
	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	app_fake_ready(&app);
	unknown_things_are_ignored(&app, &set);
	emit(&c, 3);

	close(app.fd);
	close(listener);
	usleep(50000);
	emit(&c, 4); /* no daemon runs, the application keeps recording */
	CHECK_IS(app_fake_recorded(&set), ==, 7);

	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	app_fake_ready(&app);
	app_fake_sync(&app);
	emit(&c, 2);
	CHECK_IS(app_fake_recorded(&set), ==, 9);

	/* armings that are not repeated end */
	close(app.fd);
	app_fake_register(listener, &app, 7);
	app_fake_send_buffer(&app, &set);
	app_fake_sync(&app);
	emit(&c, 1);
	CHECK_IS(app_fake_recorded(&set), ==, 10);
	app_fake_ready(&app);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'n');

	/* another instance of the daemon: all earlier armings are void */
	app_fake_arm(&app, &set, TICK);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'y');
	close(app.fd);
	app_fake_register(listener, &app, 8);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'n');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

/* One ring set replaces another: no event is recorded twice or lost. */
static void buffers_are_replaced(void)
{
	struct fake_app app;
	struct fake_set first, second, other;
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("events");

	app_fake_register(listener, &app, 7);
	app_fake_set_init(&first, 1, 100, "channel0", app.hello.producer);
	app_fake_set_init(&second, 2, 100, "channel0", app.hello.producer);
	app_fake_set_init(&other, 3, 101, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &first);
	app_fake_send_buffer(&app, &other);
	app_fake_arm(&app, &first, TICK);
	app_fake_arm(&app, &other, TICK);
	app_fake_ready(&app);
	app_fake_sync(&app);
	emit(&c, 1);
	app_fake_send_buffer(&app, &second);
	app_fake_arm(&app, &second, TICK);
	app_fake_sync(&app);
	emit(&c, 1);
	app_fake_drop(&app, &first);
	app_fake_sync(&app);
	emit(&c, 1);
	CHECK(app_fake_recorded(&first) == 1 && app_fake_recorded(&second) == 2);
	CHECK_IS(app_fake_recorded(&other), ==, 3);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&first);
	app_fake_set_fini(&second);
	app_fake_set_fini(&other);
	close(app.fd);
	close(listener);
}

static void dumps_its_state(void)
{
	struct fake_app app;
	struct fake_set set, other;
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("events");
	uint64_t own;

	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	app_fake_set_init(&other, 2, 101, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &set);
	app_fake_send_buffer(&app, &other);
	app_fake_arm(&app, &set, "ltt_statedump:bin_info");
	app_fake_arm(&app, &set, "ltt_statedump:start");
	app_fake_arm(&app, &set, "ltt_statedump:end");
	app_fake_arm(&app, &set, "app_test:dumped");
	app_fake_arm(&app, &other, "ltt_statedump:bin_info");
	app_fake_arm(&app, &other, "app_test:dumped");
	app_fake_ready(&app);
	app_fake_statedump(&app, 100);
	own = app_fake_recorded(&set);
	CHECK_IS(own, >=, 2 + 3); /* the program, libc, the loader */
	CHECK_IS(app_fake_child_command(&c, 's'), ==, 'k');
	CHECK_IS(app_fake_child_command(&c, 's'), ==, 'x');
	app_fake_statedump(&app, 100);
	CHECK_IS(app_fake_recorded(&set), ==, 2 * own + 1);
	CHECK_IS(app_fake_recorded(&other), ==, 0);
	app_fake_statedump(&app, 101);
	CHECK(app_fake_recorded(&set) == 2 * own + 1 && app_fake_recorded(&other) == own - 2 + 1);
	app_fake_statedump(&app, 555); /* no such session */
	CHECK_IS(app_fake_child_command(&c, 'S'), ==, 'k');
	CHECK_IS(app_fake_child_command(&c, 'S'), ==, 'x');
	app_fake_statedump(&app, 100);
	CHECK_IS(app_fake_recorded(&set), ==, 3 * own + 1);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
	app_fake_set_fini(&other);
	close(app.fd);
	close(listener);
}

/* Start-up waits for the daemon if configured: the first event is recorded. */
static void waits_where_asked(void)
{
	struct fake_app app;
	struct fake_set set;
	int listener = app_fake_listen();
	struct fake_child c;

	setenv("LTT_REGISTER_TIMEOUT", "5000", 1);
	c = app_fake_child_start("waiting");
	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	while (!app_fake_point(&app, TICK)) {
		app_fake_ready(&app);
		app_fake_await_points(&app);
	}
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	usleep(100000);
	CHECK(!app_fake_readable(c.fd, 0));
	app_fake_ready(&app);
	CHECK_IS(app_fake_child_read(&c), ==, 'y');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);

	/* but not for longer than that */
	setenv("LTT_REGISTER_TIMEOUT", "200", 1);
	c = app_fake_child_start("waiting");
	app_fake_accept(listener, &app);
	CHECK_IS(app_fake_child_read(&c), ==, 'n');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);

	/* and not at all if no daemon runs */
	app_fake_rundir_remove();
	setenv("LTT_REGISTER_TIMEOUT", "-1", 1);
	c = app_fake_child_start("waiting");
	CHECK_IS(app_fake_child_read(&c), ==, 'n');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	unsetenv("LTT_REGISTER_TIMEOUT");
	CHECK_IS(mkdir(app_fake_dir, 0700), ==, 0);
	app_fake_set_fini(&set);
}

/* Parts of app_ready: threads begin, and the state of an earlier connection is dropped later. */
static void begins_before_the_sweep(void)
{
	struct fake_app app;
	struct fake_set set;
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("events");

	app_fake_register(listener, &app, 7);
	CHECK_IS(app.hello.recorded, ==, 0);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	app_fake_send_buffer(&app, &set);
	app_fake_arm(&app, &set, TICK);
	app_fake_ready(&app);
	app_fake_sync(&app);
	close(app.fd);
	app_fake_register(listener, &app, 7);
	CHECK_IS(app.hello.recorded, >, app_fake_point(&app, TICK));
	app_fake_ready_part(&app, APP_READY_BEGIN);
	app_fake_sync(&app);
	emit(&c, 2);
	CHECK_IS(app_fake_recorded(&set), ==, 2);
	app_fake_ready_part(&app, APP_READY_SWEEP);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'a'), ==, 'n');
	close(app.fd);
	app_fake_register(listener, &app, 7);
	CHECK_IS(app.hello.recorded, ==, 0);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

/* A killed daemon ends the connection that it has, and those in its queue. Its socket stays, and so
 * the next one is waited for. */
static void waits_for_the_next(void)
{
	struct fake_app app;
	int listener = app_fake_listen();
	struct fake_child c;

	setenv("LTT_REGISTER_TIMEOUT", "40000", 1);
	c = app_fake_child_start("waiting");
	for (int i = 0; i < 2; i++) {
		app_fake_accept(listener, &app);
		if (i == 0)
			CHECK_IS(app_fake_receive(&app, WAIT_MS), ==, MSG_app_hello);
		if (i == 1)
			close(listener);
		close(app.fd);
	}
	CHECK(!app_fake_readable(c.fd, 200));
	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	while (!app_fake_point(&app, TICK)) {
		app_fake_ready(&app);
		app_fake_await_points(&app);
	}
	CHECK(!app_fake_readable(c.fd, 100));
	app_fake_ready(&app);
	CHECK_IS(app_fake_child_read(&c), ==, 'n');
	CHECK_IS(app.nr_begun, ==, 0);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
	unsetenv("LTT_REGISTER_TIMEOUT");
}

/* A daemon that closes connections unanswered refuses: there is a pause. */
static void does_not_insist(void)
{
	struct fake_app app;
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("events");

	for (int i = 0; i < 3; i++) {
		app_fake_accept(listener, &app);
		while (app_fake_receive(&app, WAIT_MS) != MSG_app_points_add)
			;
		close(app.fd);
	}
	CHECK(!app_fake_readable(listener, 500));
	CHECK(app_fake_readable(listener, WAIT_MS));
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(listener);
}

/* A wait that has ended in vain is reported to the daemon that has not answered, and then to the
 * next ones until one of them has. */
static void reports_its_begin(void)
{
	struct fake_app app;
	int listener = app_fake_listen();
	struct fake_child c;

	setenv("LTT_REGISTER_TIMEOUT", "200", 1);
	c = app_fake_child_start("events");
	app_fake_register(listener, &app, 7);
	while (!app.nr_begun)
		CHECK_IS(app_fake_receive(&app, WAIT_MS), >, 0);
	CHECK(app.begun.ago_ms < 10000 && app.begun.first == 0);
	while (!app_fake_point(&app, TICK))
		CHECK_IS(app_fake_receive(&app, WAIT_MS), >, 0);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	app_fake_ready(&app); /* it may have been sent before that message came */
	app_fake_sync(&app);
	close(app.fd);
	for (int i = 0; i < 2; i++) {
		app_fake_register(listener, &app, 7);
		CHECK_IS(app.nr_begun, ==, i == 0);
		app_fake_ready(&app);
		app_fake_sync(&app);
		close(app.fd);
	}
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(listener);
	unsetenv("LTT_REGISTER_TIMEOUT");
}

/* The runtime directory is made later than the application, and made again. */
static void directory_comes_and_goes(void)
{
	struct fake_app app;
	struct fake_child c;
	int listener;

	app_fake_rundir_remove();
	c = app_fake_child_start("events");
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		CHECK_IS(mkdir(app_fake_dir, 0700), ==, 0);
		usleep(20000);
		listener = app_fake_listen();
		app_fake_register(listener, &app, 7);
		app_fake_ready(&app);
		app_fake_sync(&app);
		close(app.fd);
		close(listener);
		app_fake_rundir_remove();
	}
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	CHECK_IS(mkdir(app_fake_dir, 0700), ==, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(argv[1], atoi(argv[2]));
	app_fake_rundir();
	registers_and_records();
	daemon_comes_and_goes();
	buffers_are_replaced();
	dumps_its_state();
	waits_where_asked();
	begins_before_the_sweep();
	waits_for_the_next();
	does_not_insist();
	reports_its_begin();
	directory_comes_and_goes();
	app_fake_rundir_end();
	return 0;
}
