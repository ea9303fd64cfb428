/* SPDX-License-Identifier: MIT */
/*
 * lttng/tracef.h - lttng_ust_tracef() and lttng_ust_vtracef() of LTTng-UST: a line of text as the
 * event "lttng_ust_tracef:event". It needs no other file; see lttng/tracepoint.h.
 */
#ifndef LTT_LTTNG_TRACEF_H
#define LTT_LTTNG_TRACEF_H

#include <stdarg.h>

#include <lttng/tracepoint.h>

LTT_TRACEPOINT(lttng_ust_tracef, event, (const char *msg, unsigned int len), LTT_DEBUG,
	       ltt_sequence_text(msg, msg, unsigned int, len))

#define lttng_ust_tracef(...) \
	do { \
		if (ltt_enabled(lttng_ust_tracef, event)) { \
			ltt_log(&ltt_site_lttng_ust_tracef__event, 0, __VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#define lttng_ust_vtracef(format, args) \
	do { \
		if (ltt_enabled(lttng_ust_tracef, event)) { \
			ltt_vlog(&ltt_site_lttng_ust_tracef__event, 0, format, args); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#if LTTNG_UST_COMPAT_API(0)
#define tracef lttng_ust_tracef
#define vtracef lttng_ust_vtracef
#endif

#endif
