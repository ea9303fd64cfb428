/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h - how often the events of a trace came and how long its spans took, in ten slices of
 * its time, and the differences of two traces. The scatter between slices is the noise of a figure:
 * a difference counts if it is larger. Owned by one reader; memory is bounded.
 */
#ifndef ANALYSE_PROFILE_H
#define ANALYSE_PROFILE_H

#include "base/idmap.h"
#include "histogram.h"
#include "span.h"

#define PROFILE_SLICES 10u
#define PROFILE_ITEMS_MOST 4096u /* of a trace */

struct event;

enum profile_kind { PROFILE_EVENTS, PROFILE_SPANS };

/** struct profile_item - the events, or spans, of one name. @slices: durations of spans. */
struct profile_item {
	struct idmap_node node;
	struct profile_item *next;
	enum profile_kind kind;
	uint64_t counts[PROFILE_SLICES];
	struct histogram histogram;
	struct histogram *slices;
	char name[];
};

/** struct profile - @left_out: events and spans of names beyond the limit. */
struct profile {
	int64_t from_ns;
	uint64_t duration_ns, events, left_out;
	struct profile_item *items;
	uint32_t nr_items;
	struct idmap map;
};

/** @from_ns, @until_ns: of the first and last event. */
struct profile *profile_new(int64_t from_ns, int64_t until_ns);
void profile_free(struct profile *profile);
void profile_take_event(struct profile *profile, const struct event *event);
void profile_take_span(struct profile *profile, const struct span *span);
/** Return: NULL: the trace has none of this name. */
struct profile_item *profile_find(const struct profile *profile, enum profile_kind kind,
				  const char *name);

enum profile_figure { PROFILE_RATE, PROFILE_P50, PROFILE_P99 };

/** struct profile_value - @noise: standard error of the mean of the slices. */
struct profile_value {
	double value, noise;
};

/** The rate per second, or a quantile in ns. @item: NULL: there is none: 0. */
struct profile_value profile_value_of(const struct profile *profile,
				      const struct profile_item *item, enum profile_figure figure);

/** Whether two figures differ by more than three times their noise, and by a twentieth. */
bool profile_differs(const struct profile_value *a, const struct profile_value *b);

#endif
