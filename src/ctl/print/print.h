/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - messages for users, on stderr; silent with --quiet. Text from
 * other programs is escaped.
 */
#ifndef CTL_PRINT_PRINT_H
#define CTL_PRINT_PRINT_H

#include "ctl/ctl.h"

void print_error(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Print the lines of ctl->below_error, if there are some, and free them. */
void print_below_error(struct ctl *ctl);
/** Print a warning, and add it to the JSON result. */
void print_warning(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Print information, and add it to the JSON result. */
void print_note(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);
/** Print only with --verbose. */
void print_verbose(struct ctl *ctl, const char *fmt, ...) PRINTF(2, 3);

/** Display on a terminal how long the daemon has not answered. */
void print_waiting(struct ctl *ctl);
/** Name the operation whose end is waited for. */
void print_doing(const char *fmt, ...) PRINTF(1, 2);
/** Display on a terminal how far the reading of traces is; NULL: no longer. */
void print_reading(struct ctl *ctl);
void print_waiting_end(void);

#endif
