/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * say.h - messages for people, on stderr; silent with --quiet. Text from
 * other programs is escaped.
 */
#ifndef CTL_SAY_H
#define CTL_SAY_H

#include "verb.h"

void say_error(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Is in the JSON answer too. */
void say_warning(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Useful information. Is in the JSON result too. */
void say_note(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** With --verbose only. */
void say_verbose(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);

/** Show on a terminal that the daemon takes its time, and how long. */
void say_waiting(struct ctl *ctl);
void say_no_more_waiting(void);

#endif
