/* SPDX-License-Identifier: GPL-2.0-only */
/* fetch.h - a session of the daemon as its file has it. */
#ifndef SAVED_FETCH_H
#define SAVED_FETCH_H

#include "ctl/ctl.h"

/** Return: a record for saved_write(); NULL: ctl->err is set. */
struct json_object *saved_fetch(struct ctl *ctl, const char *session) MUST_CHECK;
/** Add the triggers of its owner whose condition or actions are about it. Return: 0 or the code in
 *  ctl->err. */
int saved_fetch_triggers(struct ctl *ctl, struct json_object *session) MUST_CHECK;

#endif
