/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - events that are counted, or whose field's size is, instead of recorded. Of a ring
 * set: ring_begin() comes here in the ring's place, with whatever probe there is, and hands
 * out memory that is looked at and forgotten. Made by tasks; counts wherever the kernel does.
 */
#ifndef KMOD_STATS_H
#define KMOD_STATS_H

#include <linux/types.h>

struct ltt_kmod_counted;
struct stat;
struct stats;

/** struct stat_field - where in the payload a number is. @bytes: 0: only hits count. */
struct stat_field {
	u32 at;
	u8 bytes;
	bool is_signed;
};

/** Return: NULL: no memory. */
struct stats *stats_new(void);
/** Nobody counts any more. Takes NULL. */
void stats_free(struct stats *stats);

/** From now on @id is counted. Return: ERR_PTR. */
struct stat *stat_new(struct stats *stats, u32 id, const struct stat_field *field);
/** Remove it from the lookup; earlier users may still hold it. */
void stat_remove(struct stats *stats, u32 id);
/** Takes NULL. */
void stat_free(struct stat *stat);
void stat_read(const struct stat *stat, struct ltt_kmod_counted *ret);

/** Count. Return: where the payload goes, on this CPU until stats_end(); NULL: not wanted. */
void *stats_begin(struct stats *stats, u32 id, u32 len);
void stats_end(struct stats *stats);

#endif
