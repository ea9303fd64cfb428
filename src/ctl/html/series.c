/* SPDX-License-Identifier: GPL-2.0-only */
#include "series.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ctl/export/counters.h"
#include "read/event.h"

struct series_set *series_new(const char *spec)
{
	struct series_set *set = xalloc(sizeof(*set));

	set->counters = counters_new(spec);
	if (set->counters && counters_count(set->counters) <= SERIES_MOST)
		return set;
	series_free(set);
	return NULL;
}

void series_free(struct series_set *set)
{
	if (!set)
		return;
	for (uint32_t i = 0; i < set->nr; i++)
		free(set->all[i].points);
	counters_free(set->counters);
	free(set);
}

static struct series *series_of(struct series_set *set, struct counter *counter)
{
	struct series *series;

	if (counter->is_told)
		return &set->all[counter->id];
	counter->is_told = true;
	counter->id = set->nr;
	series = &set->all[set->nr++];
	*series = (struct series){ .name = counter->name, .nr_of_point = 1 };
	series->points = xalloc(SERIES_POINTS * sizeof(*series->points));
	return series;
}

static void series_widen(struct series_point *point, double low, double high)
{
	point->low = MIN(point->low, low);
	point->high = MAX(point->high, high);
}

static void series_halve(struct series *series)
{
	for (uint32_t i = 0; i < series->nr; i += 2) {
		const struct series_point *second = &series->points[i + 1];

		series->points[i / 2] = series->points[i];
		series_widen(&series->points[i / 2], second->low, second->high);
	}
	series->nr /= 2;
	series->nr_of_point *= 2;
}

static void series_add(struct series *series, int64_t ns, double value)
{
	if (series->nr && series->nr_of_last < series->nr_of_point) {
		series_widen(&series->points[series->nr - 1], value, value);
		series->nr_of_last++;
		return;
	}
	if (series->nr == SERIES_POINTS) {
		series_halve(series);
		series->nr_of_last = series->nr_of_point;
	}
	series->points[series->nr++] = (struct series_point){ ns, value, value };
	series->nr_of_last = 1;
}

void series_take(struct series_set *set, const struct event *event)
{
	struct counter *counter;
	uint32_t at = 0;
	double value;

	while ((counter = counters_next(set->counters, event, &at, &value)))
		if (isfinite(value))
			series_add(series_of(set, counter), event->ns, value);
}
