/* SPDX-License-Identifier: GPL-2.0-only */
/* nested.h - an event whose field is evaluated by a function that may fire it again. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nested
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./nested.h"

#if !defined(NESTED_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define NESTED_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(nested, event,
	LTTNG_UST_TP_ARGS(int, depth, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(before, text)
		lttng_ust_field_integer_nowrite(int, hidden, depth)
		lttng_ust_field_integer(int, depth, evaluate(depth))
		lttng_ust_field_string(after, text)))

#endif

#include <lttng/tracepoint-event.h>
