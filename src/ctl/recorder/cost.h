/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cost.h - the time that an event takes on this machine: of a small load, which a child of lttctl
 * runs with and without a session of its own. The figures are kept in HOME/.lttrc.
 */
#ifndef RECORDER_COST_H
#define RECORDER_COST_H

#include <ltt/control.h>

#include "ctl/ctl.h"

/** Measure and store the cost of an event of programs, or of these events of the kernel
 *  (comma-separated; NULL: of programs). The reason for a missing one is printed with --verbose. */
void cost_measure(struct ctl *ctl, const char *kernel_events);
/** Return: ns; 0: not measured. */
uint64_t cost_of(enum ltt_ctl_domain domain);

#endif
