/* SPDX-License-Identifier: GPL-2.0-only */
/* points.h - the instrumentation points of running applications. */
#ifndef CTL_SESSION_POINTS_H
#define CTL_SESSION_POINTS_H

#include <ltt/control.h>

#include "ctl/ctl.h"

struct logger_domain;

/** Call @fn for each point of a domain, by application, then by name; it makes no call to the
 *  daemon. Return: 0, or the code in @err. */
int points_each(struct ctl *ctl, enum domain_id domain,
		void (*fn)(const struct ltt_ctl_point *point, void *data), void *data,
		struct err *err) MUST_CHECK;
/** The functions that modules have connected to events and places of the kernel. Return: 0 and an
 *  array for json_object_put(), or a negative errno: the list of ltt.ko can't be read. */
int points_kernel_probes(struct json_object **ret) MUST_CHECK;

/**
 * struct points_output - points that are written as they are received.
 * @out: has them afterwards, as text or as the elements of a JSON array.
 * @only: the process, or the subsystem of the kernel, whose points are written; NULL: all.
 * @loggers: only the event of this library, and its loggers; NULL: all events, and no loggers.
 * @only_active: of these, those that are recorded or counted now.
 * @array: the points are appended to it instead; NULL: they are written.
 * @nr: number of points written.
 */
struct points_output {
	FILE *out;
	bool json, fields, only_active;
	const char *only;
	const struct logger_domain *loggers;
	struct json_object *array;
	size_t nr;
	uint32_t pid;  /* of the last point */
	char *process; /* likewise, if it is the kernel's */
};

/** Write the points of a domain behind those that @output has. @ret: with the presets, for
 *  ltt_ctl_points_free(). Return: 0, or the code in @err. */
int points_write(struct ctl *ctl, enum domain_id domain, struct points_output *output,
		 struct ltt_ctl_points **ret, struct err *err) MUST_CHECK;

void points_presets_text(FILE *out, struct json_object *presets);
void points_probes_text(FILE *out, struct json_object *probes);

#endif
