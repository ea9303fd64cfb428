/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h - spans in groups: number, quantiles and sum of each, and the slowest ones of all.
 * Owned by one reader; its memory is bounded, as the trace may be damaged.
 */
#ifndef ANALYSE_LATENCY_H
#define ANALYSE_LATENCY_H

#include "base/idmap.h"
#include "histogram.h"
#include "span.h"

#define LATENCY_GROUPS_MOST 4096u

/** struct latency_group - @lossy: spans with losses in between. @failed: that ended with errors. */
struct latency_group {
	struct idmap_node node;
	struct histogram histogram;
	uint64_t lossy, failed;
	uint32_t number;
	char label[];
};

/** struct latency_slow - one of the slowest spans. @name, @procname: of the span, instead of its
 *  own; "": unknown. */
struct latency_slow {
	struct span span;
	const struct latency_group *group;
	char *name, *procname;
};

/**
 * struct latency
 * @groups: in the order in which they were seen. @left_out: spans of groups beyond the limit.
 * @slowest: @nr_slowest of at most @most_slowest, the longest first.
 */
struct latency {
	struct latency_group **groups;
	uint32_t nr_groups;
	uint64_t left_out;
	struct latency_slow *slowest;
	uint32_t nr_slowest, most_slowest;
	struct idmap map;
};

struct latency *latency_new(uint32_t most_slowest);
void latency_free(struct latency *latency);

/** The group of a label. Return: NULL: there are too many; count it as left out. */
struct latency_group *latency_group_of(struct latency *latency, const char *label);
/** @group: NULL: left out. */
void latency_take(struct latency *latency, struct latency_group *group, const struct span *span);
/** Sort the groups by the sum of their durations, the largest first. */
void latency_sort(struct latency *latency);

#endif
