/* SPDX-License-Identifier: GPL-2.0-only */
/* events.h - the load program's events, as LTTng-UST 2.13 wants them declared. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./events.h"

#if !defined(TESTS_BENCH_PEER_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_PEER_EVENTS_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, num,
	LTTNG_UST_TP_ARGS(int32_t, i),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, i, i)))

LTTNG_UST_TRACEPOINT_EVENT(bench, str,
	LTTNG_UST_TP_ARGS(uint64_t, a, int32_t, b, const char *, s),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a)
		lttng_ust_field_integer(int32_t, b, b)
		lttng_ust_field_string(s, s)))

#endif

#include <lttng/tracepoint-event.h>
