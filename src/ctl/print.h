/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - messages for users, on stderr; silent with --quiet. Text from
 * other programs is escaped.
 */
#ifndef CTL_PRINT_H
#define CTL_PRINT_H

#include "verb.h"

void print_error(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Is in the JSON answer too. */
void print_warning(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Useful information. Is in the JSON result too. */
void print_note(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** With --verbose only. */
void print_verbose(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);

/** Show on a terminal that the daemon's answer is late, and for how long. */
void print_waiting(struct ctl *ctl);
void print_waiting_end(void);

#endif
