/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * create.h - create a session as lttctl does, with warnings, and remember it; `create` and
 * `record` share this.
 */
#ifndef CTL_SESSION_CREATE_H
#define CTL_SESSION_CREATE_H

#include <ltt/control.h>

#include "ctl/ctl.h"

/** struct created - a session that was created: its name, and the trace's directory or URL ("":
 *  none). */
struct created {
	char *session;
	char *output;
};

/** Return: 0, or the code in ctl->err; nothing is left behind then. */
int create_session(struct ctl *ctl, struct ltt_ctl_create_options *options,
		   struct created *ret) MUST_CHECK;
/** Store it as current session and last trace; failures are warnings. */
void create_remember(struct ctl *ctl, const struct created *created);
void created_fini(struct created *created);

/** The value of --trace-format, to the options of a session. @text: NULL: the option is not given.
 *  Return: 0 or a code, with ctl->err set. */
int create_take_format(struct ctl *ctl, const char *text,
		       struct ltt_ctl_create_options *ret) MUST_CHECK;

#endif
