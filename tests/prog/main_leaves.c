/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main_leaves first|last|term|child - main() leaves by pthread_exit():
 *   first  while a thread goes on, which traces once the main thread is no more
 *   last   when its other thread has ended
 *   term   while a thread goes on for ever; writes "ready" to the file `ready`
 *   child  after a forked child did so, and a second child, forked by a thread
 * An exit handler traces and writes "done" to a stdout that may be buffered.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

enum { EVENTS = 100 };

LTT_TRACEPOINT(leaves, work, (int n), LTT_INFO, ltt_int(int, n, n))
LTT_TRACEPOINT(leaves, done, (int pid), LTT_INFO, ltt_int(int, pid, pid))

static void done(void)
{
	usleep(20000); /* a daemon that was notified too early of our end believes it now */
	ltt_trace(leaves, done, (int)getpid());
	printf("done\n");
}

static void work(void)
{
	for (int i = 0; i < EVENTS; i++)
		ltt_trace(leaves, work, i);
}

static int main_thread_is_gone(void)
{
	char text[256] = "";
	char *state;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		_exit(3);
	close(fd);
	state = strrchr(text, ')');
	return state && state[2] == 'Z';
}

static void *go_on(void *arg)
{
	(void)arg;
	while (!main_thread_is_gone())
		usleep(1000);
	usleep(100000);
	work();
	return NULL;
}

static void *stay(void *arg)
{
	(void)arg;
	while (!main_thread_is_gone())
		usleep(1000);
	close(open("ready", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	for (;;)
		pause();
	return NULL;
}

static void *short_work(void *arg)
{
	work();
	return arg;
}

/* A child whose only thread leaves like that; how it ended. */
static int child_leaves(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		work();
		pthread_exit(NULL);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 4;
}

static void *fork_too(void *arg)
{
	if (child_leaves())
		_exit(5);
	return arg;
}

static void run(void *(*thread_does)(void *), int join)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_does, NULL) != 0)
		_exit(6);
	if (join)
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (atexit(done) != 0)
		return 1;
	if (strcmp(mode, "first") == 0)
		run(go_on, 0);
	else if (strcmp(mode, "last") == 0)
		run(short_work, 1);
	else if (strcmp(mode, "term") == 0)
		run(stay, 0);
	else if (strcmp(mode, "child") != 0 || child_leaves())
		return 2;
	else
		run(fork_too, 1);
	pthread_exit(NULL);
}
