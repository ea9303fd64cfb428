/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * library.h - calls of libltt-ctl with lttctl's connection. A verb calls a function of the library
 * with library(), and gives its result to library_done().
 */
#ifndef CTL_LIBRARY_H
#define CTL_LIBRARY_H

#include <ltt/control.h>

#include "verb.h"

/** The library's handle of the connection that ctl->client is now. Freed with the process's end. */
struct ltt_ctl *library(struct ctl *ctl);
/** The end of a call: @code, and the sentence in @err if it is not 0. */
int library_done(struct ctl *ctl, int code, struct err *err);

#endif
