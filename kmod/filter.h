/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - the filter of an event in a channel: programs of abi/ltt_filter.h, one of which must
 * accept a payload before it is recorded, and which may sample; and memory for payloads that are
 * not decided on yet. Made in process context; run in any context, NMIs included, with preemption
 * off.
 */
#ifndef KMOD_FILTER_H
#define KMOD_FILTER_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "filter/program.h"
#include "ltt_kmod.h"
#include "ltt_ring.h"

/**
 * struct filter
 * @only: the program, if there is only one and it uses no context; else NULL.
 * @first: the first test of a single program, if it compares an integer field: the test holds if
 *	   the field, shifted left by @shift, is at most @span above @least, modulo 2^64. For
 *	   other tests, @span accepts all values.
 * @samplers: NULL: no program samples.
 * @early: it samples and does nothing else, and so decides before there is a payload.
 * @sampling: its first instruction, if it is @early; else its op is 0.
 * @sampler: of that instruction, if it is LTT_FILTER_SAMPLE.
 * @closed: of struct ltt_filter_state, of a single program.
 * @which: the contexts that the programs use, see context_value().
 */
struct filter {
	struct {
		u64 least, span;
		u32 offset, end; /* in the payload */
		u8 shift;
	} first;
	const struct ltt_filter *only;
	struct ltt_filter_samplers __percpu *samplers;
	bool early;
	struct ltt_filter_sampling sampling;
	struct ltt_filter_sampler __percpu *sampler;
	u64 closed;
	u32 bytes;
	u32 nr_contexts;
	u8 which[LTT_KMOD_FILTER_CONTEXTS_MAX];
	struct rcu_head rcu;
	u8 programs[] __aligned(8);
};

/** Make a filter. Return: NULL: the request has no programs; ERR_PTR. */
const struct filter *filter_new(const struct ltt_kmod_filter *request);
/** Free a filter when no CPU runs it any more. NULL is allowed. */
void filter_free(const struct filter *filter);
/** Decide on an event by a filter that samples. @words: those of the rings. */
enum ltt_filter_verdict filter_sample(const struct filter *filter, u64 *words, const void *payload,
				      u32 len);
/** filter_accepts() for filters of several programs or with contexts. */
bool filter_accepts_any(const struct filter *filter, const void *payload, u32 len);

/** Whether a filter that decides early skips an event, and count it in the sampler. False: it is
 *  not decided, and nothing was done. */
static __always_inline bool filter_skips(const struct filter *filter)
{
	const struct ltt_filter_sampling *at = &filter->sampling;

	if (likely(at->op == LTT_FILTER_SAMPLE))
		return ltt_filter_sampler_skips(this_cpu_ptr(filter->sampler), at->tag);
	return READ_ONCE(filter->closed) == U64_MAX;
}

/** The same of a filter that begins with LTT_FILTER_SAMPLE; false of others, and NULL. */
static __always_inline bool filter_skips_by_number(const struct filter *filter)
{
	return likely(filter && filter->sampling.op == LTT_FILTER_SAMPLE) &&
	       ltt_filter_sampler_skips(this_cpu_ptr(filter->sampler), filter->sampling.tag);
}

/** Of filters that do not sample. */
static __always_inline bool filter_accepts(const struct filter *filter, const void *payload,
					   u32 len)
{
	if (likely(filter->only))
		return ltt_filter_run(filter->only, payload, len, NULL);
	return filter_accepts_any(filter, payload, len);
}

/** Whether the first test rejects the payload. 8 bytes after the payload must be readable. */
static __always_inline bool filter_rejects_first(const struct filter *filter, const u8 *payload,
						 u32 len)
{
	u64 value;

	if (unlikely(filter->first.end > len))
		return true;
	value = *(const u64 *)(payload + filter->first.offset);
	return (value << filter->first.shift) - filter->first.least > filter->first.span;
}

/* Memory for one payload of the greatest length, and for some of events that interrupt it. */
#define FILTER_ROOMS_BYTES (LTT_RING_MAX_RECORD + 32768)

/** struct filter_rooms - memory of one CPU for payloads, a stack: the last payload that begins is
 *  the first that ends. @taken: bytes in use. */
struct filter_rooms {
	u32 taken;
	u8 bytes[FILTER_ROOMS_BYTES] __aligned(8);
};

DECLARE_PER_CPU(struct filter_rooms *, filter_rooms);

/** Allocate @bytes of this CPU's memory, until filter_room_end(); rooms end in reverse order.
 *  filter_rooms_ensure() must have been called before. Return: NULL: not enough is left. */
static __always_inline void *filter_room(size_t bytes)
{
	struct filter_rooms *rooms = this_cpu_read(filter_rooms);
	u32 taken = rooms->taken;

	bytes = ALIGN(bytes, 8);
	if (unlikely(bytes > FILTER_ROOMS_BYTES - taken))
		return NULL;
	rooms->taken = taken + bytes;
	barrier();
	return rooms->bytes + taken;
}

static __always_inline void filter_room_end(const void *room)
{
	struct filter_rooms *rooms = this_cpu_read(filter_rooms);

	barrier();
	rooms->taken = (const u8 *)room - rooms->bytes;
}

/** Allocate the memory of each CPU, before the first use. Return: 0 or -ENOMEM. */
int filter_rooms_ensure(void);
/** Free the memory of all CPUs; no event may be recorded any more. */
void filter_fini(void);

#endif
