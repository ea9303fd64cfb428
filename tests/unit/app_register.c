/* SPDX-License-Identifier: GPL-2.0-only */
/* An application and its daemon: registering, arming, losing each other. */
#include <dirent.h>

#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

#include "app_fake.h"

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

	if (strcmp(role, "waiting") == 0 && write(fd, ltt_enabled(app_test, tick) ? "y" : "n", 1) != 1)
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

static void emit(struct child *c, int nr)
{
	for (int i = 0; i < nr; i++)
		CHECK(child_ask(c, 'e') == 'k');
}

static void registers_and_records(void)
{
	struct fake_app app;
	struct fake_set set;
	int listener = fake_listen();
	struct child c = child_start("events");

	fake_register(listener, &app, 7);
	CHECK(app.hello.abi == 1 && app.hello.bits == 64 && app.hello.pid == (uint32_t)c.pid);
	CHECK(strcmp(app.procname, "exe") == 0 && app.hello.start_ns > 0);
	CHECK(fake_point(&app, TICK) && fake_point(&app, "ltt_statedump:bin_info"));
	CHECK(child_ask(&c, 'a') == 'n');
	fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	fake_say_buffer(&app, &set);
	fake_arm(&app, &set, TICK);
	fake_ready(&app);
	fake_sync(&app);
	emit(&c, 5);
	CHECK(fake_recorded(&set) == 5);
	CHECK(child_ask(&c, 'd') == 'k');
	fake_disarm(&app, &set, TICK);
	fake_sync(&app);
	CHECK(child_ask(&c, 'a') == 'n');
	emit(&c, 2);
	CHECK(fake_recorded(&set) == 5);
	fake_arm(&app, &set, TICK);
	fake_sync(&app);
	emit(&c, 1);
	fake_drop(&app, &set);
	fake_sync(&app);
	emit(&c, 1);
	CHECK(fake_recorded(&set) == 6);
	CHECK(child_end(&c) == 0);
	fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

static void unknown_things_are_ignored(struct fake_app *app, struct fake_set *set)
{
	struct encoder enc;

	fake_begin(&enc, 999);
	encode_u64(&enc, 1);
	fake_send(app, &enc);
	fake_say_arming(app, MSG_app_arm, set, 123456789, 3);
	fake_say_arming(app, MSG_app_disarm, set, 123456789, 3);
	fake_sync(app);
}

/* The daemon appears after the application, dies, and comes back knowing all. */
static void daemon_comes_and_goes(void)
{
	struct child c = child_start("events");
	struct fake_app app;
	struct fake_set set;
	int listener;

	CHECK(child_ask(&c, 'e') == 'k');
	usleep(50000);
	listener = fake_listen();
	fake_register(listener, &app, 7);
	fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	fake_say_buffer(&app, &set);
	fake_arm(&app, &set, TICK);
	fake_ready(&app);
	unknown_things_are_ignored(&app, &set);
	emit(&c, 3);

	close(app.fd);
	close(listener);
	usleep(50000);
	emit(&c, 4); /* nobody is there, it records on */
	CHECK(fake_recorded(&set) == 7);

	listener = fake_listen();
	fake_register(listener, &app, 7);
	fake_say_buffer(&app, &set);
	fake_arm(&app, &set, TICK);
	fake_ready(&app);
	fake_sync(&app);
	emit(&c, 2);
	CHECK(fake_recorded(&set) == 9);

	/* what is not said again is over */
	close(app.fd);
	fake_register(listener, &app, 7);
	fake_say_buffer(&app, &set);
	fake_sync(&app);
	emit(&c, 1);
	CHECK(fake_recorded(&set) == 10);
	fake_ready(&app);
	fake_sync(&app);
	CHECK(child_ask(&c, 'a') == 'n');

	/* another life of the daemon: nothing that was before counts */
	fake_arm(&app, &set, TICK);
	fake_sync(&app);
	CHECK(child_ask(&c, 'a') == 'y');
	close(app.fd);
	fake_register(listener, &app, 8);
	fake_sync(&app);
	CHECK(child_ask(&c, 'a') == 'n');
	CHECK(child_end(&c) == 0);
	fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

/* One ring set relieves another: no event is recorded twice or not at all. */
static void buffers_are_replaced(void)
{
	struct fake_app app;
	struct fake_set first, second, other;
	int listener = fake_listen();
	struct child c = child_start("events");

	fake_register(listener, &app, 7);
	fake_set_init(&first, 1, 100, "channel0", app.hello.producer);
	fake_set_init(&second, 2, 100, "channel0", app.hello.producer);
	fake_set_init(&other, 3, 101, "channel0", app.hello.producer);
	fake_say_buffer(&app, &first);
	fake_say_buffer(&app, &other);
	fake_arm(&app, &first, TICK);
	fake_arm(&app, &other, TICK);
	fake_ready(&app);
	fake_sync(&app);
	emit(&c, 1);
	fake_say_buffer(&app, &second);
	fake_arm(&app, &second, TICK);
	fake_sync(&app);
	emit(&c, 1);
	fake_drop(&app, &first);
	fake_sync(&app);
	emit(&c, 1);
	CHECK(fake_recorded(&first) == 1 && fake_recorded(&second) == 2);
	CHECK(fake_recorded(&other) == 3);
	CHECK(child_end(&c) == 0);
	fake_set_fini(&first);
	fake_set_fini(&second);
	fake_set_fini(&other);
	close(app.fd);
	close(listener);
}

static void dumps_its_state(void)
{
	struct fake_app app;
	struct fake_set set, other;
	int listener = fake_listen();
	struct child c = child_start("events");
	uint64_t own;

	fake_register(listener, &app, 7);
	fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	fake_set_init(&other, 2, 101, "channel0", app.hello.producer);
	fake_say_buffer(&app, &set);
	fake_say_buffer(&app, &other);
	fake_arm(&app, &set, "ltt_statedump:bin_info");
	fake_arm(&app, &set, "ltt_statedump:start");
	fake_arm(&app, &set, "ltt_statedump:end");
	fake_arm(&app, &set, "app_test:dumped");
	fake_arm(&app, &other, "ltt_statedump:bin_info");
	fake_arm(&app, &other, "app_test:dumped");
	fake_ready(&app);
	fake_statedump(&app, 100);
	own = fake_recorded(&set);
	CHECK(own >= 2 + 3); /* the program, libc, the loader */
	CHECK(child_ask(&c, 's') == 'k');
	CHECK(child_ask(&c, 's') == 'x');
	fake_statedump(&app, 100);
	CHECK(fake_recorded(&set) == 2 * own + 1);
	CHECK(fake_recorded(&other) == 0);
	fake_statedump(&app, 101);
	CHECK(fake_recorded(&set) == 2 * own + 1 && fake_recorded(&other) == own - 2 + 1);
	fake_statedump(&app, 555); /* no such session */
	CHECK(child_ask(&c, 'S') == 'k');
	CHECK(child_ask(&c, 'S') == 'x');
	fake_statedump(&app, 100);
	CHECK(fake_recorded(&set) == 3 * own + 1);
	CHECK(child_end(&c) == 0);
	fake_set_fini(&set);
	fake_set_fini(&other);
	close(app.fd);
	close(listener);
}

/* Start-up waits for the daemon where it is asked to: the first event counts. */
static void waits_where_asked(void)
{
	struct fake_app app;
	struct fake_set set;
	int listener = fake_listen();
	struct child c;

	setenv("LTT_REGISTER_TIMEOUT", "5000", 1);
	c = child_start("waiting");
	fake_register(listener, &app, 7);
	fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	while (!fake_point(&app, TICK)) {
		fake_ready(&app);
		fake_await_points(&app);
	}
	fake_say_buffer(&app, &set);
	fake_arm(&app, &set, TICK);
	usleep(100000);
	CHECK(!fake_readable(c.fd, 0));
	fake_ready(&app);
	CHECK(child_answer(&c) == 'y');
	CHECK(child_end(&c) == 0);
	close(app.fd);

	/* but not for longer than that */
	setenv("LTT_REGISTER_TIMEOUT", "200", 1);
	c = child_start("waiting");
	fake_accept(listener, &app);
	CHECK(child_answer(&c) == 'n');
	CHECK(child_end(&c) == 0);
	close(app.fd);
	close(listener);

	/* and not at all where no daemon is */
	fake_rundir_remove();
	setenv("LTT_REGISTER_TIMEOUT", "-1", 1);
	c = child_start("waiting");
	CHECK(child_answer(&c) == 'n');
	CHECK(child_end(&c) == 0);
	unsetenv("LTT_REGISTER_TIMEOUT");
	CHECK(mkdir(fake_dir, 0700) == 0);
	fake_set_fini(&set);
}

/* The runtime directory is made later than the application, and made again. */
static void directory_comes_and_goes(void)
{
	struct fake_app app;
	struct child c;
	int listener;

	fake_rundir_remove();
	c = child_start("events");
	CHECK(child_ask(&c, 'e') == 'k');
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		CHECK(mkdir(fake_dir, 0700) == 0);
		usleep(20000);
		listener = fake_listen();
		fake_register(listener, &app, 7);
		fake_ready(&app);
		fake_sync(&app);
		close(app.fd);
		close(listener);
		fake_rundir_remove();
	}
	CHECK(child_end(&c) == 0);
	CHECK(mkdir(fake_dir, 0700) == 0);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(argv[1], atoi(argv[2]));
	fake_rundir();
	registers_and_records();
	daemon_comes_and_goes();
	buffers_are_replaced();
	dumps_its_state();
	waits_where_asked();
	directory_comes_and_goes();
	fake_rundir_end();
	return 0;
}
