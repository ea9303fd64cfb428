/* SPDX-License-Identifier: GPL-2.0-only */
/* main.h - declarations of main.c for the other files. */
#ifndef CTL_MAIN_H
#define CTL_MAIN_H

#include "ctl.h"

/** Options of every verb, which may stand before it. */
extern const struct poptOption options_general[];

/** A general option with a value, before or behind the verb. @ret_done: nothing else is to do. */
enum status main_take_option(struct ctl *ctl, int value, bool *ret_done);
/** Take over the variables of those without one. */
void main_take_values(struct ctl *ctl);

#endif
