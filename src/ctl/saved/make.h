/* SPDX-License-Identifier: GPL-2.0-only */
/* make.h - makes saved sessions again, by requests to the session daemon. */
#ifndef SAVED_MAKE_H
#define SAVED_MAKE_H

#include "ctl/ctl.h"

#define SAVED_FILE "file" /* in the record of a session: where it was read, */
#define SAVED_NAME "saved_name" /* and its name there */

/** struct making - sessions that are being made. @keep_going: parts that can't be made are warned
 *  of, and left out. */
struct making {
	struct ctl *ctl;
	bool keep_going, incomplete;
	bool is_trial; /* without an output */
	struct made *made;
};

/** Make a session of a record of saved_read(); it is not started. Return: 0 or the code in
 *  ctl->err: nothing of this session is left then. */
int make_session(struct making *making, struct json_object *session) MUST_CHECK;
/** Make it under another name, without an output, and destroy it: whether its parts are accepted.
 *  Return: as make_session(). */
int make_trial(struct ctl *ctl, struct json_object *session) MUST_CHECK;
/** Start those that recorded when they were saved. Return: 0 or the code in ctl->err. */
int make_start(struct making *making) MUST_CHECK;
/** Destroy all of them, after a failure. Directories that are empty are removed. */
void make_undo(struct making *making);
/** Add name and output of each to @sessions, an array. */
void make_report(const struct making *making, struct json_object *sessions);
void make_fini(struct making *making);

#endif
