/* SPDX-License-Identifier: GPL-2.0-only */
#include "../tracepoint_units.h"

void trace_from_other(int x)
{
	ltt_trace(u, second, x);
	ltt_trace(u, shared, x);
}
