/* SPDX-License-Identifier: GPL-2.0-only */
/* rotation.h - the schedule of a session's rotations, in records and text. */
#ifndef CTL_SESSION_ROTATION_H
#define CTL_SESSION_ROTATION_H

#include "ctl/ctl.h"

/** Make the verb's record: the session with its schedule, as it is now. */
enum status rotation_record(struct ctl *ctl, const char *session);
/** Print it. */
void rotation_text(FILE *out, struct json_object *record);
/** Print the schedule and the archives of a session's record, each on a line; nothing if it has
 *  none. */
void rotation_show(FILE *out, struct json_object *session);

#endif
