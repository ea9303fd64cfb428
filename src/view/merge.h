/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - the feed with the earliest event, of any number of them: a binary
 * heap by time, then by the feeds' order. Belongs to a view.
 */
#ifndef VIEW_MERGE_H
#define VIEW_MERGE_H

#include "feed.h"

struct merge {
	struct feed **heap;
	size_t nr, size;
};

void merge_add(struct merge *merge, struct feed *feed);
/** The first feed's time has changed. */
void merge_fix_first(struct merge *merge);
void merge_remove_first(struct merge *merge);
void merge_fini(struct merge *merge);

static inline struct feed *merge_first(const struct merge *merge)
{
	return merge->nr ? merge->heap[0] : NULL;
}

#endif
