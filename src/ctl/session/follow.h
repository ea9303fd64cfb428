/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - print the changes of a session as they happen, a line each, until it is destroyed;
 * also across restarts of session daemons. Runs in lttctl's only thread.
 */
#ifndef CTL_SESSION_FOLLOW_H
#define CTL_SESSION_FOLLOW_H

#include "ctl/ctl.h"

/** Return: STATUS_LOST and the like for the session's losses, as `lttctl stop` returns them;
 *  STATUS_ERROR with ctl->err set. Ctrl-C and a closed output end the process with STATUS_OK. */
enum status follow_session(struct ctl *ctl, const char *session);

#endif
