/* SPDX-License-Identifier: GPL-2.0-only */
/* ltt_example_trace.h - the tracepoint of ltt_example_marker. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ltt_example

#if !defined(LTT_EXAMPLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LTT_EXAMPLE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(ltt_example_step,
	TP_PROTO(unsigned int nr),
	TP_ARGS(nr),
	TP_STRUCT__entry(__field(unsigned int, nr)),
	TP_fast_assign(__entry->nr = nr;),
	TP_printk("nr=%u", __entry->nr)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ltt_example_trace
#include <trace/define_trace.h>
