/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_text.h - runs the viewer of live sessions, babeltrace2, and prints its lines as `view`
 * prints those of other traces: the process and the thread in front of the event, instead of
 * among its contexts. Of lttctl's only thread.
 */
#ifndef CTL_PRINT_LIVE_TEXT_H
#define CTL_PRINT_LIVE_TEXT_H

#include "base/err.h"

/**
 * live_text_run() - run a viewer until it ends. SIGINT, SIGTERM and SIGHUP end it, too.
 * @argv: NULL at the end. @sigpipe: its disposition of SIGPIPE.
 * Return: its exit status, or 128 and the signal that ended it; -1: the code in @err is set.
 */
int live_text_run(char *const argv[], void (*sigpipe)(int), struct err *err) MUST_CHECK;

#endif
