/* SPDX-License-Identifier: GPL-2.0-only */
/* help.h - usage of lttctl and its verbs, and their manual pages. */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include "ctl.h"

void help_general(FILE *out);
void help_verb(FILE *out, const struct verb *verb);
/** Open the manual page of a verb (NULL: of lttctl), or print the usage if there is none. */
enum status help_open(const struct verb *verb);

#endif
