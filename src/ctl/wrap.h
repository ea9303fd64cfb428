/* SPDX-License-Identifier: GPL-2.0-only */
/* wrap.h - the wrapper libraries, which are preloaded to trace unmodified programs. */
#ifndef CTL_WRAP_H
#define CTL_WRAP_H

#include "ctl.h"

/**
 * wrap_environment() - "LD_PRELOAD=..." for a list of wrappers ("libc,pthread"),
 * appended to the current value; allocated. NULL: ctl->err is set.
 */
char *wrap_environment(struct ctl *ctl, const char *list);

#endif
