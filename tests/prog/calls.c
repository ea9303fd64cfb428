/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls N - calls each function that the wrappers trace N times, after one round
 * of everything: two runs with different N differ by exactly that many events.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The compiler must not know their use. */
static void *volatile kept;

static void keep(void *p)
{
	kept = p;
	if (!kept)
		exit(2);
	free(kept);
}

/* 10 calls of allocation, 9 of free(), each with memory behind it */
static void allocate(void)
{
	void *p = NULL;

	keep(malloc(10));
	keep(calloc(3, 7));
	keep(realloc(malloc(5), 5000));
	keep(reallocarray(NULL, 4, 9));
	keep(memalign(64, 100));
	keep(aligned_alloc(128, 256));
	if (posix_memalign(&p, 256, 1000) != 0)
		exit(2);
	keep(p);
	keep(valloc(77));
	keep(pvalloc(5000));
}

static void lock(void)
{
	pthread_mutex_lock(&mutex);
	if (pthread_mutex_trylock(&mutex) == 0)
		exit(3);
	pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i <= nr; i++) {
		allocate();
		lock();
	}
	return 0;
}
