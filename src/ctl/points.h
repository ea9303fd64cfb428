/* SPDX-License-Identifier: GPL-2.0-only */
/* points.h - the instrumentation points of running applications. */
#ifndef CTL_POINTS_H
#define CTL_POINTS_H

#include "ctl.h"

/** @ret_presets: not NULL: also the channels that modules or libraries have registered.
 *  Return: 0 and arrays for json_object_put(), or the code in @err. */
int points_fetch(struct ctl *ctl, enum domain_id domain, bool fields, struct json_object **ret,
		 struct json_object **ret_presets, struct err *err) MUST_CHECK;
/** The points of one process, or of a subsystem of the kernel. @points is freed. */
struct json_object *points_of_process(struct json_object *points, const char *process);
/** Those that are recorded or counted now. @points is freed. */
struct json_object *points_active(struct json_object *points);
/** The functions that modules have connected to events and places of the kernel. Return: 0 and an
 *  array for json_object_put(), or a negative errno: the list of ltt.ko can't be read. */
int points_kernel_probes(struct json_object **ret) MUST_CHECK;
/** The name among @points that is nearest to @name, borrowed; NULL. */
const char *points_nearest(struct json_object *points, const char *name);
/** Print points as text, grouped by application. */
void points_text(FILE *out, struct json_object *points);
void points_presets_text(FILE *out, struct json_object *presets);
void points_probes_text(FILE *out, struct json_object *probes);

#endif
