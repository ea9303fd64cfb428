/* SPDX-License-Identifier: GPL-2.0-only */
/* output.h - the output of a session as its file has it. */
#ifndef SAVED_OUTPUT_H
#define SAVED_OUTPUT_H

#include <json-c/json.h>

#define OUTPUT_SPOOL_BYTES (256u << 20) /* of a session that gets a relay, as with `create` */

/** Set one of `output`, `output_parent` and `url` in the record of a session, which has its name
 *  and `live_us`, for a trace at @output: a directory, or the URL of a relay; "": no trace is
 *  written. */
void output_set(struct json_object *session, const char *output);

#endif
