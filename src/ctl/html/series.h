/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.h - values over time, the lines of a page: fields of events that the user named. Owned by
 * one reader. Its memory is bounded: points that are neighbours become one.
 */
#ifndef CTL_HTML_SERIES_H
#define CTL_HTML_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define SERIES_MOST 32u
#define SERIES_POINTS 2048u /* of each */

struct counters;
struct event;

/** The least and the largest value from this time to the next point. */
struct series_point {
	int64_t ns;
	double low, high;
};

/** struct series - @nr_of_point: values of a point; @nr_of_last: of the last one so far. */
struct series {
	const char *name;
	struct series_point *points;
	uint32_t nr;
	uint64_t nr_of_point, nr_of_last;
};

struct series_set {
	struct counters *counters;
	struct series all[SERIES_MOST];
	uint32_t nr;
};

/** @spec: of counters_new(). Return: NULL: it is wrong, or has more than SERIES_MOST fields. */
struct series_set *series_new(const char *spec);
void series_free(struct series_set *set);

/** The event is the next one in time. */
void series_take(struct series_set *set, const struct event *event);

#endif
