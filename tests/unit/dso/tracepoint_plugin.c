/* SPDX-License-Identifier: GPL-2.0-only */
/* An instrumented library; see tracepoint_dlopen.c. */
#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(plugin, call, (int x), LTT_INFO, ltt_int(int, x, x))
LTT_TRACEPOINT(both, call, (int x), LTT_INFO, ltt_int(int, x, x))

__attribute__((visibility("default"))) void plugin_call(int x);
void plugin_call(int x)
{
	ltt_trace(plugin, call, x);
	ltt_trace(both, call, x);
	trace_mark(plugin_mark, "x %d", x);
	ltt_tracef("x %d", x);
}
