/* SPDX-License-Identifier: GPL-2.0-only */
/* main.h - what the rest needs to know of lttctl's beginning. */
#ifndef CTL_MAIN_H
#define CTL_MAIN_H

#include "verb.h"

/** Options that stand before the verb. */
extern const struct poptOption options_general[];

#endif
