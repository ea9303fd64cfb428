/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * family COUNT - calls getpriority() COUNT times in each of these: itself; two threads; a child,
 * and two threads of it; a grandchild of a child that has ended; and a program that a thread
 * executes, which then has the id of its process (family again, as `family COUNT last`). Prints a
 * line for each: its process and thread.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int count;

static void hit(void)
{
	for (unsigned int i = 0; i < count; i++)
		getpriority(PRIO_PROCESS, 0);
	dprintf(STDOUT_FILENO, "%d %ld\n", (int)getpid(), syscall(SYS_gettid));
}

static void *thread(void *unused)
{
	hit();
	return unused;
}

static void *execute(void *self)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", count);
	execl(self, "family", number, "last", NULL);
	err(1, "%s", (const char *)self);
}

static void threads(void)
{
	pthread_t made[2];

	hit();
	for (int i = 0; i < 2; i++)
		if (pthread_create(&made[i], NULL, thread, NULL))
			errx(1, "no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(made[i], NULL);
}

static void child(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		work();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "a child failed");
}

static int done[2];

static void orphan(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		_exit(0);
	while (getppid() == parent)
		usleep(1000);
	hit();
	if (write(done[1], "", 1) != 1)
		err(1, "write");
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t last;
	char byte;

	count = (unsigned int)atoi(argc > 1 ? argv[1] : "1");
	if (argc > 2) {
		hit();
		return 0;
	}
	if (pipe(done))
		err(1, "pipe");
	threads();
	child(threads);
	child(orphan);
	if (read(done[0], &byte, 1) != 1)
		err(1, "read");
	if (pthread_create(&last, NULL, execute, argv[0]))
		errx(1, "no thread");
	pthread_join(last, NULL);
	return 1;
}
