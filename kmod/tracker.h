/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - filter of a channel by ids of the current task. Evaluated in any context, NMIs
 * included; changed in process context, by one task at a time.
 */
#ifndef KMOD_TRACKER_H
#define KMOD_TRACKER_H

#include <linux/types.h>

#include "ltt_kmod.h"

/** struct tracker - filter of a ring set. @on: bits of the kinds of ids that are tracked; for each
 *  of them the task must have one of the listed ids. @tracked: NULL where a kind is not tracked. */
struct tracker {
	u32 on;
	struct tracked_ids *tracked[LTT_KMOD_TRACK_KINDS];
};

/** No task reads it any more. */
void tracker_fini(struct tracker *tracker);

/** Return: 0; -EINVAL, -ENOENT, -EEXIST, -ENOMEM. */
int tracker_change(struct tracker *tracker, const struct ltt_kmod_track *request);
/** Preemption is off. */
bool tracker_wants_current(const struct tracker *tracker);

#endif
