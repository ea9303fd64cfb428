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

#include "context.h"
#include "ltt_ring.h"
#include "stats.h"
#include "tracker.h"

/**
 * struct ring - ring of one CPU; only that CPU writes to it.
 * @reserved: end of the last reserved space, and its epoch: `pub` without parity.
 * @ts: clock of the last record attempted; never goes back.
 * @count: records with reserved space.
 * @pub: copy of prod->pub; @published: the value of @reserved from which it was computed.
 * @counts: events are counted instead of recorded, see stats.h.
 * @nest: number of nested writers on this CPU; all but the last one are interrupted.
 * @floor: `consumed`, or in overwrite mode @pub: new records must not be more than
 *         @limit bytes ahead of it.
 */
struct ring {
	local64_t reserved;
	local64_t ts;
	local64_t count;
	u64 pub;
	u64 published;
	unsigned int nest;
	u32 max_record;
	bool counts;
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
	struct tracker tracker;
	struct stats *stats;
	int armed;	/* 1: wake the sleeping reader at the next event, once */
	struct irq_work doorbell;
	wait_queue_head_t sleepers;
};

/** Create a ring set with recording off. @desc: mode, sizes and clock, untrusted: checked. */
struct ring_set *ring_set_new(const struct ltt_ring_desc *desc);
/** Before the first event: count events instead of recording them. Return: 0 or -ENOMEM. */
int ring_set_count(struct ring_set *set);
void ring_set_get(struct ring_set *set);
void ring_set_put(struct ring_set *set);

/** Whether there is enough data to wake a reader: condition of the waiters on @set->sleepers. */
bool ring_set_has_news(struct ring_set *set);

/** Counts records that could not be written; not within ring_begin() and ring_end(). */
void ring_set_lose(struct ring_set *set, u64 nr);

/**
 * ring_begin() - room for a record of @len payload bytes in this CPU's ring.
 * Preemption is off until ring_end().
 * Return: where the payload goes, then ring_end() must follow; NULL where the ring is
 * off or has no room: that has been counted and nothing must follow.
 */
void *ring_begin(struct ring_set *set, u32 id, u32 len, struct ring **ret_ring);
/** The same without a check of trackers. */
void *ring_begin_untracked(struct ring_set *set, u32 id, u32 len, struct ring **ret_ring);
void ring_end(struct ring *ring);

/** A whole record, of a complete payload. */
static __always_inline void ring_put(struct ring_set *set, u32 id, const void *payload, u32 len)
{
	struct ring *ring;
	void *to = ring_begin(set, id, len, &ring);

	if (to) {
		memcpy(to, payload, len);
		ring_end(ring);
	}
}

/** Whether half of this CPU's ring is unread. */
bool ring_set_is_crowded(struct ring_set *set);

#endif
