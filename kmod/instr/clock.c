// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#include <linux/cache.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/timex.h>

#include "ltt_probe.h"
#include "machine.h"

static char *clock = "";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "the trace clock: cycles or monotonic; default: cycles if the CPU keeps its counter steady");

static enum ltt_trace_clock kind __ro_after_init;

u64 ltt_trace_clock(void)
{
	return kind == LTT_TRACE_CLOCK_CYCLES ? get_cycles() : ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL_GPL(ltt_trace_clock);

enum ltt_trace_clock ltt_trace_clock_kind(void)
{
	return kind;
}
EXPORT_SYMBOL_GPL(ltt_trace_clock_kind);

struct ltt_trace_time ltt_trace_time(void)
{
	return (struct ltt_trace_time){ .value = ltt_trace_clock(), .kind = kind };
}
EXPORT_SYMBOL_GPL(ltt_trace_time);

int instr_clock_init(void)
{
	if (*clock && strcmp(clock, "cycles") && strcmp(clock, "monotonic")) {
		pr_err("ltt: clock=%s: it is cycles or monotonic\n", clock);
		return -EINVAL;
	}
	if (*clock ? !strcmp(clock, "cycles") : machine_counter_is_steady())
		kind = LTT_TRACE_CLOCK_CYCLES;
	return 0;
}
