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

#include "claim.h"
#include "context.h"
#include "ring_write.h"
#include "trace/classes.h"
#include "tracker.h"

/** struct ring_set - @counts: its events are counted, not recorded. @has_data: LTT_KMOD_DATA.
 *  @leaves_own: LTT_KMOD_LEAVE_OWN. */
struct ring_set {
	struct kref ref;
	bool has_data;
	bool leaves_own;
	struct ltt_ring_desc desc;
	struct ring __percpu *rings;
	struct page **data_pages, **ctl_pages;
	unsigned long nr_data_pages, nr_ctl_pages;
	void **views;	/* per ring: producer block, data, data again */
	void *ctl;
	struct contexts contexts;
	struct classes classes;
	struct tracker tracker;
	bool counts;
	struct claim consumer;
	int armed;	/* 1: the next event wakes the sleeping reader, and sets it to 0 */
	struct irq_work doorbell;
	wait_queue_head_t sleepers;
};

/** Create a ring set with recording off. @desc: mode, sizes and clock, untrusted: checked. */
struct ring_set *ring_set_new(const struct ltt_ring_desc *desc);
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

/** struct ring_counts - of all CPUs, since the rings were made. */
struct ring_counts {
	u64 recorded;
	u64 lost;
	u64 not_sampled;
};
void ring_set_counts(const struct ring_set *set, struct ring_counts *ret);

/** Whether half of this CPU's ring is unread, also if it is overwritten. */
bool ring_set_is_crowded(struct ring_set *set);

#endif
