/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nothing.h - explains why `lttctl record`, or a session, has recorded nothing. The program's
 * instrumentation points, as registered with the daemon, are added to the record; the advice is
 * printed.
 */
#ifndef CTL_RECORD_NOTHING_H
#define CTL_RECORD_NOTHING_H

#include "ctl/ctl.h"

/**
 * struct nothing - the options of the recording. @events: patterns, or NULL: all. @filter, @wrap:
 * the option's value, or NULL. @status: of the program.
 */
struct nothing {
	const char *program;
	const char *events;
	const char *filter;
	const char *wrap;
	uint64_t status;
};

/** Fetch the program's points before its session is destroyed. Return: a value for json_set();
 *  NULL: not available. */
struct json_object *nothing_fetch(struct ctl *ctl, const char *session);
/** Print the advice. @points: from nothing_fetch(), or NULL. */
void nothing_text(FILE *out, struct json_object *points, const struct nothing *nothing);

/** Print a note why a session has recorded no event, if it has not, and lost none. @totals: of the
 *  session. */
void nothing_note(struct ctl *ctl, const char *session, struct json_object *totals);

#endif
