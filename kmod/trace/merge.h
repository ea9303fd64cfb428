/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - reads the records of ring sets, those of all their CPUs in one order of time, while
 * they are recorded. Owned by its reader, a task at a time; process context only, it may sleep.
 *
 * A pass ends at a moment, which merge_begin() takes: all records up to it are published then,
 * those of a CPU that is silent too. So the order is exact within a pass, and from one
 * pass to the next; a pass ends however fast others record.
 *
 * Two ways to read a ring set:
 *
 *   MERGE_LOOKS	the records that the rings still have, from the oldest one on; its consumer
 *		is not disturbed, and loses nothing
 *   MERGE_CONSUMES	the unread ones; their space is returned to the producer. A ring set has one
 *		consumer at a time (claim.h)
 *
 * Records are copied before they are used, and a copy is used only if no producer can have reached
 * it meanwhile: a record is whole, or it is counted as overwritten.
 */
#ifndef KMOD_TRACE_MERGE_H
#define KMOD_TRACE_MERGE_H

#include "record.h"
#include "ring.h"

struct merge;

enum merge_use { MERGE_LOOKS, MERGE_CONSUMES };

/** struct merged - the next record. @set, @cpu: of its ring. */
struct merged {
	struct record record;
	const struct ring_set *set;
	u32 cpu;
};

/**
 * struct merge_losses
 * @discarded: events that could not be recorded, since the rings were made.
 * @overwritten: records that were overwritten, or consumed by another reader, before this one
 *               read them; or of an event that is not known. For MERGE_LOOKS, since it was opened.
 */
struct merge_losses {
	u64 discarded;
	u64 overwritten;
};

/**
 * merge_new() - open a reader of @nr ring sets (1 or more) of one clock; it takes references
 * to them. The first pass has begun.
 * Return: or ERR_PTR: -ENOMEM; -EBUSY: MERGE_CONSUMES, and a ring set has a consumer.
 */
struct merge *merge_new(struct ring_set *const sets[], u32 nr, enum merge_use use);
/** Open a reader with MERGE_LOOKS that begins at the next record of @from, which is not used
 *  meanwhile. Return: or ERR_PTR(-ENOMEM). */
struct merge *merge_look_ahead(const struct merge *from);
/** NULL and ERR_PTR are allowed. */
void merge_free(struct merge *merge);

/** Begin another pass, which ends now; its first record is the next one that was not read. */
void merge_begin(struct merge *merge);

/**
 * merge_next() - read the next record of the pass.
 * @ret: valid until the next call for @merge.
 * Return: 1; 0: the pass has ended; -ENOMEM: and the record is not read yet.
 */
int merge_next(struct merge *merge, struct merged *ret);

/** The record that merge_next() returned last is the next one again. */
void merge_put_back(struct merge *merge);
/** Return the space of all records that were read to the producers; it is done at the end of a pass
 *  anyway. */
void merge_release(struct merge *merge);

/** The counts up to now. Any task. */
void merge_losses(const struct merge *merge, struct merge_losses *ret);

#endif
