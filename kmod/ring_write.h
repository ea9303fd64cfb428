/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_write.h - the part of ring.h that probes use: to record an event in this CPU's ring. Each
 * compiled probe depends on this header and on those that it includes, and on no request of user
 * space.
 */
#ifndef KMOD_RING_WRITE_H
#define KMOD_RING_WRITE_H

#include <linux/percpu.h>
#include <linux/timex.h>
#include <asm/local64.h>

#include "ltt_ring.h"

struct filter;
struct ring_set;
struct stat_counter;

/** enum ring_way - the work of ring_end(): publish the record; or run the filter on a struct
 *  undecided, and record or count the event. It is on the probe's stack (RING_DECIDES) or in a
 *  filter_room() (RING_DECIDES_ROOM). */
enum ring_way { RING_RECORDS, RING_DECIDES, RING_DECIDES_ROOM };

/**
 * struct ring - ring of one CPU; only that CPU writes to it.
 * @reserved: end of the last reserved space, and its epoch: `pub` without parity.
 * @ts: clock of the last record attempted; never goes back.
 * @count: records with reserved space.
 * @pub: copy of prod->pub; @published: the value of @reserved from which it was computed.
 * @way: enum ring_way; the first member, as in struct undecided.
 * @nest: number of nested writers on this CPU; all but the last one are interrupted.
 * @floor: `consumed`, or in overwrite mode @pub: new records must not be more than
 *         @limit bytes ahead of it.
 */
struct ring {
	u8 way;
	local64_t reserved;
	local64_t ts;
	local64_t count;
	u64 published;
	u32 nest;
	u32 max_record;
	u64 hint_end;	/* positions below it are in the sub-buffer of @reserved, and fit */
	u64 hint_epoch;	/* clock values below it, not below @ts, are of the epoch of @reserved */
	u64 flip;	/* parity of prod->pub */
	const u64 *floor;
	u64 limit;
	u8 *data;
	u64 data_mask;
	u64 subbuf_mask;
	u64 subbuf_bytes;
	const struct ltt_ring_cons *cons;
	struct ltt_ring_prod *prod;
	struct ring_set *set;
	u32 clock;
	u32 subbuf_shift;
};

/**
 * struct source - an event of a ring set.
 * @special: not 0 if a record needs more than space in the ring (SOURCE_TRACKED, SOURCE_MORE).
 * @nr_contexts: its records have the first ones of @set: those that there were when it was enabled.
 * @subject: family_subject(); the payload then has the thread that the event is about.
 * @filter: changes at any time; read with preemption off. NULL: none.
 * @tally: its records and losses.
 * @stat: its counter, in a set that counts; else NULL.
 */
struct source {
	struct ring __percpu *rings;
	u32 special;
	u8 header; /* LTT_HDR_COMPACT or _WIDE, by @id */
	u8 nr_contexts;
	u16 subject;
	u32 word;  /* the bits of the header's first word that don't change */
	u32 id;
	struct ring_set *set;
	const struct filter *filter;
	struct tally __percpu *tally;
	struct stat_counter *stat;
};

/** Bits of @special: @set has a tracker; records have contexts or are counted, or @filter is there;
 *  @filter decides before there is a payload; another source records the event;
 *  the payload is needed to know whose event it is, too; @filter or @stat needs the payload. */
#define SOURCE_TRACKED 1u
#define SOURCE_MORE    2u
#define SOURCE_EARLY   4u
#define SOURCE_MUTED   8u
#define SOURCE_ABOUT   16u
#define SOURCE_LATE    32u

/** struct tally - an event of a ring set, on one CPU. @lost: it found no space, or is too large.
 *  @not_sampled: the sampling of @filter left it out. */
struct tally {
	u64 recorded;
	u64 lost;
	u64 not_sampled;
};

/** Its parts that follow from @set and @id. */
void source_init(struct source *source, struct ring_set *set, u32 id);
/** Value of @special with this filter. */
u32 source_special(const struct source *source, const struct filter *filter);

/** Bit of ring->nest: a record of the fast path is not the only one since the last publication. */
#define RING_SLOW 0x10000u

/** struct room - the result of ring_begin_*(), in two registers; @to NULL: as ring_begin(). */
struct room {
	void *to;
	struct ring *ring;
};

/** struct undecided - a payload that is being made for a filter or a counter. */
struct undecided {
	u8 way;
	u32 len;
	const struct source *source;
	u8 payload[] __aligned(8);
};

/** Count records that could not be written. */
void ring_set_lose(struct ring_set *set, u64 nr);
/** The same for an event, if its ring set is on; with preemption off. */
void ring_lose(const struct source *source, u64 nr);

/** Whether sampling leaves out an event of which nothing is known yet; then it is counted. False:
 *  it may still do so later. With preemption off. */
bool ring_skips_early(const struct source *source);

/** The same for events whose length is to be computed, which costs more. */
static __always_inline bool ring_skips(const struct source *source)
{
	return unlikely(READ_ONCE(source->special) & SOURCE_EARLY) && ring_skips_early(source);
}

/** Length of a payload that no ring set has space for: ring_begin() counts the loss. */
#define RING_TOO_LONG (1u << 30)

/**
 * ring_begin() - reserve space for a record of @len payload bytes in this CPU's ring; for an event
 * with a filter, or that is counted, memory outside of the ring: ring_end() then decides whether
 * there is a record.
 * Preemption is off until ring_end().
 * Return: address for the payload, and ring_end() must follow; NULL: the ring is
 * off, or has no space (the loss has been counted), and ring_end() must not follow.
 */
static __always_inline void *ring_begin(const struct source *source, u32 len,
					struct ring **ret_ring);
static __always_inline void ring_end(struct ring *ring);

/** The parts of ring_begin() and ring_end() that are not inline. */
struct room ring_begin_plain(const struct source *source, u32 len);
/** @nested: it is among ring->nest already. */
struct room ring_begin_slowly(const struct source *source, u32 len, bool nested);
void ring_end_slowly(struct ring *ring);
struct room ring_begin_specially(const struct source *source, u32 len);
void ring_end_plain(struct ring *ring);
void ring_end_specially(struct ring *ring);

#ifdef CONFIG_X86
/* Local to the CPU: no other one writes it. */
#define ring_try_cmpxchg(word, old, new)							\
	__raw_try_cmpxchg(&(word)->a.a.counter, old, new, sizeof(long), "")
#else
#define ring_try_cmpxchg(word, old, new)							\
	({											\
		s64 was_ = local64_cmpxchg(word, *(old), new);					\
		bool ok_ = was_ == *(old);							\
		*(old) = was_;									\
		ok_;										\
	})
#endif

#define RING_POS40 ((1ull << (LTT_POS_BITS + 1)) - 1)

/*
 * The usual record: of an event without anything special, in a ring that is on, in the sub-buffer
 * and the epoch of the record before. Only one compare-and-exchange decides; @ts follows it, so it
 * may be that of an earlier record for a moment: then the next one has an extended header without
 * need.
 */
static __always_inline struct room ring_begin_fast(const struct source *source, u32 len)
{
	struct ring *ring = this_cpu_ptr(source->rings);
	long old, last, was, end;
	u64 ts;
	u32 header = source->header, word;
	u8 *to;

	if (unlikely(READ_ONCE(ring->cons->state) != LTT_RING_ON))
		return ring_begin_slowly(source, len, false);
	ring->nest++;
	barrier();
	do {
		old = local64_read(&ring->reserved);
		barrier();
		last = local64_read(&ring->ts);
		ts = get_cycles();
		end = old + header + len;
		if (unlikely(ts < (u64)last || ts >= READ_ONCE(ring->hint_epoch) ||
			     (end & RING_POS40) >= READ_ONCE(ring->hint_end)))
			return ring_begin_slowly(source, len, true);
		was = old;
	} while (unlikely(!ring_try_cmpxchg(&ring->reserved, &was, end)));
	(void)ring_try_cmpxchg(&ring->ts, &last, (long)ts); /* a nested one has a later time */
	local64_inc(&ring->count);
	this_cpu_inc(source->tally->recorded);
	to = ring->data + (old & ring->data_mask);
	word = (u32)ts << 5 | source->word;
	memcpy(to, &word, sizeof(word));
	if (unlikely(header != LTT_HDR_COMPACT)) {
		u16 id = source->id;

		memcpy(to + 4, &id, sizeof(id));
	}
	return (struct room){ to + header, ring };
}

static __always_inline void ring_end_fast(struct ring *ring)
{
	struct ltt_ring_prod *prod = ring->prod;
	u64 reserved, count, ts, flip;

	barrier();
	if (unlikely(READ_ONCE(ring->nest) != 1))
		goto slowly;
	reserved = local64_read(&ring->reserved);
	barrier();
	count = local64_read(&ring->count);
	ts = local64_read(&ring->ts);
	barrier();
	if (unlikely(local64_read(&ring->reserved) != reserved))
		goto slowly;
	flip = ring->flip ^ LTT_PUB_PARITY;
	WRITE_ONCE(*(u64 *)((u8 *)prod->count + (flip >> 36)), count);
	WRITE_ONCE(prod->last_ts, ts);
	smp_store_release(&prod->pub, reserved | flip);
	ring->flip = flip;
	WRITE_ONCE(ring->published, reserved);
	barrier();
	WRITE_ONCE(ring->nest, 0);
	barrier();
	if (likely(local64_read(&ring->reserved) == reserved &&
		   !(READ_ONCE(ring->cons->state) & LTT_RING_WAKE)))
		return;
	ring->nest = 1;
slowly:
	ring_end_slowly(ring);
}

static __always_inline void *ring_begin(const struct source *source, u32 len,
					struct ring **ret_ring)
{
	struct room room = unlikely(READ_ONCE(source->special)) ?
				   ring_begin_specially(source, len) :
				   ring_begin_plain(source, len);

	*ret_ring = room.ring;
	return room.to;
}

static __always_inline void ring_end(struct ring *ring)
{
	if (unlikely(ring->way != RING_RECORDS))
		ring_end_specially(ring);
	else
		ring_end_plain(ring);
}

#if __has_attribute(uninitialized)
#define RING_UNINITIALIZED __attribute__((uninitialized))
#else
#define RING_UNINITIALIZED
#endif

/** Memory on a probe's stack for a payload of @bytes, if these are at most RING_ON_STACK. */
#define RING_ON_STACK 64
#define RING_STACK(name, bytes)									\
	struct {										\
		struct undecided head;								\
		u8 payload[(bytes) <= RING_ON_STACK ? (bytes) + sizeof(u64) : 0] __aligned(8);	\
	} name RING_UNINITIALIZED

/** ring_begin() for a payload of constant length. @head: a RING_STACK(). */
static __always_inline void *ring_begin_fixed(const struct source *source, u32 len,
					      struct ring **ret_ring, struct undecided *head)
{
	u32 special = READ_ONCE(source->special);

	if (likely(!special)) {
		struct room room = ring_begin_plain(source, len);

		*ret_ring = room.ring;
		return room.to;
	}
	if (len > RING_ON_STACK || special & (SOURCE_EARLY | SOURCE_MUTED) ||
	    !(special & (SOURCE_LATE | SOURCE_ABOUT))) {
		struct room room = ring_begin_specially(source, len);

		*ret_ring = room.ring;
		return room.to;
	}
	head->way = RING_DECIDES;
	head->len = len;
	head->source = source;
	*ret_ring = (struct ring *)head;
	return head->payload;
}

/** ring_begin() for a payload that is complete. Return: as ring_begin(); also NULL if the filter
 *  rejects the payload. */
void *ring_begin_put(const struct source *source, const void *payload, u32 len,
		     struct ring **ret_ring);
/** Write a record with a complete payload, without a check of trackers. */
void ring_put_untracked(const struct source *source, const void *payload, u32 len);

/** Write a record with a complete payload. */
static __always_inline void ring_put(const struct source *source, const void *payload, u32 len)
{
	struct ring *ring;
	void *to = ring_begin_put(source, payload, len, &ring);

	if (to) {
		memcpy(to, payload, len);
		ring_end(ring);
	}
}

#endif
