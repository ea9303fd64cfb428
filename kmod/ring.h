/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - the producer's side of a channel's rings (abi/ltt_ring.h), one per CPU,
 * and their memory. Referenced by the channel that records and by each descriptor
 * and mapping of the memory. Recording runs in any context, NMIs included.
 *
 * With preemption off only interrupts and NMIs nest on a CPU, strictly last in, first
 * out. Each writer reserves its space by a compare-and-exchange that is local to the CPU,
 * writes its record in place, and the outermost one publishes all of them: `pub` never moves
 * past a record that an interrupted writer is still writing.
 */
#ifndef KMOD_RING_H
#define KMOD_RING_H

#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/wait.h>
#include <asm/local64.h>

#include "claim.h"
#include "context.h"
#include "ltt_ring.h"
#include "stats.h"
#include "trace/classes.h"
#include "tracker.h"

/** enum ring_way - the work of ring_end(): publish the record; count the event (stats.h); or run
 *  the filter on a struct undecided, which is on the probe's stack (RING_DECIDES) or in a
 *  filter_room() (RING_DECIDES_ROOM). */
enum ring_way { RING_RECORDS, RING_COUNTS, RING_DECIDES, RING_DECIDES_ROOM };

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
	u64 pub;
	u64 published;
	unsigned int nest;
	u32 max_record;
	const u64 *floor;
	u64 limit;
	u8 *data;
	u64 data_mask;
	u64 subbuf_mask;
	const struct ltt_ring_cons *cons;
	struct ltt_ring_prod *prod;
	struct ring_set *set;
	u32 clock;
	u32 subbuf_shift;
};

/** struct ring_set - @special: not 0 with contexts, a tracker, or @stats (events are counted). */
struct ring_set {
	struct kref ref;
	u32 special;
	struct ltt_ring_desc desc;
	struct ring __percpu *rings;
	struct page **data_pages, **ctl_pages;
	unsigned long nr_data_pages, nr_ctl_pages;
	void **views;	/* per ring: producer block, data, data again */
	void *ctl;
	struct contexts contexts;
	struct classes classes;
	struct tracker tracker;
	struct stats *stats;
	struct claim consumer;
	int armed;	/* 1: the next event wakes the sleeping reader, and sets it to 0 */
	struct irq_work doorbell;
	wait_queue_head_t sleepers;
};

/**
 * struct source - an event of a ring set.
 * @special: not 0 if a record needs more than space in the ring: set->special, or @filter.
 * @filter: changes at any time; read with preemption off. NULL: none.
 */
struct source {
	struct ring_set *set;
	u32 id;
	u32 special;
	const struct filter *filter;
};

/** struct undecided - a payload that is being made for a filter. */
struct undecided {
	u8 way;
	u32 len;
	const struct source *source;
	u8 payload[] __aligned(8);
};

/** Create a ring set with recording off. @desc: mode, sizes and clock, untrusted: checked. */
struct ring_set *ring_set_new(const struct ltt_ring_desc *desc);
/** Before the first event: count events instead of recording them. Return: 0 or -ENOMEM. */
int ring_set_count(struct ring_set *set);
void ring_set_get(struct ring_set *set);
void ring_set_put(struct ring_set *set);

static inline struct ltt_ring_cons *ring_set_cons(const struct ring_set *set, unsigned int cpu)
{
	return (struct ltt_ring_cons *)(set->ctl + LTT_RING_CONS_OFFSET) + cpu;
}

/** Record from now on, or no more: a record may be in progress on return. Not for rings of which
 *  user space has the control words. */
void ring_set_switch(struct ring_set *set, bool on);
/** The clock of the rings, now. */
u64 ring_set_now(const struct ring_set *set);
/** Whether there is enough data to wake a reader: condition of the waiters on @set->sleepers. */
bool ring_set_has_data(struct ring_set *set);

/** Count records that could not be written. */
void ring_set_lose(struct ring_set *set, u64 nr);
/** The same for an event, if its ring set is on; with preemption off. */
void ring_lose(const struct source *source, u64 nr);

/** Length of a payload that no ring set has space for: ring_begin() counts the loss. */
#define RING_TOO_LONG (1u << 30)

/**
 * ring_begin() - reserve space for a record of @len payload bytes in this CPU's ring; for an event
 * with a filter, memory outside of the ring: ring_end() then decides whether there is a record.
 * Preemption is off until ring_end().
 * Return: address for the payload, and ring_end() must follow; NULL: the ring is
 * off, or has no space (the loss has been counted), and ring_end() must not follow.
 */
static __always_inline void *ring_begin(const struct source *source, u32 len,
					struct ring **ret_ring);
static __always_inline void ring_end(struct ring *ring);

/** The parts of ring_begin() and ring_end() that are not inline. */
void *ring_begin_plain(const struct source *source, u32 len, struct ring **ret_ring);
void *ring_begin_specially(const struct source *source, u32 len, struct ring **ret_ring);
void ring_end_plain(struct ring *ring);
void ring_end_specially(struct ring *ring);

static __always_inline void *ring_begin(const struct source *source, u32 len,
					struct ring **ret_ring)
{
	if (unlikely(READ_ONCE(source->special)))
		return ring_begin_specially(source, len, ret_ring);
	return ring_begin_plain(source, len, ret_ring);
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
	if (likely(!READ_ONCE(source->special)))
		return ring_begin_plain(source, len, ret_ring);
	if (len > RING_ON_STACK || !READ_ONCE(source->filter))
		return ring_begin_specially(source, len, ret_ring);
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

/** Whether half of this CPU's ring is unread. */
bool ring_set_is_crowded(struct ring_set *set);

#endif
