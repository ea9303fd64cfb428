/* SPDX-License-Identifier: GPL-2.0-only */
/* connect.h - the connection of a verb with the session daemon. */
#ifndef CTL_CONNECT_H
#define CTL_CONNECT_H

#include "ctl.h"

/** Connect (or not), according to @how. Return: 0 or the code in ctl->err. */
int ctl_connect(struct ctl *ctl, enum verb_daemon how) MUST_CHECK;

/** Whether a daemon runs, but did not answer, so that its sessions are unknown: ctl->err then
 *  names it. */
bool ctl_is_unreached(struct ctl *ctl);

#endif
