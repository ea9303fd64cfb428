/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - finds the feed with the earliest event: a binary heap of feeds, by time,
 * then by the feeds' order. Owned by a view.
 */
#ifndef READ_FEED_MERGE_H
#define READ_FEED_MERGE_H

#include "feed.h"

/** A feed, with a copy of its time, and where its event is: those of all feeds are in few lines of
 *  memory. */
struct merge_entry {
	int64_t ns;
	struct feed *feed;
	const uint8_t *bytes;
	const struct ctf_event_class *ec;
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
	return a->ns != b->ns ? a->ns < b->ns : a->feed->order < b->feed->order;
}

static inline void merge_set(struct merge_entry *entry)
{
	const struct feed *feed = entry->feed;

	entry->ns = feed->ns;
	entry->bytes = feed->event_bytes;
	entry->ec = feed->ec;
}

#define MERGE_LINE 64u

static inline void merge_prefetch_entry(const struct merge_entry *entry)
{
	__builtin_prefetch(entry->feed);
	__builtin_prefetch((const char *)entry->feed + MERGE_LINE);
	__builtin_prefetch((const char *)entry->feed + 2 * MERGE_LINE);
	__builtin_prefetch((const char *)entry->feed + 3 * MERGE_LINE);
	__builtin_prefetch((const void *)((uintptr_t)entry->bytes));
	__builtin_prefetch((const void *)((uintptr_t)entry->bytes + MERGE_LINE));
	__builtin_prefetch((const void *)((uintptr_t)entry->ec));
	__builtin_prefetch((const void *)((uintptr_t)entry->ec +
					  offsetof(struct ctf_event_class, selected)));
}

/** The events of many streams fall out of the processor's caches before they are shown: fetch the
 *  mark that the first feed needs next, and the feeds and events of which one may be the next. */
static inline void merge_prefetch(const struct merge *merge)
{
	const struct merge_entry *heap = merge->heap;

	if (merge->nr < 3)
		return;
	__builtin_prefetch(heap->feed->marks + heap->feed->mark);
	merge_prefetch_entry(&heap[1]);
	merge_prefetch_entry(&heap[2]);
}

/** Restore the order after the first feed's time has changed. */
static inline void merge_fix_first(struct merge *merge)
{
	struct merge_entry *heap = merge->heap;

	merge_set(heap);
	if ((merge->nr > 1 && merge_is_before(&heap[1], heap)) ||
	    (merge->nr > 2 && merge_is_before(&heap[2], heap)))
		merge_move_first(merge);
}

#endif
