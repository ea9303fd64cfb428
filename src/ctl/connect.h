/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * connect.h - the connection with the session daemon: calls of libltt-ctl, by its installed header
 * alone. A verb calls a function of the library with ctl->library, and passes its result to
 * ctl_done().
 */
#ifndef CTL_CONNECT_H
#define CTL_CONNECT_H

#include <ltt/control.h>

#include "ctl.h"

/** Connect (or not), according to @how. Return: 0 or the code in ctl->err. */
int ctl_connect(struct ctl *ctl, enum verb_daemon how) MUST_CHECK;
/** Connect to the daemon that ctl's options select; a connection that there is is closed first.
 *  @start: start one if none runs. Return: 0 or the code in @err. */
int ctl_open(struct ctl *ctl, bool start, struct err *err) MUST_CHECK;
/** Whether there is a connection: it may have been lost during the last call. */
bool ctl_is_connected(const struct ctl *ctl);
/** Whether a daemon runs, but did not answer, so that its sessions are unknown: ctl->err then
 *  names it. */
bool ctl_is_unreached(struct ctl *ctl);
/** Set @err to the error of a call that has returned @code, unless that is 0. A call without a
 *  connection that was lost has the error by which it was lost. Return: the code in @err, or 0. */
int ctl_done(struct ctl *ctl, int code, struct err *err);

#endif
