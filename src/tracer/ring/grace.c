// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers and their grace period.
 *
 * There are two counters of readers; a reader increments the one that `phase` selects. To wait,
 * `phase` is changed, and the counter that it selected before must become 0; this is done twice: a
 * reader that has read `phase` long before it increments is in the counter that a single pass would
 * not check.
 *
 * Each thread counts how often it is in each counter, so that the counters can be corrected in a
 * forked child, which has only the forking thread.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>

#include "ring.h"
#include "place.h"
#include "rseq.h"
#include "section.h"
#include "sys.h"

static uint32_t phase;
static uint32_t inside[2];
static uint32_t sleeping; /* a thread waits for inside[] to become 0 */
static pthread_mutex_t one_waits = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t mine[2] __attribute__((tls_model("initial-exec")));

unsigned int reader_enter(void)
{
	unsigned int token = __atomic_load_n(&phase, __ATOMIC_RELAXED) & 1;

	mine[token]++;
	__atomic_add_fetch(&inside[token], 1, __ATOMIC_SEQ_CST);
	/* On some machines an atomic addition alone does not order later plain loads. */
	ring_full_fence();
	return token;
}

void reader_exit(unsigned int token)
{
	uint32_t left = __atomic_sub_fetch(&inside[token], 1, __ATOMIC_SEQ_CST);

	mine[token]--;
	if (unlikely(!left && __atomic_load_n(&sleeping, __ATOMIC_SEQ_CST)))
		ring_futex_wake(&inside[token]);
}

static void wait_until_empty(uint32_t *counter)
{
	uint32_t now;

	__atomic_store_n(&sleeping, 1, __ATOMIC_SEQ_CST);
	while ((now = __atomic_load_n(counter, __ATOMIC_SEQ_CST)) != 0)
		ring_futex_wait(counter, now);
	__atomic_store_n(&sleeping, 0, __ATOMIC_SEQ_CST);
}

static void wait_for_readers(void)
{
	for (int pass = 0; pass < 2; pass++) {
		uint32_t old = __atomic_fetch_xor(&phase, 1, __ATOMIC_SEQ_CST) & 1;

		wait_until_empty(&inside[old]);
	}
}

static long restart_sequences(void)
{
	return ring_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0, 0);
}

/* Seccomp filters that were installed after ring_init() may refuse membarrier. Instead this thread
 * runs once on each CPU, which preempts the sequences there. */
static void visit_every_cpu(void)
{
	unsigned long all[RING_MAX_RINGS / (8 * sizeof(long))] = { 0 };
	unsigned long one[RING_MAX_RINGS / (8 * sizeof(long))] = { 0 };
	const uint32_t bits = 8 * sizeof(long);

	ring_syscall(SYS_sched_getaffinity, 0, sizeof(all), (long)all, 0);
	for (uint32_t cpu = 0; cpu < RING_MAX_RINGS; cpu++) {
		one[cpu / bits] = 1ul << cpu % bits;
		ring_syscall(SYS_sched_setaffinity, 0, sizeof(one), (long)one, 0);
		one[cpu / bits] = 0;
	}
	ring_syscall(SYS_sched_setaffinity, 0, sizeof(all), (long)all, 0);
}

/* -EPERM: not registered, as the process had several threads when libltt was loaded (dlopen).
 * Registration then costs milliseconds, so it is done at the first use. */
static void wait_for_sequences(void)
{
	if (restart_sequences() == 0)
		return;
	ring_register_membarrier();
	if (restart_sequences() != 0)
		visit_every_cpu();
}

void reader_synchronize(void)
{
	pthread_mutex_lock(&one_waits);
	ring_full_fence();
	if (ring_rseq_used())
		wait_for_sequences();
	wait_for_readers();
	pthread_mutex_unlock(&one_waits);
}

void reader_after_fork_child(bool may_call)
{
	ring_place_after_fork_child();
	if (may_call && ring_rseq_used()) /* it has one thread, as its parent may not have had */
		ring_register_membarrier();
	one_waits = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	__atomic_store_n(&sleeping, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&inside[i], mine[i], __ATOMIC_SEQ_CST);
}
