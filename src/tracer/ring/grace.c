// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers and their grace period.
 *
 * A reader marks a free slot of the table that `phase` selects. To wait, `phase` is changed, and
 * each slot of the table that it selected before must be free once, which new readers do not delay;
 * this is done twice: a reader that has read `phase` long before it marks a slot is in the table
 * that a single pass would not check.
 *
 * A mark is that of a lock (fallback.c), so that a thread finds its reader which a signal handler
 * has left by siglongjmp(), as soon as it is a reader again; and so that a forked child, which has
 * only the forking thread, can free the slots of the others. Readers that find no free slot are
 * counted instead. A reader that was left, or cancelled, and whose thread does not record again,
 * stays: a wait without a limit would have no end. Before code is unloaded, such readers are given
 * up.
 *
 * Readers that call code of the program compare exact frames, as they nest: a thread's innermost
 * one is in `calling`, the one around it beside its slot.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>

#include "ring.h"
#include "fallback.h"
#include "place.h"
#include "rseq.h"
#include "section.h"
#include "sys.h"
#include "tracer/base/large.h"

#define NO_END UINT64_MAX
#define UNTIL_LEFT (NO_END - 1)
#define LEFT_NS 10000000000ull /* a thread that is inside so long left by longjmp() */
#define SOON_NS 400000000u     /* less than a daemon waits for an answer */
#define STUCK_NS 1000000u
#define SLOTS 64u
#define PROBES 8u
#define NO_SLOT SLOTS
#define LASTING 1u		/* in a mark: the frame is not compared */
#define GIVEN_UP (LASTING | 2u) /* in a slot instead of a mark */
#define NO_TOKEN UINT32_MAX
#define REACH 8388608u /* frames that far are of another stack */

struct calling {
	uint32_t token;
	const char *frame;
};

static uint32_t phase;
static uint64_t slots[2][SLOTS] TRACER_LARGE __attribute__((aligned(64)));
static struct calling around[2][SLOTS] TRACER_LARGE;
static __thread struct calling calling
	__attribute__((tls_model("initial-exec"))) = { NO_TOKEN, NULL };
static uint32_t inside[2]; /* readers without a slot */
static uint32_t sleeping;  /* a thread waits for `exits` to change */
static uint32_t exits;
static uint32_t stuck; /* the last wait with a limit had reached it */
static pthread_mutex_t one_waits = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t mine[2] __attribute__((tls_model("initial-exec"))); /* in inside[] */

static bool reader_take(uint64_t *slot, uint64_t mark)
{
	uint64_t owner = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (owner && (owner & LASTING || !ring_mark_has_ended(owner, mark)))
		return false;
	return __atomic_compare_exchange_n(slot, &owner, mark, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/* Those of a thread are tried in the same order each time. */
static uint32_t reader_take_any(uint64_t *table, uint64_t mark)
{
	uint32_t at = ring_mark_hash(mark);

	for (uint32_t i = 0; mark && i < PROBES; i++)
		if (reader_take(&table[(at + i) % SLOTS], mark))
			return (at + i) % SLOTS;
	return NO_SLOT;
}

static unsigned int reader_enter_marked(uint64_t mark)
{
	unsigned int token = __atomic_load_n(&phase, __ATOMIC_RELAXED) & 1;
	uint32_t slot = reader_take_any(slots[token], mark);

	if (unlikely(slot == NO_SLOT)) {
		mine[token]++;
		__atomic_add_fetch(&inside[token], 1, __ATOMIC_SEQ_CST);
	}
	/* On some machines an atomic operation alone does not order later plain loads. */
	ring_full_fence();
	return slot << 1 | token;
}

unsigned int reader_enter_in(const void *frame)
{
	return reader_enter_marked(ring_mark(frame));
}

unsigned int reader_enter(void)
{
	uint64_t mark = ring_mark(__builtin_frame_address(0));

	return reader_enter_marked(mark ? mark | LASTING : 0);
}

/* Those of the thread that longjmp() has left: their frames are not above @frame. */
static void reader_exit_left(const char *frame)
{
	while (calling.token != NO_TOKEN && (uintptr_t)frame - (uintptr_t)calling.frame <= REACH &&
	       !ring_is_on_other_stack())
		reader_exit_calling(calling.token);
}

unsigned int reader_enter_calling(const void *frame)
{
	const uint64_t mark = ring_mark(frame);
	unsigned int token;

	if (unlikely(calling.token != NO_TOKEN))
		reader_exit_left(frame);
	token = reader_enter_marked(mark ? mark | LASTING : 0);
	if (likely(token >> 1 != NO_SLOT)) {
		around[token & 1][token >> 1] = calling;
		calling = (struct calling){ token, frame };
	}
	return token;
}

void reader_exit_calling(unsigned int token)
{
	if (likely(token >> 1 != NO_SLOT))
		calling = around[token & 1][token >> 1];
	reader_exit(token);
}

void reader_exit(unsigned int token)
{
	uint32_t slot = token >> 1;

	if (likely(slot != NO_SLOT)) {
		__atomic_exchange_n(&slots[token & 1][slot], 0, __ATOMIC_SEQ_CST);
	} else {
		__atomic_sub_fetch(&inside[token & 1], 1, __ATOMIC_SEQ_CST);
		mine[token & 1]--;
	}
	if (unlikely(__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST))) {
		__atomic_add_fetch(&exits, 1, __ATOMIC_SEQ_CST);
		ring_futex_wake(&exits);
	}
}

/* @end_ns: of CLOCK_MONOTONIC. Return: whether the word became 0. */
static bool wait_until_zero(const void *word, size_t bytes, uint64_t end_ns)
{
	while (true) {
		uint32_t seen = __atomic_load_n(&exits, __ATOMIC_SEQ_CST);
		uint64_t at = end_ns == NO_END ? 0 : ring_clock_monotonic();

		if (bytes == sizeof(uint64_t) ?
			    !__atomic_load_n((const uint64_t *)word, __ATOMIC_SEQ_CST) :
			    !__atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST))
			return true;
		if (at >= end_ns)
			return false;
		ring_futex_wait(&exits, seen, end_ns - at);
	}
}

static bool wait_until_empty(unsigned int old, uint64_t end_ns)
{
	bool empty = wait_until_zero(&inside[old], sizeof(inside[old]), end_ns);

	for (uint32_t i = 0; empty && i < SLOTS; i++)
		empty = wait_until_zero(&slots[old][i], sizeof(slots[old][i]), end_ns);
	return empty;
}

static void wait_until_left(unsigned int old)
{
	const uint64_t end_ns = ring_clock_monotonic() + LEFT_NS;

	wait_until_zero(&inside[old], sizeof(inside[old]), end_ns);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint64_t *slot = &slots[old][i];
		uint64_t owner = __atomic_load_n(slot, __ATOMIC_SEQ_CST);

		if (owner != GIVEN_UP && !wait_until_zero(slot, sizeof(*slot), end_ns))
			__atomic_compare_exchange_n(slot, &owner, GIVEN_UP, 0, __ATOMIC_SEQ_CST,
						    __ATOMIC_RELAXED);
	}
}

static bool wait_for_readers(uint64_t end_ns)
{
	bool done = true;

	__atomic_store_n(&sleeping, 1, __ATOMIC_SEQ_CST);
	for (int pass = 0; done && pass < 2; pass++) {
		const unsigned int old = __atomic_fetch_xor(&phase, 1, __ATOMIC_SEQ_CST) & 1;

		if (end_ns == UNTIL_LEFT)
			wait_until_left(old);
		else
			done = wait_until_empty(old, end_ns);
	}
	__atomic_store_n(&sleeping, 0, __ATOMIC_SEQ_CST);
	return done;
}

/* @ours: whether those of this thread are freed, or those of all others. */
static void reader_free_slots(bool ours)
{
	const uint64_t mark = ring_mark(__builtin_frame_address(0));
	uint64_t *slot = slots[0];

	for (uint32_t i = 0; i < 2 * SLOTS; i++) {
		uint64_t owner = __atomic_load_n(&slot[i], __ATOMIC_SEQ_CST);

		if (owner && ring_mark_is_same_thread(owner, mark) == ours)
			__atomic_store_n(&slot[i], 0, __ATOMIC_SEQ_CST);
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

/* With the mutex, which is unlocked. */
static bool reader_wait(uint64_t end_ns)
{
	bool done;

	ring_full_fence();
	if (ring_rseq_used())
		wait_for_sequences();
	done = wait_for_readers(end_ns);
	pthread_mutex_unlock(&one_waits);
	return done;
}

static void reader_synchronize_until(uint64_t end_ns)
{
	reader_free_slots(true);
	calling.token = NO_TOKEN;
	pthread_mutex_lock(&one_waits);
	reader_wait(end_ns);
}

void reader_synchronize(void)
{
	reader_synchronize_until(NO_END);
}

void reader_synchronize_code(void)
{
	reader_synchronize_until(UNTIL_LEFT);
}

bool reader_synchronize_soon(void)
{
	const struct timespec pause = { 0, 1000000 };
	const bool was_stuck = __atomic_load_n(&stuck, __ATOMIC_RELAXED);
	uint64_t end_ns = ring_clock_monotonic() + (was_stuck ? STUCK_NS : SOON_NS);
	bool done = false, locked;

	while (!(locked = pthread_mutex_trylock(&one_waits) == 0) &&
	       ring_clock_monotonic() < end_ns)
		ring_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0);
	if (locked)
		done = reader_wait(end_ns);
	__atomic_store_n(&stuck, !done, __ATOMIC_RELAXED);
	return done;
}

bool reader_is_awaited_here(void)
{
	const uint64_t mark = ring_mark(__builtin_frame_address(0));
	const uint64_t *slot = slots[0];

	if (!__atomic_load_n(&sleeping, __ATOMIC_RELAXED))
		return false;
	if (mine[0] || mine[1])
		return true;
	for (uint32_t i = 0; i < 2 * SLOTS; i++) {
		uint64_t owner = __atomic_load_n(&slot[i], __ATOMIC_RELAXED);

		if (owner && ring_mark_is_same_thread(owner, mark))
			return true;
	}
	return false;
}

void reader_after_fork_child(bool may_call)
{
	ring_place_after_fork_child();
	if (may_call && ring_rseq_used()) /* it has one thread, as its parent may not have had */
		ring_register_membarrier();
	reader_free_slots(false);
	one_waits = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	__atomic_store_n(&sleeping, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&inside[i], mine[i], __ATOMIC_SEQ_CST);
}
