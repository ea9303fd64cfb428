/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export.h - the formats of other tools in which `lttctl export` writes a trace. Each has a
 * function that reads the trace to its end and writes the output.
 */
#ifndef CTL_EXPORT_EXPORT_H
#define CTL_EXPORT_EXPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct columns;
struct event;
struct names;
struct pairs;
struct view;
struct view_select;

/**
 * struct exporting - a trace that is being exported.
 * @select: the events; has the pairs where struct export_format.slices is set.
 * @names: that name the functions; @columns: of csv.
 * @file: where the format writes. @counters: "EVENT,FIELD[;...]" whose values are lines; or NULL.
 * @origin_ns: time of the first event of the trace.
 * @dir_fd: of the directory, in place of @file, for formats that are several files.
 */
struct exporting {
	struct view *view;
	const struct view_select *select;
	struct pairs *pairs;
	struct names *names;
	struct columns *columns;
	const char *counters;
	int64_t origin_ns;
	FILE *file;
	int dir_fd;
};

/** export_next() - as event_next(), of the events that are exported. */
int export_next(const struct exporting *exporting, struct event *event) MUST_CHECK;

/* Each of these: Return: 0; negative errno: the output can't be written, or no memory is left. */
int export_csv(const struct exporting *exporting) MUST_CHECK;
int export_json(const struct exporting *exporting) MUST_CHECK;
int export_chrome(const struct exporting *exporting) MUST_CHECK;
int export_perfetto(const struct exporting *exporting) MUST_CHECK;
/* -ENODATA: the trace has no stacks. */
int export_speedscope(const struct exporting *exporting) MUST_CHECK;
int export_folded(const struct exporting *exporting) MUST_CHECK;
int export_parquet(const struct exporting *exporting) MUST_CHECK;

#endif
