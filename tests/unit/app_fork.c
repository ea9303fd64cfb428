/* SPDX-License-Identifier: GPL-2.0-only */
/* Applications that fork, daemonise, exec, and have threads by the thousand. */
#include <pthread.h>
#include <sys/resource.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"

LTT_TRACEPOINT(app_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))

#define TICK "app_test:tick"

/* --- the application ------------------------------------------------------------ */

static void answer(int fd, char what)
{
	if (write(fd, &what, 1) != 1)
		_exit(3);
}

/* The child records at once, then runs commands like its parent. */
static void fork_once(int fd)
{
	if (fork() == 0) {
		ltt_trace(app_test, tick, 1);
		answer(fd, ltt_enabled(app_test, tick) ? 'y' : 'n');
	} else {
		pause(); /* it is the child's turn; killed with it at the end */
	}
}

static void daemonise(int fd)
{
	if (fork() != 0)
		_exit(0);
	setsid();
	if (fork() != 0)
		_exit(0);
	for (int i = 0; i < 1024; i++)
		if (i != fd)
			close(i);
	ltt_trace(app_test, tick, 1);
	answer(fd, ltt_enabled(app_test, tick) ? 'y' : 'n');
}

static void fork_many(int fd)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			ltt_trace(app_test, tick, i);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	answer(fd, 'k');
}

static void *one_event(void *arg)
{
	ltt_trace(app_test, tick, (int)(intptr_t)arg);
	return NULL;
}

#define CHURN 1000u

static void churn(int fd)
{
	pthread_t threads[10];

	for (unsigned int i = 0; i < check_repeat(CHURN); i++) {
		for (int t = 0; t < 10; t++)
			if (pthread_create(&threads[t], NULL, one_event, NULL) != 0)
				_exit(4);
		for (int t = 0; t < 10; t++)
			pthread_join(threads[t], NULL);
	}
	answer(fd, 'k');
}

static int stop;

static void *busy(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		free(malloc(100 + (size_t)(intptr_t)arg));
	return NULL;
}

/* Other threads hold locks of the allocator while this one forks. */
static void fork_among_threads(int fd)
{
	pthread_t threads[3];
	int good = 0;

	for (int t = 0; t < 3; t++)
		pthread_create(&threads[t], NULL, busy, NULL);
	for (int i = 0; i < 20; i++) {
		int status = 1;
		pid_t pid = fork();

		if (pid == 0) {
			ltt_trace(app_test, tick, i);
			free(malloc(1000));
			_exit(7);
		}
		waitpid(pid, &status, 0);
		good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
	answer(fd, good == 20 ? 'k' : 'x');
}

static void exec_again(int fd)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	execl("/proc/self/exe", "app-after-exec", "events", text, (char *)NULL);
	_exit(5);
}

/* A child that can't have a helper thread records all the same: this user may have
 * three threads, and this process has two of them. */
static void fork_without_thread(int fd)
{
	struct rlimit three = { 3, 3 };

	if (setrlimit(RLIMIT_NPROC, &three) < 0 || setresuid(54321, 54321, 54321) < 0)
		_exit(6);
	if (fork() == 0) {
		ltt_trace(app_test, tick, 1);
		answer(fd, pthread_create(&(pthread_t){ 0 }, NULL, one_event, NULL) ? 'k' : 'x');
	}
}

/* A sanitizer's final check of a process that changed its user would fail. */
static bool changed_user;

static int application(int fd)
{
	char command;
	int n = 0;

	while (read(fd, &command, 1) == 1) {
		if (command == 'e') {
			ltt_trace(app_test, tick, n++);
			answer(fd, 'k');
		} else if (command == 'f') {
			fork_once(fd);
		} else if (command == 'd') {
			daemonise(fd);
		} else if (command == 'm') {
			fork_many(fd);
		} else if (command == 't') {
			churn(fd);
		} else if (command == 'T') {
			fork_among_threads(fd);
		} else if (command == 'x') {
			exec_again(fd);
		} else if (command == 'l') {
			changed_user = true;
			fork_without_thread(fd);
		} else if (command == 'p') {
			answer(fd, (char)(getpid() & 0x7f));
		}
	}
	if (changed_user)
		_exit(0);
	return 0;
}

/* --- the daemon --------------------------------------------------------------------- */

static void arm(struct fake_app *app, struct fake_set *set)
{
	app_fake_send_buffer(app, set);
	app_fake_arm(app, set, TICK);
	app_fake_ready(app);
	app_fake_sync(app);
}

static void begin_with(int *listener, struct fake_child *c, struct fake_app *app,
		       struct fake_set *set, bool own)
{
	*listener = app_fake_listen();
	*c = app_fake_child_start("events");
	app_fake_register(*listener, app, 7);
	if (app->hello.producer != 0)
		SKIP("no rseq: a child has no ring until it has registered");
	app_fake_set_init(set, 1, 100, "channel0", app->hello.producer);
	set->own = own;
	arm(app, set);
	CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
	CHECK_IS(app_fake_recorded(set), ==, 1);
}

static void begin(int *listener, struct fake_child *c, struct fake_app *app, struct fake_set *set)
{
	begin_with(listener, c, app, set, false);
}

static void end(int listener, struct fake_child *c, struct fake_app *app, struct fake_set *set)
{
	close(c->fd);
	waitpid(c->pid, NULL, 0);
	app_fake_set_fini(set);
	close(app->fd);
	close(listener);
}

/* Register the process that answers. One that only forked may have connected before it ended. */
static void register_child(int listener, const struct fake_child *c, struct fake_app *child)
{
	char pid = app_fake_child_command(c, 'p');
	int type;

	for (;;) {
		app_fake_accept(listener, child);
		type = app_fake_receive(child, WAIT_MS);
		if (type == MSG_app_hello && (char)(child->hello.pid & 0x7f) == pid)
			break;
		CHECK(type == MSG_app_hello || type == 0);
		close(child->fd);
	}
	app_fake_welcome(child, 7);
	app_fake_await_points(child);
}

/* The child records at once, registers by itself, and moves to a buffer of its own. */
static void children_record_on(char how)
{
	struct fake_app app, child;
	struct fake_set set, own;
	struct fake_child c;
	int listener;

	begin(&listener, &c, &app, &set);
	CHECK_IS(app_fake_child_command(&c, how), ==, 'y');
	CHECK_IS(app_fake_recorded(&set), ==, 2);
	register_child(listener, &c, &child);
	CHECK_IS(child.hello.pid, !=, app.hello.pid);
	app_fake_set_init(&own, 2, 100, "channel0", 0);
	app_fake_send_buffer(&child, &own);
	app_fake_arm(&child, &own, TICK);
	app_fake_sync(&child);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK(app_fake_recorded(&set) == 2 && app_fake_recorded(&own) == 1);
	app_fake_ready(&child);
	app_fake_sync(&child);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK(app_fake_recorded(&set) == 2 && app_fake_recorded(&own) == 2);
	kill((pid_t)app.hello.pid, SIGKILL);
	kill((pid_t)child.hello.pid, SIGKILL);
	app_fake_set_fini(&own);
	close(child.fd);
	end(listener, &c, &app, &set);
}

/* A child does not use its parent's own buffers: it waits for its own before anything else. */
static void children_wait_for_their_own(void)
{
	struct fake_app app, child;
	struct fake_set set, own;
	char how = 'f', said;
	struct fake_child c;
	int listener;

	begin_with(&listener, &c, &app, &set, true);
	CHECK_IS(write(c.fd, &how, 1), ==, 1);
	app_fake_register(listener, &child, 7);
	app_fake_set_init(&own, 2, 100, "channel0", 0);
	own.own = true;
	app_fake_send_buffer(&child, &own);
	app_fake_arm(&child, &own, TICK);
	app_fake_sync(&child);
	CHECK(app_fake_recorded(&set) == 1 && app_fake_recorded(&own) == 0);
	app_fake_ready(&child);
	CHECK(read(c.fd, &said, 1) == 1 && said == 'y');
	CHECK(app_fake_recorded(&set) == 1 && app_fake_recorded(&own) == 1);
	kill((pid_t)app.hello.pid, SIGKILL);
	kill((pid_t)child.hello.pid, SIGKILL);
	app_fake_set_fini(&own);
	close(child.fd);
	end(listener, &c, &app, &set);
}

/* If the daemon sends nothing one child waits; later children do not wait. Their events are lost
 * and counted: none gets into the buffers of their parent. */
static void one_child_waits_in_vain(void)
{
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;
	int listener;
	int64_t start;

	begin_with(&listener, &c, &app, &set, true);
	start = app_fake_now_us();
	CHECK_IS(app_fake_child_command(&c, 'm'), ==, 'k');
	printf("50 children, no answer: %.0f ms\n", (double)(app_fake_now_us() - start) / 1000);
	CHECK(app_fake_now_us() - start > 900000 && app_fake_now_us() - start < 15000000);
	CHECK(app_fake_recorded(&set) == 1 && app_fake_count(&set, 1) == 50);
	end(listener, &c, &app, &set);
}

static void short_lived_children(void)
{
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;
	int listener;

	begin(&listener, &c, &app, &set);
	CHECK_IS(app_fake_child_command(&c, 'm'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, 51);
	CHECK_IS(app_fake_child_command(&c, 'T'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, 71);
	end(listener, &c, &app, &set);
}

static void threads_come_and_go(void)
{
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;
	int listener;
	int64_t start = app_fake_now_us();

	begin(&listener, &c, &app, &set);
	CHECK_IS(app_fake_child_command(&c, 't'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, 10 * check_repeat(CHURN) + 1);
	printf("%u threads: %.0f ms\n", 10 * check_repeat(CHURN),
	       (double)(app_fake_now_us() - start) / 1000);
	end(listener, &c, &app, &set);
}

static void exec_starts_anew(void)
{
	struct fake_app app, after;
	struct fake_set set;
	struct fake_child c;
	int listener;
	char x = 'x';

	begin(&listener, &c, &app, &set);
	CHECK_IS(write(c.fd, &x, 1), ==, 1);
	while (app_fake_receive(&app, WAIT_MS) > 0)
		;
	app_fake_register(listener, &after, 7);
	CHECK_IS(after.hello.pid, ==, app.hello.pid);
	arm(&after, &set);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, 2);
	close(after.fd);
	end(listener, &c, &app, &set);
}

static void no_thread_to_be_had(void)
{
	struct fake_app app;
	struct fake_set set;
	struct fake_child c;
	int listener;

	if (geteuid() != 0)
		return; /* the limit of another user can't be set */
	begin(&listener, &c, &app, &set);
	CHECK_IS(app_fake_child_command(&c, 'l'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, 2);
	end(listener, &c, &app, &set);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(atoi(argv[2]));
	if (UNDER_TSAN)
		SKIP("ThreadSanitizer allows no new thread after a fork of several");
	app_fake_rundir();
	children_record_on('f');
	children_record_on('d');
	children_wait_for_their_own();
	one_child_waits_in_vain();
	short_lived_children();
	threads_come_and_go();
	exec_starts_anew();
	no_thread_to_be_had();
	app_fake_rundir_end();
	return 0;
}
