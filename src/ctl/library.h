/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * library.h - calls of libltt-ctl with lttctl's connection. A verb calls a function of the library
 * with library(), and passes its result to library_done(). Only library.c includes private headers
 * of the library: lttctl finds its daemons in its own directory, and displays that it waits.
 */
#ifndef CTL_LIBRARY_H
#define CTL_LIBRARY_H

#include <ltt/control.h>

#include "ctl.h"

/** The library's handle of the connection ctl->client. Never freed. */
struct ltt_ctl *library(struct ctl *ctl);
/** Set @err to the error of a call that has returned @code, unless that is 0. Return: @code. */
int library_done(struct ctl *ctl, int code, struct err *err);

/** Connect to the daemon that ctl's options select. @start: start one if none runs.
 *  Return: 0 or the code in @err. */
int library_connect(struct ctl *ctl, bool start, struct err *err) MUST_CHECK;
/** Close the connection, if there is one. */
void library_disconnect(struct ctl *ctl);
/** Call @fn about once a second while an answer is awaited. @fn: NULL: nothing. */
void library_on_waiting(struct ctl *ctl, void (*fn)(void *priv, unsigned int waited_ms),
			void *priv);

/** The runtime directory in which a daemon would be started, allocated; NULL if there is none. */
char *library_rundir(void);
/** The runtime directory of the system's daemon. */
const char *library_system_rundir(void);
/** The first directory of the path @rundir that the caller may not enter, allocated; NULL if there
 *  is none. */
char *library_closed_dir(const char *rundir);
/** Directory of the running program, allocated; NULL if it can't be known. */
char *library_own_dir(void);

#endif
