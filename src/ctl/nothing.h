/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nothing.h - why `lttctl record` has recorded nothing. The program's points, as the daemon
 * knows them, go into the record; the advice is printed.
 */
#ifndef CTL_NOTHING_H
#define CTL_NOTHING_H

#include "verb.h"

/**
 * struct nothing - what was asked for.
 * @events: patterns, or NULL: all. @wrap: as given, or NULL.
 */
struct nothing {
	const char *program;
	const char *events;
	const char *wrap;
};

/** Fetch the program's points while its session is there. Return: for record_set(); NULL: the
 *  daemon can't say. */
struct json_object *nothing_fetch(struct ctl *ctl, const char *session);
/** @points: as nothing_fetch() had it, or NULL. */
void nothing_text(FILE *out, struct json_object *points, const struct nothing *nothing);

#endif
