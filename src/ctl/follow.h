/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - print what happens to a session when it happens, a line each, until it is
 * destroyed; also while session daemons come and go. Runs in lttctl's only thread.
 */
#ifndef CTL_FOLLOW_H
#define CTL_FOLLOW_H

#include "verb.h"

/** Return: as `stop` would of all that was recorded; STATUS_ERROR with ctl->err set. Ctrl-C
 *  and a closed output end the process with STATUS_OK. */
enum status follow_session(struct ctl *ctl, const char *session);

#endif
