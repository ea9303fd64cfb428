/* SPDX-License-Identifier: GPL-2.0-only */
/* totals.h - a session's counts of events, as `stop`, `destroy` and `record` print them. */
#ifndef CTL_TOTALS_H
#define CTL_TOTALS_H

#include <json-c/json.h>
#include <stdio.h>

/** "1,234 events recorded, 0 lost, 1.2 MiB written", no newline; empty for NULL. */
void totals_text(FILE *out, struct json_object *totals);
/** Print ": " and the text above, if there are totals, and end the line. */
void totals_end(FILE *out, struct json_object *totals);

/** One of the counts for a table, in @buf of TEXT_BYTES; "?" if it is not known. */
const char *totals_count(struct json_object *totals, const char *key, char *buf);

#endif
