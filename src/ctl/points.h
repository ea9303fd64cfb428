/* SPDX-License-Identifier: GPL-2.0-only */
/* points.h - the instrumentation points of running applications. */
#ifndef CTL_POINTS_H
#define CTL_POINTS_H

#include <ltt/control.h>

#include "ctl.h"

/**
 * struct points - @sorted: by application, then by name; of @list.
 */
struct points {
	struct ltt_ctl_points *list; /* NULL: not fetched */
	const struct ltt_ctl_point **sorted;
	size_t nr;
};

/** Return: 0 and @points for points_free(), or the code in @err. */
int points_fetch(struct ctl *ctl, enum domain_id domain, bool fields, struct points *points,
		 struct err *err) MUST_CHECK;
void points_free(struct points *points);
/** Keep the points of one process, or of a subsystem of the kernel; NULL: those that are recorded
 *  or counted now. */
void points_keep(struct points *points, const char *process);
/** Append a record of each. */
void points_record(const struct points *points, struct json_object *array);
/** The functions that modules have connected to events and places of the kernel. Return: 0 and an
 *  array for json_object_put(), or a negative errno: the list of ltt.ko can't be read. */
int points_kernel_probes(struct json_object **ret) MUST_CHECK;
/** The name among @points that is nearest to @name, borrowed; NULL. */
const char *points_nearest(const struct points *points, const char *name);
/** Print points as text, grouped by application. */
void points_text(FILE *out, const struct points *points);
void points_presets_text(FILE *out, struct json_object *presets);
void points_probes_text(FILE *out, struct json_object *probes);

#endif
