// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/timex.h>

#include "ltt_probe.h"

static u32 trace_clock;

u64 ltt_trace_clock(void)
{
	return READ_ONCE(trace_clock) == LTT_TRACE_CLOCK_CYCLES ? get_cycles() :
								  ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL_GPL(ltt_trace_clock);

enum ltt_trace_clock ltt_trace_clock_kind(void)
{
	return READ_ONCE(trace_clock);
}
EXPORT_SYMBOL_GPL(ltt_trace_clock_kind);

void ltt_trace_clock_set(u32 kind)
{
	WRITE_ONCE(trace_clock, kind);
}
EXPORT_SYMBOL_GPL(ltt_trace_clock_set);
