/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * allocations.h - memory that programs allocate and free, by call site, from the events of
 * `--wrap=libc` and of LTTng-UST's library. Owned by an overview.
 */
#ifndef ANALYSE_ALLOCATIONS_H
#define ANALYSE_ALLOCATIONS_H

#include "base/idmap.h"
#include "base/list.h"
#include "callsites.h"

#define ALLOCATIONS_BLOCKS_MOST (1u << 20) /* that are not freed, of all processes */
#define ALLOCATIONS_SAMPLES 512u	   /* of the bytes that are not freed, over time */

struct event;
struct overview_process;

/** The function that allocates, in the order of their names in allocations.c. */
enum allocations_action {
	ALLOCATIONS_NONE,
	ALLOCATIONS_MALLOC,
	ALLOCATIONS_CALLOC,
	ALLOCATIONS_REALLOC,
	ALLOCATIONS_REALLOCARRAY,
	ALLOCATIONS_MEMALIGN,
	ALLOCATIONS_ALIGNED_ALLOC,
	ALLOCATIONS_POSIX_MEMALIGN,
	ALLOCATIONS_VALLOC,
	ALLOCATIONS_PVALLOC,
	ALLOCATIONS_STRDUP,
	ALLOCATIONS_NEW,
	ALLOCATIONS_NEW_ARRAY,
	ALLOCATIONS_FREE,
	ALLOCATIONS_NR
};

/**
 * struct allocations_site - calls of one function by one chain.
 * @chain: NULL: it was not recorded.
 * @live, @live_bytes: not freed. @lossy: events of its trace were lost since its first one.
 * @peak, @peak_bytes: not freed when all sites together had the most bytes; after
 * allocations_end().
 */
struct allocations_site {
	struct idmap_node node;
	struct allocations_site *next;
	const struct callchain *chain;
	const struct overview_process *process; /* of the latest one */
	enum allocations_action action;
	uint64_t calls, bytes, live, live_bytes, peak, peak_bytes;
	uint64_t peaks; /* of allocations.c: that of which these are */
	int64_t from_ns;
	bool lossy;
};

/** struct allocations_sample - bytes that were not freed, in a part of the time: the most, and at
 *  its end. */
struct allocations_sample {
	uint64_t most_bytes, live_bytes;
};

/**
 * struct allocations
 * @calls, @bytes, @frees: totals; @failed: calls that returned no memory, of which none counts.
 * @live, @live_bytes: not freed; @most_bytes, @most_ns: the largest value of @live_bytes.
 * @unknown_frees: of memory allocated before the trace, or by a lost event.
 * @left_out: allocations beyond ALLOCATIONS_BLOCKS_MOST, of which it is unknown whether they were
 *      freed.
 * @samples: @nr_samples of them, of @sample_ns each, from @samples_from_ns on.
 * @peaks: how often @most_bytes grew.
 */
struct allocations {
	struct allocations_site *sites;
	uint64_t calls, bytes, frees, failed, unknown_frees, left_out;
	uint64_t live, live_bytes, most_bytes, peaks;
	int64_t most_ns, samples_from_ns;
	uint64_t sample_ns;
	uint32_t nr_samples;
	struct allocations_sample samples[ALLOCATIONS_SAMPLES];
	uint32_t nr_sites;
	struct idmap sites_map, blocks_map;
	struct list_node blocks;
	struct callsites *callsites;
};

struct allocations *allocations_new(struct callsites *callsites);
void allocations_free(struct allocations *allocations);

/** The function that events of this name record. */
enum allocations_action allocations_action_of(const char *name);
/** "malloc", ... */
const char *allocations_name(enum allocations_action action);
/** The event is the next one in time. @chosen: by the user: of others, only the frees matter. */
void allocations_take(struct allocations *allocations, const struct overview_process *process,
		      enum allocations_action action, const struct event *event, bool chosen);
/** After the last event, at @ns. */
void allocations_end(struct allocations *allocations, int64_t ns);
enum allocations_order {
	ALLOCATIONS_BY_CALLS,
	ALLOCATIONS_BY_BYTES,
	ALLOCATIONS_BY_LIVE, /* bytes that are not freed; only sites that have some */
	ALLOCATIONS_BY_PEAK, /* the same when there were the most bytes */
};

/** The sites in that order, the largest first; allocated. */
const struct allocations_site **allocations_sorted(const struct allocations *allocations,
						   enum allocations_order order, size_t *ret_nr);

#endif
