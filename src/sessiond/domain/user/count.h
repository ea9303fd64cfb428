/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - sends the counters of its points, and their changes, to an application. Owned by
 * the link; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_COUNT_H
#define DOMAIN_USER_COUNT_H

#include "link.h"
#include "tally.h"

/** One point and its counter, as sent to the application. */
struct counting {
	uint32_t point;
	int field; /* number of the histogram's field; -1: only hits are counted */
	const struct user_counts *counts;
	uint32_t word;
	uint32_t nr_by; /* fields of the key; 0: none */
	uint32_t by[RULE_BY_FIELDS];
	struct event_filter *filter; /* NULL: each event is counted */
};

/** Send the changes of its counters to the application. */
void link_count(struct user_link *link);
bool link_is_counted(const struct user_link *link, uint32_t point);
/** Remove the counters of points that the application has removed. @points: sorted. */
void link_uncount_points(struct user_link *link, const uint32_t *points, size_t nr);
/** Withdraw all memory for counters. */
void link_drop_counts(struct user_link *link);
void link_counts_free(struct user_link *link);

#endif
