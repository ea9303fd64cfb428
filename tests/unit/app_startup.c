/* SPDX-License-Identifier: GPL-2.0-only */
/* Costs and behaviour of libltt in a program that is not traced, and with hostile daemons. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"
#include "lib/tasks.h"

LTT_TRACEPOINT(app_test, tick, (int n), LTT_INFO, ltt_int(int, n, n))

/* --- the application ------------------------------------------------------------ */

static int nr_formats;

/* In place of libc's: the start of libltt does without it, as its pages cost a program more. */
int snprintf(char *to, size_t size, const char *format, ...)
{
	va_list args;
	int len;

	__atomic_add_fetch(&nr_formats, 1, __ATOMIC_RELAXED);
	va_start(args, format);
	len = vsnprintf(to, size, format, args);
	va_end(args);
	return len;
}

static int nr_threads(void)
{
	int tids[TASKS_MAX];

	return tasks_list(tids);
}

static long status_of(int tid, const char *key, int base)
{
	char path[64], line[256];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtol(line + strlen(key) + 1, NULL, base);
	fclose(f);
	return value;
}

static unsigned long long blocked_signals(int tid)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "SigBlk: %llx", &mask);
	fclose(f);
	return mask;
}

/* Asleep: it is not woken once in a second. */
static int helper_is_quiet(void)
{
	unsigned long long all = ~0ull & ~(1ull << (SIGKILL - 1)) & ~(1ull << (SIGSTOP - 1)) &
				 ~(3ull << 31); /* libc's own two */
	int tid = 0;
	long before;

	usleep(300000);
	CHECK_IS(nr_formats, ==, 0);
	for (int i = 0; i < 100 && !tid; i++) {
		tid = tasks_helper();
		usleep(10000);
	}
	CHECK_IS(tid, !=, 0);
	before = status_of(tid, "voluntary_ctxt_switches", 10);
	usleep(1000000);
	CHECK_IS(status_of(tid, "voluntary_ctxt_switches", 10), ==, before);
	CHECK_IS((blocked_signals(tid) & all), ==, all);
	return 0;
}

/* Start again in a sandbox that exists before the program. */
static void refuse(int nr_calls, const int *calls)
{
	struct sock_filter code[32] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = code };
	int n = 1;

	for (int i = 0; i < nr_calls; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)calls[i], 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	CHECK_IS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ==, 0);
	CHECK_IS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), ==, 0);
}

static int sandboxed(const char *role, int fd)
{
	static const int no_table[] = { SYS_close_range, SYS_unshare };
	static const int no_signal_fd[] = { SYS_signalfd4 };
	static const int no_socket[] = { SYS_socket, SYS_connect };
	static const int no_watch[] = { SYS_fcntl, SYS_inotify_init1 };
	static const int no_rseq[] = { SYS_membarrier, SYS_rseq };
	char text[16];

	/* longer than the test waits */
	setenv("LTT_REGISTER_TIMEOUT", "20000", 1);
	unsetenv("LTT_APP_DISABLE");
	if (strcmp(role, "sandbox-table") == 0)
		refuse(2, no_table);
	else if (strcmp(role, "sandbox-signalfd") == 0)
		refuse(1, no_signal_fd);
	else if (strcmp(role, "sandbox-socket") == 0)
		refuse(2, no_socket);
	else if (strcmp(role, "sandbox-watch") == 0)
		refuse(2, no_watch);
	else
		refuse(2, no_rseq);
	snprintf(text, sizeof(text), "%d", fd);
	execl("/proc/self/exe", "app-in-sandbox", "plain", text, (char *)NULL);
	return 9;
}

/* Start again in a user namespace, where root is @id, or, with none, has no id. */
static int renamed(const char *id, int fd)
{
	char text[32];

	CHECK_IS(syscall(SYS_unshare, CLONE_NEWUSER), ==, 0);
	if (*id) {
		int map = open("/proc/self/uid_map", O_WRONLY);

		snprintf(text, sizeof(text), "%s 0 1", id);
		CHECK_IS(write(map, text, strlen(text)), ==, (ssize_t)strlen(text));
		close(map);
	}
	unsetenv("LTT_APP_DISABLE");
	snprintf(text, sizeof(text), "%d", fd);
	execl("/proc/self/exe", "app-with-other-ids", "plain", text, (char *)NULL);
	return 9;
}

/* Start again as the user that has the id of all users without one. */
static int nobody(int fd)
{
	char text[16];

	CHECK_IS(setresuid(65534, 65534, 65534), ==, 0);
	unsetenv("LTT_APP_DISABLE");
	snprintf(text, sizeof(text), "%d", fd);
	execl("/proc/self/exe", "app-of-nobody", "plain", text, (char *)NULL);
	return 9;
}

static int disabled(void)
{
	CHECK_IS(nr_threads(), ==, 1);
	return 0;
}

static int plain(int fd)
{
	char command;

	while (read(fd, &command, 1) == 1) {
		ltt_trace(app_test, tick, 1);
		CHECK_IS(write(fd, "k", 1), ==, 1);
	}
	return 0;
}

static int application(const char *role, int fd)
{
	if (strcmp(role, "quiet") == 0)
		return helper_is_quiet();
	if (strcmp(role, "disabled") == 0)
		return disabled();
	if (strcmp(role, "exit") == 0)
		return 0;
	if (strncmp(role, "sandbox", 7) == 0)
		return sandboxed(role, fd);
	if (strncmp(role, "ids:", 4) == 0)
		return renamed(role + 4, fd);
	if (strcmp(role, "nobody") == 0)
		return nobody(fd);
	return plain(fd);
}

/* --- without a daemon ------------------------------------------------------------- */

static void is_quiet_without_a_daemon(void)
{
	struct fake_child c = app_fake_child_start("quiet");

	CHECK_IS(app_fake_child_end(&c), ==, 0);
}

static void is_not_there_when_disabled(void)
{
	struct fake_child c;

	setenv("LTT_APP_DISABLE", "1", 1);
	c = app_fake_child_start("disabled");
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	unsetenv("LTT_APP_DISABLE");
}

/* Best of several: from spawn to the end of a program that does nothing. */
static double spawn_us(void)
{
	char *argv[] = { "app-under-test", "exit", "0", NULL };
	int64_t best = INT64_MAX;

	for (unsigned int i = 0; i < check_repeat(40); i++) {
		int64_t start = app_fake_now_us();
		pid_t pid;

		CHECK_IS(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), ==, 0);
		CHECK_IS(waitpid(pid, NULL, 0), ==, pid);
		if (app_fake_now_us() - start < best)
			best = app_fake_now_us() - start;
	}
	return (double)best;
}

/* Printed, not checked: results of a busy machine are not reliable. */
static void costs_little_at_start(void)
{
	double with, without;

	with = spawn_us();
	setenv("LTT_APP_DISABLE", "1", 1);
	without = spawn_us();
	unsetenv("LTT_APP_DISABLE");
	printf("start and end: %.0f us, disabled %.0f us\n", with, without);
}

/* --- refusals of the kernel -------------------------------------------- */

/* The program continues and does not wait; @registers: it can be traced. */
static void runs_in_sandbox(const char *role, bool registers)
{
	int listener = app_fake_listen();
	struct fake_app app;
	struct fake_child c;

	setenv("LTT_APP_DISABLE", "1", 1); /* until it is in the sandbox */
	c = app_fake_child_start(role);
	unsetenv("LTT_APP_DISABLE");
	if (registers) {
		app_fake_register(listener, &app, 7);
		while (!app_fake_point(&app, "app_test:tick")) {
			app_fake_ready(&app);
			app_fake_await_points(&app);
		}
		app_fake_ready(&app);
	}
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	if (registers)
		close(app.fd);
	close(listener);
}

static void runs_in_sandboxes(void)
{
	runs_in_sandbox("sandbox-table", false);
	runs_in_sandbox("sandbox-signalfd", false);
	runs_in_sandbox("sandbox-socket", false);
	runs_in_sandbox("sandbox-watch", true);
	runs_in_sandbox("sandbox-rseq", true);
}

/* --- selection of the daemon -------------------------------------------------------- */

/* A default directory may belong to another user, whose daemon must not trace us. */
static void distrusts(uid_t uid, const char *role)
{
	int listener = app_fake_listen_as(uid);
	struct fake_child c = app_fake_child_start(role);
	struct fake_app app;

	printf("not the daemon of %u: %s\n", uid, role);
	app_fake_accept(listener, &app);
	CHECK_IS(app_fake_receive(&app, WAIT_MS), ==,
		 0); /* it closed the connection without a message */
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
}

static void trusts(uid_t uid, const char *role)
{
	int listener = app_fake_listen_as(uid);
	struct fake_child c;
	struct fake_app app;
	char socket[sizeof(app_fake_dir) + 16];

	snprintf(socket, sizeof(socket), "%s/apps.sock", app_fake_dir);
	CHECK_IS(chmod(socket, 0666), ==, 0);
	c = app_fake_child_start(role);
	printf("the daemon of %u: %s\n", uid, role);
	app_fake_register(listener, &app, 7);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
}

/* All directories above, too: mkdtemp()'s is the first. */
static void open_to_nobody(const char *base)
{
	char top[sizeof(app_fake_dir)];

	strcpy(top, base);
	*strrchr(top, '/') = '\0';
	CHECK(chmod(top, 0711) == 0 && chmod(base, 0711) == 0);
}

/* The kernel gives one id to all users that have none in a user namespace. */
static void tells_users_apart(void)
{
	char base[sizeof(app_fake_dir)];

	strcpy(base, app_fake_dir);
	setenv("XDG_RUNTIME_DIR", base, 1);
	setenv("LTT_APP_DISABLE", "1", 1);
	strcat(app_fake_dir, "/ltt");
	CHECK_IS(mkdir(app_fake_dir, 0711), ==, 0);
	trusts(0, "ids:5");
	distrusts(12345, "ids:5");
	distrusts(12345, "ids:");
	distrusts(0, "ids:"); /* it can't be distinguished from another */
	distrusts(12345, "ids:65534");
	open_to_nobody(base);
	trusts(65534, "nobody");
	setenv("LTT_RUNDIR", app_fake_dir, 1);
	trusts(12345, "ids:"); /* it was chosen */
	unsetenv("LTT_RUNDIR");
	unsetenv("LTT_APP_DISABLE");
	unsetenv("XDG_RUNTIME_DIR");
	app_fake_rundir_remove();
	strcpy(app_fake_dir, base);
}

/* Without LTT_RUNDIR: the user's own runtime directory, wherever that is. */
static void finds_the_users_daemon(const char *variable, const char *below)
{
	char base[sizeof(app_fake_dir)], path[sizeof(app_fake_dir) + 8];
	struct fake_app app;
	struct fake_child c;
	int listener;

	strcpy(base, app_fake_dir);
	snprintf(path, sizeof(path), "%s/.ltt", base);
	strcat(strcat(app_fake_dir, "/"), below);
	mkdir(path, 0700);
	CHECK_IS(mkdir(app_fake_dir, 0700), ==, 0);
	setenv(variable, base, 1);
	listener = app_fake_listen();
	c = app_fake_child_start("plain");
	app_fake_register(listener, &app, 7);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
	if (geteuid() == 0)
		distrusts(12345, "plain");
	unsetenv(variable);
	app_fake_rundir_remove();
	rmdir(path);
	strcpy(app_fake_dir, base);
}

static void finds_daemons(void)
{
	unsetenv("LTT_RUNDIR");
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("LTT_HOME");
	finds_the_users_daemon("XDG_RUNTIME_DIR", "ltt");
	finds_the_users_daemon("HOME", ".ltt/run");
	finds_the_users_daemon("LTT_HOME", ".ltt/run");
	if (geteuid() == 0)
		tells_users_apart();
	setenv("LTT_RUNDIR", app_fake_dir, 1);
}

/* --- with hostile daemons ---------------------------------------------------------- */

/* The application survives, closes the connection, and does not reconnect at once. */
static void survives(int listener, struct fake_child *c, struct fake_app *app)
{
	while (app_fake_receive(app, WAIT_MS) > 0)
		;
	CHECK_IS(app_fake_child_command(c, 'e'), ==, 'k');
	CHECK(!app_fake_readable(listener, 200));
	CHECK(app_fake_readable(listener, 3000)); /* but a little later */
	close(app->fd);
}

static void send_raw(struct fake_app *app, const void *bytes, size_t len)
{
	CHECK_IS(send(app->fd, bytes, len, MSG_NOSIGNAL), ==, (ssize_t)len);
}

static void hangs_up_on_garbage(void)
{
	static const uint8_t garbage[100] = { 6, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t stub[3] = { 6, 0, 0 };
	static uint8_t huge[MSG_MAX_BYTES + 1];
	const struct {
		const void *bytes;
		size_t len;
	} tries[] = { { garbage, sizeof(garbage) },
		      { stub, sizeof(stub) },
		      { huge, sizeof(huge) } };

	for (unsigned int i = 0; i < 3; i++) {
		int listener = app_fake_listen();
		struct fake_child c = app_fake_child_start("plain");
		struct fake_app app;

		app_fake_register(listener, &app, 7);
		send_raw(&app, tries[i].bytes, tries[i].len);
		survives(listener, &c, &app);
		CHECK_IS(app_fake_child_end(&c), ==, 0);
		close(listener);
	}
}

/* Invalid ring sets are not used, and points armed into them are not recorded. */
static void refuses_senseless_buffers(void)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("plain");
	struct fake_app app;
	struct fake_set set, wrong;
	struct ltt_ring_desc *desc;

	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", app.hello.producer);
	desc = (struct ltt_ring_desc *)set.ctl_map;
	for (int i = 0; i < 6; i++) {
		*desc = set.desc;
		if (i == 0)
			desc->magic++;
		else if (i == 1)
			desc->data_size *= 2;
		else if (i == 2)
			desc->nr_rings = 1000000;
		else if (i == 3)
			desc->num_subbuf = 3;
		else if (i == 4)
			desc->max_record = 1u << 30;
		else
			desc->data_size = 0;
		set.ring = 10 + (uint64_t)i;
		app_fake_send_buffer(&app, &set);
		app_fake_arm(&app, &set, "app_test:tick");
		app_fake_sync(&app);
		CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
		CHECK_IS(app_fake_recorded(&set), ==, 0);
	}
	*desc = set.desc;
	set.ring = 99;
	wrong = set;
	wrong.data = set.doorbell; /* far too short */
	app_fake_send_buffer(&app, &wrong);
	app_fake_sync(&app);
	app_fake_ready(&app);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
	close(app.fd);
	close(listener);
}

/* A daemon that never reads, and one that accepts the connection and sends nothing. */
static void is_not_held_up(void)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("plain");
	struct fake_app app;

	app_fake_accept(listener, &app);
	for (int i = 0; i < 20; i++)
		CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	close(app.fd);
	close(listener);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return application(argv[1], atoi(argv[2]));
	app_fake_rundir();
	is_quiet_without_a_daemon();
	is_not_there_when_disabled();
	costs_little_at_start();
	runs_in_sandboxes();
	finds_daemons();
	hangs_up_on_garbage();
	refuses_senseless_buffers();
	is_not_held_up();
	app_fake_rundir_end();
	return 0;
}
