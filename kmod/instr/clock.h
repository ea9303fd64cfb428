/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h - the trace clock of ltt_probe.h. */
#ifndef KMOD_INSTR_CLOCK_H
#define KMOD_INSTR_CLOCK_H

#include <linux/types.h>

/** @kind: enum ltt_clock_kind, of the channel that was created last. */
void ltt_trace_clock_set(u32 kind);

#endif
