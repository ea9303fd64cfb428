/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - filter of a channel by ids of the current task. Evaluated in any context, NMIs
 * included; changed in process context, by one task at a time.
 */
#ifndef KMOD_TRACKER_H
#define KMOD_TRACKER_H

#include <linux/xarray.h>

#include "ltt_kmod.h"

/** struct tracker - filter of a ring set. @on: bits of the kinds of ids that are filtered; for each
 *  of them the task must have one of the listed ids. */
struct tracker {
	u32 on;
	struct xarray ids[LTT_KMOD_TRACK_KINDS];
};

void tracker_init(struct tracker *tracker);
void tracker_fini(struct tracker *tracker);

/** Return: 0; -EINVAL, -ENOENT, -EEXIST, -ENOMEM. */
int tracker_change(struct tracker *tracker, const struct ltt_kmod_track *request);
bool tracker_wants_current(struct tracker *tracker);

#endif
