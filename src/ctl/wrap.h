/* SPDX-License-Identifier: GPL-2.0-only */
/* wrap.h - the preloadable wrappers that make programs traceable without a change. */
#ifndef CTL_WRAP_H
#define CTL_WRAP_H

#include "verb.h"

/**
 * wrap_environment() - "LD_PRELOAD=..." for a list of wrappers ("libc,pthread"),
 * behind what is preloaded already; allocated. NULL: ctl->err is set.
 */
char *wrap_environment(struct ctl *ctl, const char *list);

#endif
