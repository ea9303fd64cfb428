// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ring_record() - writes an event into a ring. The usual path is one restartable sequence
 * (section.h); this file handles its other results.
 *
 * After a sequence no memory that the binding refers to may be accessed, since a set can be
 * unmapped as soon as no sequence runs. Data that is needed later is read between reader_enter()
 * and reader_exit().
 */
#include "ring.h"

#include <errno.h>
#include <string.h>

#include "admit.h"
#include "context.h"
#include "hook.h"
#include "fallback.h"
#include "populate.h"
#include "prepare.h"
#include "rseq.h"
#define SECTION_FUNCTIONS
#include "section.h"
#include "spare.h"
#include "sys.h"
#include "wait.h"

/* Records with contexts are joined on the stack if their payloads are not longer. */
#define STACK_RECORD 512u

enum loss { LOSS_FULL, LOSS_SIZE, LOSS_BUSY, LOSS_NONE /* it is not sampled */ };

static uint64_t *record_loss_word(struct ltt_ring_prod *prod, enum loss loss)
{
	switch (loss) {
	case LOSS_FULL:
		return &prod->lost_full_apart;
	case LOSS_SIZE:
		return &prod->lost_size;
	case LOSS_BUSY:
		return &prod->lost_busy;
	case LOSS_NONE:
		break;
	}
	return &prod->not_sampled_apart;
}

static const struct binding *ring_record_binding_of(const struct hook *hook)
{
	return __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);
}

/* The loss may be counted in any ring of the set; preferably in this CPU's. */
static void count_loss(const struct ring_set *set, enum loss loss)
{
	uint32_t cpu = ring_rseq_cpu();
	uint32_t ring = cpu < set->nr_rings ? cpu : 0;
	struct ltt_ring_prod *prod = ring_prod(set, ring);

	if (!(__atomic_load_n(&ring_cons(set, ring)->state, __ATOMIC_RELAXED) & LTT_RING_ON))
		return;
	__atomic_add_fetch(record_loss_word(prod, loss), 1, __ATOMIC_RELAXED);
}

static void ring_record_count_lost(const struct hook *hook, enum loss loss)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = ring_record_binding_of(hook);

	if (binding)
		count_loss(binding->set, loss);
	reader_exit(token);
}

static uint32_t record_fallback(const struct hook *hook, const void *payload, size_t len,
				uint32_t preparation)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = ring_record_binding_of(hook);
	uint32_t res = binding ? ring_fallback_record(binding, payload, len, preparation) : 0;

	reader_exit(token);
	return res;
}

/*
 * The sequence found no ring that it may write: another producer's set, another
 * clock, or a thread that is not registered with the kernel. The binding may be swapped between two
 * attempts, hence the loop; each turn removes one reason.
 */
static uint32_t record_elsewhere(const struct hook *hook, const void *payload, size_t len,
				 uint32_t preparation, uint32_t res)
{
	for (int turn = 0; turn < 4 && (res & RES_ELSEWHERE); turn++) {
		if (res & RES_EXCLUSIVE) {
			res = record_fallback(hook, payload, len, preparation);
			if (res == RES_ELSEWHERE)
				break;
		} else if (!ring_rseq_adopt_thread()) {
			break;
		} else if (res & RES_GIVEN) {
			res = section_given(hook, payload, len, preparation,
					    ring_clock_monotonic());
		} else {
			res = section_cycles(hook, payload, len, preparation);
		}
	}
	return res;
}

/* The consumer may be asleep and waiting for this very record. The fence pairs with the consumer's,
 * between its store to `waiting` and its last load of `pub`. */
static void record_wake_consumer(const struct ring_set *set, uint32_t ring, uint32_t res)
{
	ring_full_fence();
	if ((res & LTT_RING_WAKE) ||
	    __atomic_load_n(&ring_cons(set, ring)->waiting, __ATOMIC_RELAXED))
		ring_doorbell(__atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE));
}

static void record_wake_others(const struct hook *hook, uint32_t res)
{
	uint32_t ring = res >> RES_RING_SHIFT;
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = ring_record_binding_of(hook);

	/* before the exit: behind it the pages may be unmapped */
	if (binding && ring < binding->set->nr_rings) {
		if (res & (RES_CROSSED | LTT_RING_WAKE))
			record_wake_consumer(binding->set, ring, res);
		if (res & RES_STEPPED)
			populate_request(binding->set, ring);
	}
	reader_exit(token);
}

/* The rest of a record, by the answer of its last attempt. */
static void record_finish(const struct hook *hook, uint32_t res)
{
	if (res & (RES_STEPPED | LTT_RING_WAKE))
		record_wake_others(hook, res);
	else if (res & RES_FULL)
		ring_record_count_lost(hook, LOSS_FULL);
	else if (res & RES_TOO_LONG)
		ring_record_count_lost(hook, LOSS_SIZE);
	else if (res & (RES_RESTARTS | RES_ELSEWHERE | RES_PREPARE))
		ring_record_count_lost(hook, LOSS_BUSY);
	if (res & RES_RESTARTS)
		ring_give_up_rseq();
}

static uint32_t record_preparation_of(const struct hook *hook)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = ring_record_binding_of(hook);
	uint32_t preparation = binding ? binding->preparation : 0;

	reader_exit(token);
	return preparation;
}

static uint32_t record_attempt(const struct hook *hook, const void *payload, size_t len,
			       uint32_t preparation)
{
	uint32_t res = section_cycles(hook, payload, len, preparation);

	return res & RES_ELSEWHERE ? record_elsewhere(hook, payload, len, preparation, res) : res;
}

/* One attempt; @to has room for the contexts, the payload and the slack. */
static uint32_t record_joined(const struct hook *hook, uint32_t preparation, unsigned char *to,
			      const void *payload, size_t len, const void *ip)
{
	size_t bytes = context_write(preparation_contexts(preparation), to, ip);

	memcpy(to + bytes, payload, len);
	return record_attempt(hook, to, bytes + len, preparation);
}

static __attribute__((noinline)) uint32_t record_in_spare(const struct hook *hook,
							  uint32_t preparation, const void *payload,
							  size_t len, const void *ip)
{
	unsigned char *memory = NULL;
	uint32_t res = RES_TOO_LONG;

	if (len <= LTT_RING_MAX_RECORD - context_bytes(preparation_contexts(preparation)))
		memory = spare_take(SPARE_RECORD);
	if (memory) {
		res = record_joined(hook, preparation, memory, payload, len, ip);
		spare_release(memory);
	}
	return res;
}

static __attribute__((noinline)) uint32_t record_on_stack(const struct hook *hook,
							  uint32_t preparation, const void *payload,
							  size_t len, const void *ip)
{
	unsigned char memory[CONTEXT_STACK + STACK_RECORD + LTT_PAYLOAD_SLACK];

	return record_joined(hook, preparation, memory, payload, len, ip);
}

#ifdef SECTION_HAS_IMAGE
/* Return: RES_ELSEWHERE: another way must be taken. */
static uint32_t record_with_image(const struct hook *hook, uint32_t preparation,
				  const void *payload, size_t len, const void *ip)
{
	uint32_t contexts = preparation_contexts(preparation), bytes = context_image_size[contexts];
	uint64_t key = context_keep_image(contexts);
	const void *from = (const void *)((uintptr_t)payload - bytes);
	uint32_t res;

	if (!key)
		return RES_ELSEWHERE;
	res = section_image_cycles(hook, from, len + bytes, preparation, &context_own_image, key,
				   ip);
	if (res == (RES_ELSEWHERE | RES_GIVEN))
		res = section_image_given(hook, from, len + bytes, preparation, &context_own_image,
					  key, ip, ring_clock_monotonic());
	return res;
}
#else
static uint32_t record_with_image(const struct hook *hook, uint32_t preparation,
				  const void *payload, size_t len, const void *ip)
{
	(void)hook;
	(void)preparation;
	(void)payload;
	(void)len;
	(void)ip;
	return RES_ELSEWHERE;
}
#endif

static uint32_t record_with_contexts(const struct hook *hook, uint32_t preparation,
				     const void *payload, size_t len, const void *ip)
{
	if (!preparation_contexts(preparation))
		return record_attempt(hook, payload, len, preparation);
	uint32_t res = record_with_image(hook, preparation, payload, len, ip);
	if (likely(!(res & RES_ELSEWHERE)))
		return res;
	if (len <= STACK_RECORD &&
	    context_bytes(preparation_contexts(preparation)) <= CONTEXT_STACK)
		return record_on_stack(hook, preparation, payload, len, ip);
	return record_in_spare(hook, preparation, payload, len, ip);
}

/* The ring is full, and the program may wait. Return: the result of the last attempt. */
static __attribute__((noinline, cold)) uint32_t record_wait(const struct hook *hook,
							    uint32_t preparation,
							    const void *payload, size_t len,
							    const void *ip)
{
	struct ring_wait wait = { 0 };
	uint32_t res = RES_FULL;

	while (res & RES_FULL && ring_wait_once(hook, &wait))
		res = record_with_contexts(hook, preparation, payload, len, ip);
	return res;
}

/* The binding may be replaced by one with another preparation at any time, hence the loop; each
 * record was prepared as its binding demands. */
static __attribute__((noinline)) void record_decided(const struct hook *hook, uint32_t preparation,
						     const void *payload, size_t len, size_t extra,
						     const void *ip)
{
	uint32_t res = RES_PREPARE;

	for (int turn = 0; turn < SECTION_RESTARTS && res == RES_PREPARE; turn++) {
		if (turn > 0)
			preparation = record_preparation_of(hook);
		if (!admit_event(hook, preparation, payload, len + extra, ip))
			return;
		res = record_with_contexts(hook, preparation, payload, len, ip);
		if (unlikely(res & RES_FULL))
			res = record_wait(hook, preparation, payload, len, ip);
	}
	record_finish(hook, res);
}

#ifdef SECTION_HAS_IMAGE

void ring_record_image(const struct hook *hook, uint32_t preparation, const void *payload,
		       size_t len)
{
	uint32_t contexts = preparation_contexts(preparation), bytes = context_image_size[contexts];

	section_image(hook, (const void *)((uintptr_t)payload - bytes), len + bytes, preparation,
		      &context_own_image, context_image_key(contexts, false));
}

void record_image_unusual(const struct hook *hook, const void *payload, size_t len, uint32_t res,
			  uint32_t preparation)
{
	uint32_t bytes = context_image_size[preparation_contexts(preparation)];

	payload = (const void *)((uintptr_t)payload + bytes);
	if (res & RES_FULL)
		res = record_wait(hook, preparation, payload, len - bytes, NULL);
	if (res & (RES_ELSEWHERE | RES_PREPARE))
		record_decided(hook, preparation, payload, len - bytes, 0, NULL);
	else
		record_finish(hook, res);
}

void ring_record_image_given(const struct hook *hook, uint32_t preparation, const void *payload,
			     size_t len)
{
	uint64_t ts = ring_clock_monotonic();
	uint32_t contexts = preparation_contexts(preparation), bytes = context_image_size[contexts];
	const void *from = (const void *)((uintptr_t)payload - bytes);
	uint32_t res;

	res = section_image_given(hook, from, len + bytes, preparation, &context_own_image,
				  context_image_key(contexts, false), NULL, ts);
	if (unlikely(res != LTT_RING_ON))
		record_image_unusual(hook, from, len + bytes, res, preparation);
}

/* A jump to a sequence: no register is saved. Return: false: another way must be taken. */
static inline bool record_admitted(const struct hook *hook, uint32_t preparation,
				   const void *payload, size_t len)
{
	uint32_t contexts = preparation_contexts(preparation);

	if (!contexts)
		section_admitted(hook, payload, len, preparation);
	else if (context_has_image(contexts))
		ring_record_image(hook, preparation, payload, len);
	else
		return false;
	return true;
}

#else

static inline bool record_admitted(const struct hook *hook, uint32_t preparation,
				   const void *payload, size_t len)
{
	(void)hook;
	(void)preparation;
	(void)payload;
	(void)len;
	return false;
}

void ring_record_image(const struct hook *hook, uint32_t preparation, const void *payload,
		       size_t len)
{
	record_decided(hook, preparation, payload, len, 0, NULL);
}

void ring_record_image_given(const struct hook *hook, uint32_t preparation, const void *payload,
			     size_t len)
{
	record_decided(hook, preparation, payload, len, 0, NULL);
}

#endif

/* Most events with a filter end here, or with a jump. */
void ring_record_prepared(const struct hook *hook, uint32_t preparation, const void *payload,
			  size_t len, size_t extra, const void *ip)
{
	enum admit_outcome outcome = admit_at_once(preparation, payload, len + extra);

	if (outcome == ADMIT_REJECTED)
		return;
	if (outcome == ADMIT_UNDECIDED && admit_skips(hook, preparation, payload, len + extra)) {
		if (unlikely(section_skip(hook)))
			ring_count_not_sampled(hook);
		return;
	}
	if (outcome == ADMIT_UNDECIDED || extra ||
	    !record_admitted(hook, preparation, payload, len))
		record_decided(hook, preparation, payload, len, extra, ip);
}

void record_unusual(const struct hook *hook, const void *payload, size_t len, uint32_t res)
{
	if (res & RES_ELSEWHERE)
		res = record_elsewhere(hook, payload, len, 0, res);
	if (res & RES_FULL)
		res = record_wait(hook, 0, payload, len, NULL);
	if (res & RES_PREPARE) /* contexts were just added; the call site is not known here */
		ring_record_prepared(hook, record_preparation_of(hook), payload, len, 0, NULL);
	else
		record_finish(hook, res);
}

#ifdef SECTION_HAS_GIVEN
void ring_record_given(const struct hook *hook, const void *payload, size_t len)
{
	section_record_given(hook, payload, len, ring_clock_monotonic());
}
#else
void ring_record_given(const struct hook *hook, const void *payload, size_t len)
{
	uint32_t res = section_given(hook, payload, len, 0, ring_clock_monotonic());

	if (unlikely(res != LTT_RING_ON))
		record_unusual(hook, payload, len, res);
}
#endif

void ring_lose_oversize(const struct hook *hook)
{
	ring_record_count_lost(hook, LOSS_SIZE);
}

void ring_count_not_sampled(const struct hook *hook)
{
	int saved = errno;

	ring_record_count_lost(hook, LOSS_NONE);
	(void)ring_rseq_adopt_thread();
	errno = saved;
}

uint32_t ring_hook_session(const struct hook *hook)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct binding *binding = ring_record_binding_of(hook);
	uint32_t session = binding ? binding->session : 0;

	reader_exit(token);
	return session;
}
