/* SPDX-License-Identifier: GPL-2.0-only */
/* main.h - declarations of main.c for the other files. */
#ifndef CTL_MAIN_H
#define CTL_MAIN_H

#include "ctl.h"

/** Options that stand before the verb. */
extern const struct poptOption options_general[];

#endif
