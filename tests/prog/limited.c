/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * limited CALL - becomes a user that may have two processes, has one, and makes another one by
 * CALL. Writes the result, and emits 100 events before and after the call. CALL is one of calls[]
 * below.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(limited, tick, (int number), LTT_INFO, ltt_int(int, number, number))

extern char **environ;
static char *const argv[] = { (char *)"true", NULL };

static int wait_for(pid_t pid)
{
	int status = -1;

	if (pid < 0)
		return -errno;
	waitpid(pid, &status, 0);
	return status;
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return wait_for(pid);
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return wait_for(pid);
}

static int child(void *arg)
{
	(void)arg;
	return 0;
}

static int by_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return wait_for(clone(child, stack + sizeof(stack), SIGCHLD, NULL));
}

static int by_number(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return wait_for(pid);
}

static void *nothing(void *arg)
{
	return arg;
}

static int by_thread(void)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, nothing, NULL);

	if (!err)
		pthread_join(thread, NULL);
	return -err;
}

static int by_spawn(void)
{
	pid_t pid = -1;
	int err = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ);

	return err ? -err : wait_for(pid);
}

static int by_spawnp(void)
{
	pid_t pid = -1;
	int err = posix_spawnp(&pid, "true", NULL, NULL, argv, environ);

	return err ? -err : wait_for(pid);
}

static int by_popen(void)
{
	FILE *file = popen("exec true", "r");

	return file ? pclose(file) : -errno;
}

static int by_system(void)
{
	return system("exec true");
}

static const struct call {
	const char *name;
	int (*make)(void);
} calls[] = {
	{ "fork", by_fork },	 { "vfork", by_vfork },	  { "clone", by_clone },
	{ "number", by_number }, { "thread", by_thread }, { "spawn", by_spawn },
	{ "spawnp", by_spawnp }, { "popen", by_popen },	  { "system", by_system },
};

static void emit(void)
{
	for (int i = 0; i < 100; i++)
		ltt_trace(limited, tick, i);
}

int main(int argc, char **arguments)
{
	const uid_t user = (uid_t)(1000000 + getpid());
	const struct rlimit two = { 2, 2 };
	int result = 0;

	if (setrlimit(RLIMIT_NPROC, &two) < 0 || setgid(user) < 0 || setuid(user) < 0)
		return 77;
	emit();
	for (size_t i = 0; argc == 2 && i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, arguments[1]) == 0)
			result = calls[i].make();
	emit();
	printf("%d\n", result);
	return 0;
}
