/* SPDX-License-Identifier: GPL-2.0-only */
#include "tracker.h"

#include <string.h>

#include "base/mem.h"

void tracker_clear(struct tracker *tracker)
{
	free(tracker->ids);
	*tracker = (struct tracker){ 0 };
}

/* Of the first id that is not smaller. */
static uint32_t core_tracker_place_of(const struct tracker *tracker, uint32_t id)
{
	uint32_t low = 0, high = tracker->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tracker->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tracker_has(const struct tracker *tracker, uint32_t id)
{
	uint32_t at = core_tracker_place_of(tracker, id);

	return at < tracker->nr && tracker->ids[at] == id;
}

bool tracker_admits(const struct tracker *tracker, uint32_t id)
{
	return !tracker->limited || tracker_has(tracker, id);
}

bool tracker_add(struct tracker *tracker, uint32_t id)
{
	uint32_t at = core_tracker_place_of(tracker, id);

	if (at < tracker->nr && tracker->ids[at] == id)
		return true;
	if (tracker->nr >= TRACKER_MAX)
		return false;
	tracker->ids = xrealloc(tracker->ids, (tracker->nr + 1) * sizeof(*tracker->ids));
	memmove(&tracker->ids[at + 1], &tracker->ids[at],
		(tracker->nr - at) * sizeof(*tracker->ids));
	tracker->ids[at] = id;
	tracker->nr++;
	tracker->limited = true;
	return true;
}

bool tracker_remove(struct tracker *tracker, uint32_t id)
{
	uint32_t at = core_tracker_place_of(tracker, id);

	if (at >= tracker->nr || tracker->ids[at] != id)
		return false;
	tracker->nr--;
	memmove(&tracker->ids[at], &tracker->ids[at + 1],
		(tracker->nr - at) * sizeof(*tracker->ids));
	return true;
}
