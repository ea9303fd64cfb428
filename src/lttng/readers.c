// SPDX-License-Identifier: LGPL-2.1-or-later
#include "readers.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NEST_MASK (PHASE - 1)
#define PHASE (1ul << sizeof(long) * 4)
#define CHUNK 16u
#define PAUSE_NS 20000
#define LEFT_NS 10000000000ull /* a thread that is inside so long left by longjmp() */
#define HURRY_NS 100000000ull

struct phase {
	unsigned long ctr;
} __attribute__((aligned(128)));

EXPORT struct phase lttng_ust_urcu_gp = { 1 };
EXPORT int lttng_ust_urcu_has_sys_membarrier;
EXPORT __thread struct reader *lttng_ust_urcu_reader;

static struct reader first[CHUNK];
static struct reader *readers = first;
static uint64_t left_ns = LEFT_NS;
static pthread_mutex_t one_waits = PTHREAD_MUTEX_INITIALIZER;

static bool reader_is_gone(int tid)
{
	const int saved = errno;
	const bool gone = syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;

	errno = saved;
	return gone;
}

static bool reader_claim(struct reader *reader, int tid, int owner)
{
	if (!__atomic_compare_exchange_n(&reader->tid, &owner, tid, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&reader->ctr, 0, __ATOMIC_RELAXED);
	reader->left = 0;
	reader->frame.owner = NULL;
	for (uint32_t i = 0; i < SAVED_DEPTH; i++)
		reader->saved[i].owner = NULL;
	return true;
}

/* A free block, or that of an ended thread: few are checked, as that takes a system call. */
static struct reader *reader_take(int tid)
{
	int checks = 4;

	for (struct reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next) {
		const int owner = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);

		if (owner && (checks-- <= 0 || !reader_is_gone(owner)))
			continue;
		if (reader_claim(r, tid, owner))
			return r;
	}
	return NULL;
}

static void readers_link(struct reader *chunk, uint32_t nr)
{
	for (uint32_t i = 0; i + 1 < nr; i++)
		chunk[i].next = &chunk[i + 1];
	chunk[nr - 1].next = __atomic_load_n(&readers, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&readers, &chunk[nr - 1].next, chunk, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void readers_grow(void)
{
	struct reader *chunk = mmap(NULL, CHUNK * sizeof(*chunk), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk != MAP_FAILED)
		readers_link(chunk, CHUNK);
}

/* Without memory, threads share a block: their events are dropped while another one uses it. */
EXPORT void lttng_ust_urcu_register(void)
{
	static struct reader shared;
	const int saved = errno, tid = (int)syscall(SYS_gettid);
	struct reader *reader = reader_take(tid);

	if (!reader) {
		readers_grow();
		reader = reader_take(tid);
	}
	/* A signal handler may have done the same meanwhile. */
	if (lttng_ust_urcu_reader && reader)
		__atomic_store_n(&reader->tid, 0, __ATOMIC_RELEASE);
	else
		lttng_ust_urcu_reader = reader ? reader : &shared;
	errno = saved;
}

EXPORT void lttng_ust_urcu_register_thread(void)
{
	if (!lttng_ust_urcu_reader)
		lttng_ust_urcu_register();
}

static void reader_fence(void)
{
	if (likely(__atomic_load_n(&lttng_ust_urcu_has_sys_membarrier, __ATOMIC_RELAXED)))
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void lttng_ust_urcu_read_lock(void)
{
	struct reader *reader = lttng_ust_urcu_reader;
	unsigned long ctr;

	if (unlikely(!reader)) {
		lttng_ust_urcu_register();
		reader = lttng_ust_urcu_reader;
	}
	ctr = __atomic_load_n(&reader->ctr, __ATOMIC_RELAXED);
	if (unlikely(ctr & NEST_MASK)) {
		__atomic_store_n(&reader->ctr, ctr + 1, __ATOMIC_RELAXED);
		return;
	}
	ctr = __atomic_load_n(&lttng_ust_urcu_gp.ctr, __ATOMIC_RELAXED);
	__atomic_store_n(&reader->ctr, ctr, __ATOMIC_RELAXED);
	reader_fence();
}

void lttng_ust_urcu_read_unlock(void)
{
	struct reader *reader = lttng_ust_urcu_reader;

	reader_fence();
	__atomic_store_n(&reader->ctr, __atomic_load_n(&reader->ctr, __ATOMIC_RELAXED) - 1,
			 __ATOMIC_RELAXED);
}

EXPORT int lttng_ust_urcu_read_ongoing(void)
{
	lttng_ust_urcu_register_thread();
	return (int)(lttng_ust_urcu_reader->ctr & NEST_MASK);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void pause_a_moment(void)
{
	const struct timespec time = { 0, PAUSE_NS };

	nanosleep(&time, NULL);
}

/* A seccomp filter may have refused membarrier since: no store is delayed as long as a pause. */
static void fence_all_threads(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (lttng_ust_urcu_has_sys_membarrier &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		pause_a_moment();
}

static bool reader_is_inside(const struct reader *reader, unsigned long phase)
{
	const unsigned long ctr = __atomic_load_n(&reader->ctr, __ATOMIC_ACQUIRE);

	return (ctr & NEST_MASK) && (ctr ^ phase) & PHASE && ctr != reader->left;
}

static uint64_t readers_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void reader_wait(struct reader *reader, unsigned long phase, uint64_t end_ns)
{
	if (!(__atomic_load_n(&reader->ctr, __ATOMIC_RELAXED) & NEST_MASK))
		reader->left = 0;
	for (uint32_t i = 1; reader_is_inside(reader, phase); i++) {
		const int tid = __atomic_load_n(&reader->tid, __ATOMIC_RELAXED);

		if (i % 64 == 0 && tid && reader_is_gone(tid))
			return;
		if (i % 64 == 0 && readers_now() > end_ns) {
			reader->left = __atomic_load_n(&reader->ctr, __ATOMIC_RELAXED);
			return;
		}
		pause_a_moment();
	}
}

void readers_hurry(void)
{
	__atomic_store_n(&left_ns, HURRY_NS, __ATOMIC_RELAXED);
}

static void readers_wait(unsigned long phase)
{
	const uint64_t end_ns = readers_now() + __atomic_load_n(&left_ns, __ATOMIC_RELAXED);

	for (struct reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next)
		if (r != lttng_ust_urcu_reader)
			reader_wait(r, phase, end_ns);
}

/* Twice: a thread that read the phase long before it stored it has that of the pass before. */
void lttng_ust_urcu_synchronize_rcu(void)
{
	pthread_mutex_lock(&one_waits);
	fence_all_threads();
	for (int pass = 0; pass < 2; pass++) {
		const unsigned long phase = lttng_ust_urcu_gp.ctr ^ PHASE;

		__atomic_store_n(&lttng_ust_urcu_gp.ctr, phase, __ATOMIC_SEQ_CST);
		fence_all_threads();
		readers_wait(phase);
	}
	fence_all_threads();
	pthread_mutex_unlock(&one_waits);
}

/* --- the process ---------------------------------------------------------------------------- */

static void readers_before_fork(void)
{
	pthread_mutex_lock(&one_waits);
}

static void readers_after_fork_parent(void)
{
	pthread_mutex_unlock(&one_waits);
}

/* The child has one thread, with another number. */
static void readers_after_fork_child(void)
{
	for (struct reader *r = readers; r; r = r->next)
		if (r != lttng_ust_urcu_reader)
			r->tid = 0, r->ctr = 0;
		else
			r->tid = (int)syscall(SYS_gettid);
	pthread_mutex_unlock(&one_waits);
}

/* Programs contain calls of these: pthread_atfork() does it here. */
EXPORT void lttng_ust_urcu_before_fork(void)
{
}

EXPORT void lttng_ust_urcu_after_fork_parent(void)
{
}

EXPORT void lttng_ust_urcu_after_fork_child(void)
{
}

static __attribute__((constructor(101))) void readers_start(void)
{
	for (uint32_t i = 0; i + 1 < CHUNK; i++)
		first[i].next = &first[i + 1];
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
		__atomic_store_n(&lttng_ust_urcu_has_sys_membarrier, 1, __ATOMIC_SEQ_CST);
	pthread_atfork(readers_before_fork, readers_after_fork_parent, readers_after_fork_child);
}
