/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - filter of a channel by ids of the current task. Evaluated in any context, NMIs
 * included; changed in process context, by one task at a time.
 */
#ifndef KMOD_TRACKER_H
#define KMOD_TRACKER_H

#include <linux/types.h>

#include "family.h"
#include "ltt_kmod.h"

/** struct tracker - filter of a ring set. @on: bits of the kinds of ids that are tracked; for each
 *  of them the task must have one of the listed ids. @tracked: NULL where a kind is not tracked.
 *  @family: of LTT_KMOD_TRACK_FAMILY; made when that is first tracked. */
struct tracker {
	u32 on;
	struct tracked_ids *tracked[LTT_KMOD_TRACK_KINDS];
	struct family *family;
};

/** No task reads it any more. */
void tracker_fini(struct tracker *tracker);

/** Return: 0; -EINVAL, -ENOENT, -EEXIST, -ENOMEM; -ESRCH: of a family. */
int tracker_change(struct tracker *tracker, const struct ltt_kmod_track *request);
/** Preemption is off. */
bool tracker_wants_current(const struct tracker *tracker);
/** The same for an event about the thread @tid, which is of its family's events as well. */
bool tracker_wants_about(const struct tracker *tracker, u32 tid);

#endif
