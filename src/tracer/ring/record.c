// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ring_record() - the way of an event into a ring. The usual way is one
 * restartable sequence (section.h); this file deals with what it answers.
 *
 * Behind a sequence nothing that hangs on the binding may be touched, since a
 * set can be unmapped as soon as no sequence runs. Data that is needed later is read
 * between reader_enter() and reader_exit().
 */
#include "ring.h"

#include "hook.h"
#include "fallback.h"
#include "rseq.h"
#define SECTION_FUNCTIONS
#include "section.h"
#include "sys.h"

enum loss { LOSS_SIZE, LOSS_BUSY };

static const struct binding *ring_record_binding_of(const struct hook *hook)
{
	return __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);
}

/* Any ring of the set will do to count in; this CPU's is the likeliest. */
static void count_loss(const struct ring_set *set, enum loss loss)
{
	uint32_t cpu = ring_rseq_cpu();
	uint32_t ring = cpu < set->nr_rings ? cpu : 0;
	struct ltt_ring_prod *prod = ring_prod(set, ring);

	if (!(__atomic_load_n(&ring_cons(set, ring)->state, __ATOMIC_RELAXED) & LTT_RING_ON))
		return;
	__atomic_add_fetch(loss == LOSS_SIZE ? &prod->lost_size : &prod->lost_busy, 1,
			   __ATOMIC_RELAXED);
}

static void ring_record_count_lost(const struct hook *hook, enum loss loss)
{
	unsigned int token = reader_enter();
	const struct binding *binding = ring_record_binding_of(hook);

	if (binding)
		count_loss(binding->set, loss);
	reader_exit(token);
}

static uint32_t record_fallback(const struct hook *hook, const void *payload, size_t len)
{
	unsigned int token = reader_enter();
	const struct binding *binding = ring_record_binding_of(hook);
	uint32_t res = binding ? ring_fallback_record(binding, payload, len) : 0;

	reader_exit(token);
	return res;
}

/*
 * The sequence found no ring that it may write: another producer's set, another
 * clock, or a thread that the kernel was never told about. The binding may be
 * swapped between two attempts, hence the loop; each turn removes one reason.
 */
static uint32_t record_elsewhere(const struct hook *hook, const void *payload, size_t len,
				 uint32_t res)
{
	for (int turn = 0; turn < 4 && (res & RES_ELSEWHERE); turn++) {
		if (res & RES_EXCLUSIVE) {
			res = record_fallback(hook, payload, len);
			if (res == RES_ELSEWHERE)
				break;
		} else if (!ring_rseq_adopt_thread()) {
			break;
		} else if (res & RES_GIVEN) {
			res = section_given(hook, payload, len,
					    ring_clock_read(LTT_CLOCK_MONOTONIC));
		} else {
			res = section_cycles(hook, payload, len);
		}
	}
	return res;
}

/* The consumer may be asleep and waiting for this very record. The fence pairs
 * with its own, between its `waiting` and its last look at `pub`. */
static void record_wake_consumer(const struct hook *hook, uint32_t res)
{
	uint32_t ring = res >> RES_RING_SHIFT;
	unsigned int token = reader_enter();
	const struct binding *binding = ring_record_binding_of(hook);

	ring_full_fence();
	if (binding && ring < binding->set->nr_rings) {
		const struct ltt_ring_cons *cons = ring_cons(binding->set, ring);

		/* before the exit: behind it the page may be unmapped */
		if ((res & LTT_RING_WAKE) || __atomic_load_n(&cons->waiting, __ATOMIC_RELAXED))
			ring_doorbell(__atomic_load_n(&binding->set->doorbell, __ATOMIC_ACQUIRE));
	}
	reader_exit(token);
}

void record_unusual(const struct hook *hook, const void *payload, size_t len, uint32_t res)
{
	if (res & RES_ELSEWHERE)
		res = record_elsewhere(hook, payload, len, res);
	if (res & (RES_CROSSED | LTT_RING_WAKE))
		record_wake_consumer(hook, res);
	else if (res & RES_TOO_LONG)
		ring_record_count_lost(hook, LOSS_SIZE);
	else if (res & (RES_RESTARTS | RES_ELSEWHERE))
		ring_record_count_lost(hook, LOSS_BUSY);
	if (res & RES_RESTARTS)
		ring_give_up_rseq();
}

void ring_lose_oversize(const struct hook *hook)
{
	ring_record_count_lost(hook, LOSS_SIZE);
}

uint32_t ring_hook_session(const struct hook *hook)
{
	unsigned int token = reader_enter();
	const struct binding *binding = ring_record_binding_of(hook);
	uint32_t session = binding ? binding->session : 0;

	reader_exit(token);
	return session;
}
