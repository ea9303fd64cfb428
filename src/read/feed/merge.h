/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - finds the feed with the earliest event: a binary heap of feeds, by time,
 * then by the feeds' order. Owned by a view.
 */
#ifndef READ_FEED_MERGE_H
#define READ_FEED_MERGE_H

#include "feed.h"

/** A feed, with copies of its time and order: those of all feeds are in few lines of memory. */
struct merge_entry {
	int64_t ns;
	uint32_t order;
	struct feed *feed;
};

struct merge {
	struct merge_entry *heap;
	size_t nr, size;
};

void merge_add(struct merge *merge, struct feed *feed);
void merge_move_first(struct merge *merge);
void merge_remove_first(struct merge *merge);
void merge_fini(struct merge *merge);

static inline struct feed *merge_first(const struct merge *merge)
{
	return merge->nr ? merge->heap[0].feed : NULL;
}

static inline bool merge_is_before(const struct merge_entry *a, const struct merge_entry *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

/** Restore the order after the first feed's time has changed. */
static inline void merge_fix_first(struct merge *merge)
{
	struct merge_entry *heap = merge->heap;

	heap->ns = heap->feed->ns;
	if ((merge->nr > 1 && merge_is_before(&heap[1], heap)) ||
	    (merge->nr > 2 && merge_is_before(&heap[2], heap)))
		merge_move_first(merge);
}

#endif
