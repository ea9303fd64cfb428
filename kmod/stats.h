/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - events that are counted, with or without a histogram of a field, instead of being
 * recorded. Part of a ring set: ring_begin() calls it instead of reserving space in the ring,
 * for any probe, and returns scratch memory from which the field is read. Made in process context;
 * counts in any context.
 */
#ifndef KMOD_STATS_H
#define KMOD_STATS_H

#include <linux/types.h>

struct ltt_kmod_counted;
struct stat_counter;
struct stats;

/** struct stat_field - position of the field in the payload. @bytes: 0: only hits are counted. */
struct stat_field {
	u32 at;
	u8 bytes;
	bool is_signed;
};

/** Return: NULL: no memory. */
struct stats *stats_new(void);
/** Free all counters; no event may be counted any more. NULL is allowed. */
void stats_free(struct stats *stats);

/** Count event @id from now on. Return: the counter or ERR_PTR. */
struct stat_counter *stat_new(struct stats *stats, u32 id, const struct stat_field *field);
/** Remove it from the lookup; earlier users may still hold it. */
void stat_remove(struct stats *stats, u32 id);
/** NULL is allowed. */
void stat_free(struct stat_counter *stat);
void stat_read(const struct stat_counter *stat, struct ltt_kmod_counted *ret);

/** Count a hit. Return: memory for the payload, on this CPU until stats_end(); NULL: the payload
 *  is not needed. */
void *stats_begin(struct stats *stats, u32 id, u32 len);
void stats_end(struct stats *stats);

#endif
