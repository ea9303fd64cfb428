// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - one thread holds a lock until two others wait for it: each time another one. It prints
 * a line "HOLDER WAITER WAITER", thread ids, for each time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tids[THREADS];
static int turn; /* of the thread that is to take the lock first */
static int held; /* it has it */

/* Whether the thread sleeps in the kernel. */
static int sleeps(int tid)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		exit(1);
	fclose(file);
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

static void hold(int self)
{
	int first = (self + 1) % THREADS, second = (self + 2) % THREADS;

	pthread_mutex_lock(&lock);
	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	while (!sleeps(tids[first]) || !sleeps(tids[second]))
		usleep(1000);
	printf("%d %d %d\n", tids[self], tids[first], tids[second]);
	pthread_mutex_unlock(&lock);
}

/* The others don't sleep until they wait for the lock. */
static void wait_for_it(void)
{
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static pthread_barrier_t barrier;

static void *run(void *arg)
{
	int self = (int)(long)arg;
	char name[16];

	snprintf(name, sizeof(name), "thread%d", self);
	pthread_setname_np(pthread_self(), name);
	tids[self] = (int)syscall(SYS_gettid);
	for (int round = 0; round < 6; round++) {
		pthread_barrier_wait(&barrier);
		if (self == 0) {
			turn = round % THREADS;
			held = 0;
		}
		pthread_barrier_wait(&barrier);
		if (self == turn)
			hold(self);
		else
			wait_for_it();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
