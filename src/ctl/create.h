/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * create.h - create a session as lttctl does, with warnings, and remember it; `create` and
 * `record` share this.
 */
#ifndef CTL_CREATE_H
#define CTL_CREATE_H

#include "libctl/creation.h"
#include "verb.h"

/** Return: 0, or the code in ctl->err; nothing is left behind then. */
int create_session(struct ctl *ctl, struct creation *creation) MUST_CHECK;
/** Store it as current session and last trace; failures are warnings. */
void create_remember(struct ctl *ctl, const struct creation *creation, bool current);

#endif
