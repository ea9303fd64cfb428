// SPDX-License-Identifier: GPL-2.0-only
/*
 * tasks.c - events that hold the process, the thread and its name as the kernel reports them, of
 * threads in four processes: the first one, a child of fork(), one of vfork() and execv(), and the
 * first process of a PID namespace. Threads rename themselves, and have children of their own.
 *
 *     tasks THREADS EVENTS    of each process, and of each thread
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

#define RENAME 64  /* events between two names */
#define CHILD 1000 /* events between two children */

LTT_TRACEPOINT(tasks, event, (int pid, int tid, const char *name, unsigned number), LTT_INFO,
	       ltt_int(int, pid, pid), ltt_int(int, tid, tid), ltt_string(name, name),
	       ltt_int(unsigned, number, number))

static unsigned nr_threads, nr_events;
static char **arguments;

static void must(int result, const char *what)
{
	if (result == 0)
		return;
	perror(what);
	exit(1);
}

static void emit(unsigned number)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	ltt_trace(tasks, event, (int)syscall(SYS_getpid), (int)syscall(SYS_gettid), name, number);
}

static void await(pid_t child)
{
	int status;

	must(waitpid(child, &status, 0) == child && status == 0 ? 0 : -1, "child");
}

/* Alternately by two functions; the new name is different each time. */
static void rename_self(unsigned thread, unsigned number)
{
	char name[16];

	snprintf(name, sizeof(name), "t%u.%u", thread, number / RENAME);
	if (number / RENAME % 2)
		must(pthread_setname_np(pthread_self(), name), "name");
	else
		must(prctl(PR_SET_NAME, name), "name");
}

static void have_child(unsigned number)
{
	pid_t child = number / CHILD % 2 ? fork() : vfork();

	if (child == 0) {
		emit(number);
		_exit(0);
	}
	await(child);
}

static void *run(void *arg)
{
	unsigned thread = (unsigned)(unsigned long)arg;

	for (unsigned number = 1; number <= nr_events; number++) {
		if (number % RENAME == 0)
			rename_self(thread, number);
		emit(number);
		if (number % CHILD == 0)
			have_child(number);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[64];

	for (unsigned i = 0; i < nr_threads; i++)
		must(pthread_create(&threads[i], NULL, run, (void *)(unsigned long)i), "thread");
	for (unsigned i = 0; i < nr_threads; i++)
		must(pthread_join(threads[i], NULL), "join");
}

static pid_t forked(void (*fn)(void))
{
	pid_t child = fork();

	if (child == 0) {
		fn();
		exit(0);
	}
	return child;
}

static pid_t executed(void)
{
	char *argv[] = { arguments[0], arguments[1], arguments[2], "alone", NULL };
	pid_t child = vfork();

	if (child == 0) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return child;
}

/* Without the right to it: one more level of children. */
static void in_namespace(void)
{
	(void)(unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0);
	await(forked(run_threads));
}

int main(int argc, char **argv)
{
	pid_t children[3];

	if (argc < 3)
		return 2;
	arguments = argv;
	nr_threads = (unsigned)atoi(argv[1]);
	nr_events = (unsigned)atoi(argv[2]);
	if (nr_threads > 64)
		return 2;
	if (argc == 3) {
		children[0] = forked(run_threads);
		children[1] = executed();
		children[2] = forked(in_namespace);
	}
	run_threads();
	for (int i = 0; argc == 3 && i < 3; i++)
		await(children[i]);
	return 0;
}
