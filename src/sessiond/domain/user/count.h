/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - the counters that an application was sent: the counterpart of arms for rules that
 * count. Owned by the link.
 */
#ifndef DOMAIN_USER_COUNT_H
#define DOMAIN_USER_COUNT_H

#include "link.h"

struct user_counts;

/** One point and its counter, as sent to the application. */
struct counting {
	uint32_t point;
	int field; /* -1: hits alone */
	const struct user_counts *counts;
	uint32_t word;
};

/** Send the changes of its counters to the application. */
void link_count(struct user_link *link);
bool link_is_counted(const struct user_link *link, uint32_t point);
/** The application does not have the point any more: nothing to withdraw. */
/** Remove those of removed points; @points is sorted. */
void link_uncount_points(struct user_link *link, const uint32_t *points, size_t nr);
/** Withdraw all memory for counters. */
void link_drop_counts(struct user_link *link);
void link_counts_free(struct user_link *link);

#endif
