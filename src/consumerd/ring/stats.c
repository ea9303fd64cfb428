/* SPDX-License-Identifier: GPL-2.0-only */
#include "stats.h"

#include "base/macros.h"

#define WORDS (sizeof(struct stats) / sizeof(uint64_t))

_Static_assert(sizeof(struct stats) % sizeof(uint64_t) == 0, "copied word by word");

/* Acquire and release keep these accesses between the two accesses to `seq`. */
static void copy(uint64_t *to, const uint64_t *from)
{
	for (size_t i = 0; i < WORDS; i++)
		__atomic_store_n(to + i, __atomic_load_n(from + i, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

void stats_publish(struct stats_box *box, const struct stats *stats)
{
	__atomic_store_n(&box->seq, box->seq + 1, __ATOMIC_RELAXED);
	copy((uint64_t *)&box->stats, (const uint64_t *)stats);
	__atomic_store_n(&box->seq, box->seq + 1, __ATOMIC_RELEASE);
}

void stats_read(const struct stats_box *box, struct stats *ret)
{
	uint32_t before, after;

	do {
		before = __atomic_load_n(&box->seq, __ATOMIC_ACQUIRE);
		copy((uint64_t *)ret, (const uint64_t *)&box->stats);
		after = __atomic_load_n(&box->seq, __ATOMIC_RELAXED);
	} while ((before & 1) || before != after);
}

void stats_divide(struct stats *stats, uint64_t saved, uint64_t unsaved, uint64_t cleared)
{
	stats->written = MIN(saved, stats->recorded);
	unsaved = MIN(unsaved, stats->recorded - stats->written);
	stats->released = stats->recorded - unsaved;
	stats->cleared = MIN(cleared, stats->released - stats->written);
	stats->overwritten = stats->released - stats->written - stats->cleared;
}
