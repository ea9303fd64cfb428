/* SPDX-License-Identifier: GPL-2.0-only */
/* counters.h - fields of events whose values are lines of a time line. Owned by one exporter. */
#ifndef CTL_EXPORT_COUNTERS_H
#define CTL_EXPORT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct counters;
struct event;

/** struct counter - one field. @is_told, @id: of the format. */
struct counter {
	const char *event, *field;
	char *name; /* EVENT.FIELD */
	bool is_told;
	uint64_t id;
};

/** counters_new() - @spec: "EVENT,FIELD[;...]"; NULL: none. Return: NULL: it is wrong. */
struct counters *counters_new(const char *spec);
void counters_free(struct counters *counters);
uint32_t counters_count(const struct counters *counters);
/** Whether events of this name have one of the fields. */
bool counters_have(const struct counters *counters, const char *event);

/** counters_next() - the next field with a value in the event, from @at on, which begins at 0.
 *  Return: NULL: there is none. */
struct counter *counters_next(struct counters *counters, const struct event *event, uint32_t *at,
			      double *ret);

#endif
