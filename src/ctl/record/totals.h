/* SPDX-License-Identifier: GPL-2.0-only */
/* totals.h - a session's counts of events, as `stop`, `destroy` and `record` print them. */
#ifndef CTL_RECORD_TOTALS_H
#define CTL_RECORD_TOTALS_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

/** The number of events that are not of state dumps, as far as these have been counted. */
uint64_t totals_events(struct json_object *totals);
/** Count the events of state dumps in the trace below @path, as "state_dump". Where that takes long,
 *  or @path is NULL or not on this machine, the text has a note that they are included. */
void totals_add_state_dump(struct json_object *totals, const char *path);

/** "1,234 events recorded, 0 lost, 1.2 MiB written", no newline; empty for NULL. */
void totals_text(FILE *out, struct json_object *totals);
/** Print ": " and the text above, if there are totals, and end the line. */
void totals_end(FILE *out, struct json_object *totals);

#endif
