/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - the filter of a session's events of one domain by one kind of ids. Owned by
 * its session; part of the model of ltt-sessiond; pure.
 */
#ifndef CORE_TRACKER_H
#define CORE_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

#define TRACKER_MAX 4096u /* most ids, as they must fit in one message */

/** struct tracker - initially (all zero) the kind is not tracked. */
struct tracker {
	bool limited; /* only tasks with one of @ids are recorded; if @nr is 0, no task */
	uint32_t nr;
	uint32_t *ids; /* ascending */
};

/** Reset the tracker: the kind is not tracked. */
void tracker_clear(struct tracker *tracker);
bool tracker_has(const struct tracker *tracker, uint32_t id);
/** Whether a task with this id is recorded. */
bool tracker_admits(const struct tracker *tracker, uint32_t id);
/** Return: false: the list is full. An id that is in the list already is accepted. */
bool tracker_add(struct tracker *tracker, uint32_t id) MUST_CHECK;
/** Return: false: there is no such id. */
bool tracker_remove(struct tracker *tracker, uint32_t id);

#endif
