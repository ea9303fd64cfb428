/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * library.h - calls of libltt-ctl, by its installed header alone. A verb calls a function of the
 * library with library(), and passes its result to library_done().
 */
#ifndef CTL_LIBRARY_H
#define CTL_LIBRARY_H

#include <ltt/control.h>

#include "ctl.h"

/** The library's handle, connected or not. Never freed. */
struct ltt_ctl *library(struct ctl *ctl);
/** Set @err to the error of a call that has returned @code, unless that is 0. A call without a
 *  connection that was lost has the error by which it was lost. Return: the code in @err, or 0. */
int library_done(struct ctl *ctl, int code, struct err *err);

/** Connect to the daemon that ctl's options select; a connection that there is is closed first.
 *  @start: start one if none runs. Return: 0 or the code in @err. */
int library_connect(struct ctl *ctl, bool start, struct err *err) MUST_CHECK;
/** Whether there is a connection: it may have been lost during the last call. */
bool library_is_connected(const struct ctl *ctl);

#endif
