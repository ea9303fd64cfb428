/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls N - calls each function that the wrappers trace N times, after one round
 * of everything: two runs with different N differ by exactly that many events.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

static const struct timespec past;

/* The call must return this. */
static void check(int line, int got, int want)
{
	if (got != want) {
		fprintf(stderr, "line %d: %d, not %d\n", line, got, want);
		exit(4);
	}
}

#define CHECK(got, want) check(__LINE__, got, want)

static void lock_others(void)
{
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_spinlock_t spin;

	CHECK(pthread_mutex_timedlock(&mutex, &past), 0);
	CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	CHECK(pthread_mutex_unlock(&mutex), 0);
	CHECK(pthread_rwlock_rdlock(&rwlock), 0);
	CHECK(pthread_rwlock_tryrdlock(&rwlock), 0);
	CHECK(pthread_rwlock_timedrdlock(&rwlock, &past), 0);
	CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past), 0);
	CHECK(pthread_rwlock_trywrlock(&rwlock), EBUSY);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &past), ETIMEDOUT);
	CHECK(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_rwlock_unlock(&rwlock), 0);
	CHECK(pthread_rwlock_wrlock(&rwlock), 0);
	CHECK(pthread_rwlock_unlock(&rwlock), 0);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_spin_lock(&spin), 0);
	CHECK(pthread_spin_trylock(&spin), EBUSY);
	CHECK(pthread_spin_unlock(&spin), 0);
}

static void *end(void *arg)
{
	return arg;
}

static void begin(void)
{
}

/* Nothing waits for long. */
static void wait_for(void)
{
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_barrier_t barrier;
	pthread_t thread;
	void *ret = NULL;
	sem_t sem;

	pthread_mutex_lock(&mutex);
	CHECK(pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
	CHECK(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
	CHECK(pthread_cond_signal(&cond), 0);
	CHECK(pthread_cond_broadcast(&cond), 0);
	sem_init(&sem, 0, 0);
	CHECK(sem_trywait(&sem) < 0 ? errno : 0, EAGAIN);
	CHECK(sem_timedwait(&sem, &past) < 0 ? errno : 0, ETIMEDOUT);
	CHECK(sem_clockwait(&sem, CLOCK_MONOTONIC, &past) < 0 ? errno : 0, ETIMEDOUT);
	CHECK(sem_post(&sem), 0);
	CHECK(sem_wait(&sem), 0);
	pthread_barrier_init(&barrier, NULL, 1);
	CHECK(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK(pthread_once(&once, begin), 0);
	CHECK(pthread_create(&thread, NULL, end, &sem), 0);
	CHECK(pthread_join(thread, &ret), 0);
	CHECK(ret == &sem, 1);
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i <= nr; i++) {
		allocate();
		lock();
		lock_others();
		wait_for();
	}
	return 0;
}
