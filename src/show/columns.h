/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * columns.h - events as rows of a table, with the columns that `--columns` names, as aligned text
 * or as CSV (RFC 4180). A line with the columns' names comes first. Belongs to one show_trace().
 */
#ifndef SHOW_COLUMNS_H
#define SHOW_COLUMNS_H

#include <stdbool.h>

#include "base/err.h"

struct columns;
struct pen;
struct view;

/** @names: separated by commas; NULL: the usual ones. @delta: add the time since the event before,
 *  unless it is named. Return: 0, or the code in @err. */
int columns_new(const char *names, bool csv, bool delta, struct columns **ret,
		struct err *err) MUST_CHECK;
/** columns_copy() - the same columns for another thread, of a table that is begun. */
struct columns *columns_copy(const struct columns *columns);
bool columns_are_csv(const struct columns *columns);
void columns_free(struct columns *columns);

/** Whether there is one for durations. */
bool columns_have_duration(const struct columns *columns);

/** A sentence about the first column for which no trace declares a field or context; allocated.
 *  NULL: there is none. */
char *columns_unknown(const struct columns *columns, const struct view *view);

/** Write the first line, unless it was. */
void columns_begin(struct columns *columns, struct pen *pen);

#endif
