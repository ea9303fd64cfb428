// SPDX-License-Identifier: GPL-2.0-only
/* load.c - the load program with LTTng-UST's events; tests/bench/run builds it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "events.h"

#define EMIT_INT(i) lttng_ust_tracepoint(bench, num, i)
#define EMIT_STR(a, b, s) lttng_ust_tracepoint(bench, str, a, b, s)
#include "../load.h"

int main(int argc, char **argv)
{
	return load_main(argc, argv);
}
