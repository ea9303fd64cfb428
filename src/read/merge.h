/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - finds the feed with the earliest event: a binary heap of feeds, by time,
 * then by the feeds' order. Owned by a view.
 */
#ifndef READ_MERGE_H
#define READ_MERGE_H

#include "feed.h"

struct merge {
	struct feed **heap;
	size_t nr, size;
};

void merge_add(struct merge *merge, struct feed *feed);
/** Restore the order after the first feed's time has changed. */
void merge_fix_first(struct merge *merge);
void merge_remove_first(struct merge *merge);
void merge_fini(struct merge *merge);

static inline struct feed *merge_first(const struct merge *merge)
{
	return merge->nr ? merge->heap[0] : NULL;
}

#endif
