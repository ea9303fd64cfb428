// SPDX-License-Identifier: GPL-2.0-only
/*
 * contexts.c - events whose contexts the program knows: it prints "STEP NAME=VALUE..." for each, as
 * libc and /proc have it, changes its numbers and names in between, and goes on in children,
 * threads and signal handlers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__clang__)
#define noclone noinline
#endif
#include <ltt/context.h>
#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(contexts, step, (const char *text), LTT_INFO, ltt_string(text, text))
LTT_TRACEPOINT(contexts, word, (int number), LTT_INFO, ltt_int(int, number, number))

int main(int argc, char **argv);

static char line[2048];
static size_t len;

static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	len += (size_t)vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
}

static void add_namespaces(void)
{
	static const char *const names[] = { "cgroup", "ipc",  "mnt",  "net",
					     "pid",    "time", "user", "uts" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64], link[64] = "";
		const char *number;

		snprintf(path, sizeof(path), "/proc/thread-self/ns/%s", names[i]);
		if (readlink(path, link, sizeof(link) - 1) < 0)
			link[0] = '\0';
		number = strchr(link, '[');
		add(" %s_ns=%lu", names[i], number ? strtoul(number + 1, NULL, 10) : 0);
	}
}

static void add_users(void)
{
	uid_t user[3] = { 0 };
	gid_t group[3] = { 0 };

	getresuid(&user[0], &user[1], &user[2]);
	getresgid(&group[0], &group[1], &group[2]);
	add(" vuid=%u veuid=%u vsuid=%u", user[0], user[1], user[2]);
	add(" vgid=%u vegid=%u vsgid=%u", group[0], group[1], group[2]);
}

/* One thread at a time. */
static void step(const char *text)
{
	char name[16] = "";

	ltt_trace(contexts, step, text);
	prctl(PR_GET_NAME, name);
	len = 0;
	add("%s vpid=%ld vtid=%ld procname=\"%s\" pthread_id=0x%lX", text,
	    (long)syscall(SYS_getpid), (long)syscall(SYS_gettid), name,
	    (unsigned long)pthread_self());
	add_users();
	add_namespaces();
	add("\n");
	if (write(STDOUT_FILENO, line, len) != (ssize_t)len)
		exit(1);
}

static void must(int result, const char *what)
{
	if (result == 0)
		return;
	perror(what);
	exit(1);
}

static void await(pid_t child)
{
	int status;

	must(waitpid(child, &status, 0) == child && status == 0 ? 0 : -1, "child");
}

static void on_signal(int number)
{
	(void)number;
	step("signal");
}

static void *other(void *main_thread)
{
	step("thread");
	must(pthread_setname_np(pthread_self(), "other"), "name");
	step("thread-renamed");
	must(pthread_setname_np(*(pthread_t *)main_thread, "by other"), "name");
	return NULL;
}

static void threads(void)
{
	pthread_t self = pthread_self(), thread;

	step("begin");
	prctl(PR_SET_NAME, "by prctl");
	step("prctl");
	must(pthread_create(&thread, NULL, other, &self), "thread");
	must(pthread_join(thread, NULL), "join");
	step("renamed-by-other");
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	step("after-signal");
}

static int cloned(void *unused)
{
	(void)unused;
	step("clone");
	return 0; /* _exit() on this stack is reported by AddressSanitizer */
}

static void forked(void)
{
	pid_t child = fork();

	if (child == 0) {
		step("fork");
		_exit(0);
	}
	await(child);
	step("after-fork");
}

static void children(void)
{
	static char stack[1 << 17] __attribute__((aligned(16)));
	pid_t child;

	forked();
	child = vfork();
	if (child == 0) {
		prctl(PR_SET_NAME, "vforked");
		step("vfork");
		_exit(0);
	}
	await(child);
	step("after-vfork");
	child = clone(cloned, stack + sizeof(stack), SIGCHLD, NULL);
	await(child);
	step("after-clone");
#ifdef __x86_64__ /* elsewhere libltt does not see it */
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		step("fork-by-number");
		_exit(0);
	}
	await(child);
	step("after-fork-by-number");
#endif
}

static void spaces(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	must(unshare(CLONE_NEWUTS), "unshare");
	step("unshare");
	must((int)syscall(SYS_unshare, CLONE_NEWIPC | CLONE_NEWNET), "unshare");
	step("unshare-by-number");
	must(fd < 0 ? -1 : setns(fd, CLONE_NEWUTS), "setns");
	close(fd);
	step("setns");
	must(unshare(CLONE_NEWPID), "unshare");
	forked(); /* the first process of the namespace: there is no other behind it */
}

static void users(void)
{
	must(setegid(11), "setegid");
	step("setegid");
	must(setregid(12, 13), "setregid");
	step("setregid");
	must(setresgid(14, 15, 16), "setresgid");
	step("setresgid");
	must((int)syscall(SYS_setresgid, 17, 18, 19), "setresgid");
	step("setresgid-by-number");
	must(setgid(20), "setgid");
	step("setgid");
	must(seteuid(21), "seteuid");
	step("seteuid");
	must(seteuid(0), "seteuid");
	must(setreuid(22, 0), "setreuid");
	step("setreuid");
	must((int)syscall(SYS_setreuid, 23, 0), "setreuid");
	step("setreuid-by-number");
	must(setresuid(24, 0, 25), "setresuid");
	step("setresuid");
	must(setuid(26), "setuid");
	step("setuid");
}

/* --- orders of three calls, of which later ones may fail ------------------------------ */

#define CHANGES 8u
#define ORDERS (CHANGES * CHANGES * CHANGES)

/* @alone: of this thread alone. glibc ends a program in which a call has several results. */
static void change(size_t number, bool alone)
{
	static const struct {
		long call;
		unsigned int ids[3];
	} calls[CHANGES] = {
		{ SYS_setresuid, { 40, 0, 41 } },
		{ SYS_setresuid, { 0, 42, 43 } },
		{ SYS_setreuid, { -1, 0 } },
		{ SYS_setreuid, { 44, -1 } },
		{ SYS_setuid, { 45 } },
		{ SYS_setresgid, { 50, 51, 52 } },
		{ SYS_setregid, { -1, 54 } },
		{ SYS_setgid, { 53 } },
	};
	const unsigned int *ids = calls[number].ids;
	int result = 0;

	if (alone || number % 2)
		result = (int)syscall(calls[number].call, ids[0], ids[1], ids[2]);
	else if (number == 0)
		result = setresuid(ids[0], ids[1], ids[2]);
	else if (number == 2)
		result = seteuid(ids[1]);
	else if (number == 4)
		result = setuid(ids[0]);
	else
		result = setegid(ids[1]);
	(void)result;
}

static void in_order(size_t order, bool alone)
{
	char text[16] = "order";

	for (size_t i = 0; i < 3; i++, order /= CHANGES) {
		change(order % CHANGES, alone);
		text[5 + i] = (char)('0' + order % CHANGES);
		step(text);
	}
}

static void *in_order_alone(void *order)
{
	in_order(*(size_t *)order, true);
	return NULL;
}

/* Each @every-th order, in the main thread or in another one, each in a process of its own. */
static void orders(size_t every)
{
	for (size_t n = every / 2; n < 2 * ORDERS; n += every) {
		size_t order = n / 2;
		pthread_t thread;
		pid_t child = fork();

		if (child) {
			await(child);
			continue;
		}
		if (n % 2) {
			must(pthread_create(&thread, NULL, in_order_alone, &order), "thread");
			must(pthread_join(thread, NULL), "join");
		} else {
			in_order(order, false);
		}
		step("order-of-main");
		_exit(0);
	}
}

/* The function that emits is in the event's context `ip`, also if the event is the last thing that
 * it does. */
__attribute__((noinline, noclone)) void place_of_word(int number)
{
	ltt_trace(contexts, word, number);
}

__attribute__((noinline, noclone)) void place_of_text(const char *text)
{
	ltt_trace(contexts, step, text);
}

__attribute__((noinline, noclone)) void place_of_mark(int number)
{
	ltt_mark(contexts_mark, "number %d", number);
}

__attribute__((noinline, noclone)) void place_of_line(int number)
{
	ltt_tracef("number %d", number);
}

static void places(void)
{
	printf("main %p\n", (void *)main);
	place_of_word(1);
	place_of_text("place");
	place_of_mark(1);
	place_of_line(1);
}

/* --- a filter of system calls --------------------------------------------------------- */

static char before[1024]; /* users and namespaces, which do not change */
static long process;

static void read_own(const char *file, char *ret, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/thread-self/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	close(fd);
}

/* As step(), without the calls that the filter forbids. */
static void filtered_step(const char *text)
{
	char stat[64], name[32];

	ltt_trace(contexts, step, text);
	read_own("stat", stat, sizeof(stat));
	read_own("comm", name, sizeof(name));
	len = 0;
	add("%s vpid=%ld vtid=%ld procname=\"%s\" pthread_id=0x%lX%s\n", text, process,
	    strtol(stat, NULL, 10), name, (unsigned long)pthread_self(), before);
	if (write(STDOUT_FILENO, line, len) != (ssize_t)len)
		exit(1);
}

#define KILL(nr)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void install_filter(void)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(SYS_gettid),
		KILL(SYS_getpid),
		KILL(SYS_getcpu),
		KILL(SYS_getresuid),
		KILL(SYS_getresgid),
		KILL(SYS_readlinkat),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		KILL(PR_GET_NAME),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(lines) / sizeof(lines[0]), lines };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "filter");
}

static void *filtered_other(void *main_thread)
{
	filtered_step("filtered-thread");
	must(pthread_setname_np(pthread_self(), "other"), "name");
	filtered_step("filtered-thread-renamed");
	must(pthread_setname_np(*(pthread_t *)main_thread, "by other"), "name");
	return NULL;
}

static void filtered(void)
{
	pthread_t self = pthread_self(), thread;

	process = getpid();
	len = 0;
	add_users();
	add_namespaces();
	memcpy(before, line, len + 1);
	install_filter();
	filtered_step("filtered");
	must(prctl(PR_SET_NAME, "by prctl"), "name");
	filtered_step("filtered-prctl");
	must(pthread_create(&thread, NULL, filtered_other, &self), "thread");
	must(pthread_join(thread, NULL), "join");
	filtered_step("filtered-renamed-by-other");
}

/* --- contexts of the program's own ------------------------------------------------- */

static __thread const char *request;
static __thread int64_t count;

static void get_request(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	ltt_context_set_string(ret_value, request);
}

static void get_count(struct ltt_context_value *ret_value, void *data)
{
	*(int *)data += 1;
	ltt_context_set_integer(ret_value, count);
}

static void get_load(struct ltt_context_value *ret_value, void *data)
{
	(void)data;
	if (count > 1)
		ltt_context_set_float(ret_value, (double)count / 4);
}

/* Each second event has another request. */
static void *serve(void *name)
{
	for (count = 0; count < 10; count++) {
		request = count % 2 ? name : NULL;
		ltt_trace(contexts, step, request ? request : "none");
	}
	return NULL;
}

static void provided(void)
{
	int calls = 0;
	const struct ltt_context contexts[] = {
		{ sizeof(contexts[0]), 0, "web:request_id", get_request, NULL },
		{ sizeof(contexts[0]), 0, "web:count", get_count, &calls },
		{ sizeof(contexts[0]), 0, "web:load", get_load, NULL },
	};
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		must(ltt_context_register(&contexts[i]), "register");
	must(pthread_create(&thread, NULL, serve, (void *)"other"), "thread");
	serve((void *)"main");
	must(pthread_join(thread, NULL), "join");
	must(ltt_context_unregister(&contexts[1]), "unregister");
	serve((void *)"main");
	must(ltt_context_unregister(&contexts[0]), "unregister");
	must(ltt_context_unregister(&contexts[2]), "unregister");
	printf("calls %d\n", calls);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "provided")) {
		provided();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "places")) {
		places();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "filtered")) {
		filtered();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "orders")) {
		orders(strtoul(argv[2], NULL, 10));
		return 0;
	}
	threads();
	children();
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "spaces"))
			spaces();
		else if (!strcmp(argv[i], "users"))
			users();
	}
	return 0;
}
