/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of one thread call unshare() and setns(), which the kernel allows to such alone:
 * the helper does not make the calls fail, no connection ends, and their events are recorded.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include <ltt/tracepoint.h>

#include "lib/app_fake.h"
#include "lib/tasks.h"

LTT_TRACEPOINT(app_alone, tick, (int n), LTT_INFO, ltt_int(int, n, n))

#define TICK "app_alone:tick"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* --- the application ------------------------------------------------------------ */

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int nr = 0;

	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

static long namespace(const char *name)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, &st) == 0 ? (long)st.st_ino : -1;
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Allows one more namespace. */
static bool map_ids(unsigned int uid, unsigned int gid)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", uid);
	snprintf(gids, sizeof(gids), "0 %u 1", gid);
	return write_text("/proc/self/uid_map", uids) &&
	       write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", gids);
}

/* The helper reads a file with the table of the program, before it has a table of its own and a
 * name. */
static void await_helper(void)
{
	for (int ms = 0; !tasks_helper() && ms < 2000; ms++)
		usleep(1000);
}

/* No descriptor is left, errno is as it was, and signals are delivered. */
static bool unshares(int flags)
{
	int fds = count_entries("/proc/self/fd");
	long user = namespace("user");
	unsigned int uid = geteuid(), gid = getegid();
	sigset_t mask;

	errno = E2BIG;
	if (unshare(flags) != 0) {
		perror("unshare");
		return false;
	}
	if (errno != E2BIG)
		return false;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	return map_ids(uid, gid) && namespace("user") != user && !sigismember(&mask, SIGUSR1) &&
	       count_entries("/proc/self/fd") == fds;
}

/* A child in namespaces of its own, until it is killed. */
static pid_t start_elsewhere(int flags)
{
	int pair[2];
	char byte = 0;
	pid_t pid;

	if (pipe(pair) < 0)
		return -1;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD | flags, 0, 0, 0, 0);
	if (pid == 0) {
		byte = 'k';
		syscall(SYS_write, pair[1], &byte, 1);
		for (;;)
			syscall(SYS_ppoll, NULL, 0, NULL, NULL, 8);
	}
	if (pid < 0 || read(pair[0], &byte, 1) != 1)
		return -1;
	close(pair[0]);
	close(pair[1]);
	return pid;
}

/* Into the namespaces of a child, by a descriptor of each or of the child. */
static bool enters(void)
{
	pid_t pid = start_elsewhere(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID);
	long user = namespace("user"), mount = namespace("mnt");
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool done;

	done = pidfd >= 0 && setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0 &&
	       namespace("user") != user && namespace("mnt") != mount;
	close(pidfd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return done;
}

static bool enters_mount(void)
{
	pid_t pid = start_elsewhere(CLONE_NEWNS);
	long mount = namespace("mnt");
	char path[64];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(path, O_RDONLY);
	done = fd >= 0 && setns(fd, 0) == 0 && namespace("mnt") != mount;
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return done;
}

static void *sleeper(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* A call that the kernel refuses for other reasons stays refused, with no part of it done. */
static bool refused(int flags, int error)
{
	long user = namespace("user");

	errno = 0;
	return unshare(flags) == -1 && errno == error && namespace("user") == user;
}

static bool refused_among_threads(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, sleeper, NULL) == 0 && refused(CLONE_NEWUSER, EINVAL);
}

/* The second half of a split call is refused. */
static bool refused_whole(void)
{
	if (!unshares(CLONE_NEWUSER) || !write_text("/proc/sys/user/max_pid_namespaces", "0"))
		return false;
	return refused(CLONE_NEWUSER | CLONE_NEWPID, ENOSPC) && unshares(CLONE_NEWUSER);
}

/* The child may act first; the parent waits. */
static bool child_unshares(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!unshares(CLONE_NEWUSER));
	waitpid(pid, &status, 0);
	return status == 0;
}

static bool vfork_child_is_refused(void)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(unshare(CLONE_VM | 0x1) == 0 || unshare(CLONE_VM) == 0);
	waitpid(pid, &status, 0);
	return status == 0;
}

/* In the form that libc has for any call. */
static bool unshares_by_number(void)
{
	long user = namespace("user");

	return syscall(SYS_unshare, CLONE_NEWUSER) == 0 && namespace("user") != user;
}

/* All other calls are as they were: six arguments, errno. */
static bool calls_by_number(void)
{
	int fd = memfd_create("call", 0);
	char *page;

	if (ftruncate(fd, 8192) < 0 || pwrite(fd, "x", 1, 4096) != 1)
		return false;
	page = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
	close(fd);
	errno = 0;
	return page != MAP_FAILED && *page == 'x' && errno == 0 && syscall(SYS_close, fd) == -1 &&
	       errno == EBADF;
}

static int application(int fd)
{
	int tids[TASKS_MAX], n = 0;
	char command, answer;

	await_helper();
	while (read(fd, &command, 1) == 1) {
		bool done = true;

		if (command == 'e')
			ltt_trace(app_alone, tick, n++);
		else if (command == 'u')
			done = unshares(CLONE_NEWUSER);
		else if (command == 'p')
			done = unshares(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWTIME);
		else if (command == 's')
			done = enters();
		else if (command == 'm')
			done = enters_mount();
		else if (command == 'c')
			done = child_unshares();
		else if (command == 'v')
			done = vfork_child_is_refused();
		else if (command == 'i')
			done = refused(0x1 | CLONE_NEWUSER, EINVAL);
		else if (command == 'w')
			done = refused_whole();
		else if (command == 't')
			done = refused_among_threads();
		else if (command == 'n')
			done = unshares_by_number();
		else if (command == 'y')
			done = calls_by_number();
		else if (command == '2')
			done = tasks_list(tids) == 2;
		answer = done ? 'k' : 'x';
		if (write(fd, &answer, 1) != 1)
			break;
	}
	_exit(0); /* a sanitizer's final check of a process that has changed its user would fail */
}

/* --- the daemon --------------------------------------------------------------------- */

static void without_daemon(const char *commands)
{
	struct fake_child c = app_fake_child_start("no daemon");

	for (; *commands; commands++) {
		printf("without a daemon: %c\n", *commands);
		CHECK_IS(app_fake_child_command(&c, *commands), ==, 'k');
	}
	CHECK_IS(app_fake_child_end(&c), ==, 0);
}

static void arm(struct fake_app *app, struct fake_set *set)
{
	app_fake_send_buffer(app, set);
	app_fake_arm(app, set, TICK);
	app_fake_ready(app);
	app_fake_sync(app);
}

/* @exclusive: a daemon closes such a buffer with the connection. */
static void with_daemon(const char *commands, int exclusive)
{
	int listener = app_fake_listen();
	struct fake_child c = app_fake_child_start("daemon");
	struct fake_app app;
	struct fake_set set;
	uint64_t nr = 0;

	app_fake_register(listener, &app, 7);
	app_fake_set_init(&set, 1, 100, "channel0", exclusive);
	arm(&app, &set);
	for (; *commands; commands++) {
		printf("with a daemon: %c\n", *commands);
		CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
		CHECK_IS(app_fake_child_command(&c, *commands), ==, 'k');
		CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
		nr += 2;
		CHECK_IS(app_fake_recorded(&set), ==, nr);
		app_fake_sync(&app); /* on the same connection */
		CHECK(*commands == 'c' || !app_fake_readable(listener, 0));
	}
	/* The application returns the buffer that it received. */
	app_fake_disarm(&app, &set, TICK);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'e'), ==, 'k');
	CHECK_IS(app_fake_recorded(&set), ==, nr);
	close(app.fd);
	close(listener);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
	app_fake_set_fini(&set);
}

/* A daemon that is started later is found: the directory is watched again. */
static void found_later(void)
{
	struct fake_child c = app_fake_child_start("later");
	struct fake_app app;
	int listener;

	CHECK_IS(app_fake_child_command(&c, 'u'), ==, 'k');
	CHECK_IS(app_fake_child_command(&c, '2'), ==, 'k');
	listener = app_fake_listen();
	app_fake_register(listener, &app, 7);
	app_fake_ready(&app);
	app_fake_sync(&app);
	CHECK_IS(app_fake_child_command(&c, 'u'), ==, 'k');
	app_fake_sync(&app);
	close(app.fd);
	close(listener);
	CHECK_IS(app_fake_child_end(&c), ==, 0);
}

int main(int argc, char **argv)
{
	int status = 1;
	pid_t pid;

	if (argc == 3)
		return application(atoi(argv[2]));
	if (UNDER_TSAN)
		SKIP("ThreadSanitizer has a thread of its own");
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWTIME) != 0);
	CHECK_IS(waitpid(pid, &status, 0), ==, pid);
	if (status != 0)
		SKIP("no user namespaces here");
	app_fake_rundir();
	without_daemon("vyut");
	without_daemon("n");
	without_daemon("p");
	without_daemon("uuis");
	without_daemon("w");
	if (geteuid() == 0)
		without_daemon("mm");
	with_daemon("uip", 0);
	with_daemon("us", 1);
	with_daemon("c", 0);
	found_later();
	app_fake_rundir_end();
	return 0;
}
