/* SPDX-License-Identifier: GPL-2.0-only */
/* The same in C++, where markers register themselves. */
#include <ltt/marker.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(plugin, call, (int x), LTT_INFO, ltt_int(int, x, x))

template <class T> static inline void mark(T x)
{
	trace_mark(plugin_mark, "x %d", (int)x);
}

extern "C" __attribute__((visibility("default"))) void plugin_call(int x)
{
	ltt_trace(plugin, call, x);
	mark(x);
}
