/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that leaves the descriptions to another. */
#define LTT_TRACEPOINT_EXTERN
#include "../tracepoint_units.h"

void trace_from_extern(int x)
{
	ltt_trace(u, shared, x);
}
