// SPDX-License-Identifier: GPL-2.0-only
/* load.c - the load program with our events. */
#include <ltt/trace.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(bench, num, (int32_t i), LTT_INFO,
	       ltt_int(int32_t, i, i))

LTT_TRACEPOINT(bench, str, (uint64_t a, int32_t b, const char *s), LTT_INFO,
	       ltt_int(uint64_t, a, a),
	       ltt_int(int32_t, b, b),
	       ltt_string(s, s))

#define EMIT_INT(i) ltt_trace(bench, num, i)
#define EMIT_STR(a, b, s) ltt_trace(bench, str, a, b, s)
#define SWITCH() ltt_switch(LTT_SWITCH_PROCESS)
#include "load.h"

int main(int argc, char **argv)
{
	return load_main(argc, argv);
}
