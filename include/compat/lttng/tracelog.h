/* SPDX-License-Identifier: MIT */
/*
 * lttng/tracelog.h - lttng_ust_tracelog() and lttng_ust_vtracelog() of LTTng-UST: a line of text
 * with its place in the source, as the event "lttng_ust_tracelog:LEVEL". It needs no other file;
 * see lttng/tracepoint.h.
 */
#ifndef LTT_LTTNG_TRACELOG_H
#define LTT_LTTNG_TRACELOG_H

#include <stdarg.h>

#include <lttng/tracepoint.h>

LTT_EVENT_CLASS(lttng_ust_tracelog, tlclass,
		(int line, const char *file, const char *func, const char *msg, unsigned int len),
		ltt_int(int, line, line),
		ltt_string(file, file),
		ltt_string(func, func),
		ltt_sequence_text(msg, msg, unsigned int, len))

/* Levels are named by constants, which programs pass on. */
#define LTT__LTTNG_LEVEL(name) \
	LTT__EVENT(lttng_ust_tracelog__tlclass, \
		   lttng_ust_tracelog__LTTNG_UST_TRACEPOINT_LOGLEVEL_##name, \
		   "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_" #name, LTT_##name)
LTT__LTTNG_LEVEL(EMERG)
LTT__LTTNG_LEVEL(ALERT)
LTT__LTTNG_LEVEL(CRIT)
LTT__LTTNG_LEVEL(ERR)
LTT__LTTNG_LEVEL(WARNING)
LTT__LTTNG_LEVEL(NOTICE)
LTT__LTTNG_LEVEL(INFO)
LTT__LTTNG_LEVEL(DEBUG_SYSTEM)
LTT__LTTNG_LEVEL(DEBUG_PROGRAM)
LTT__LTTNG_LEVEL(DEBUG_PROCESS)
LTT__LTTNG_LEVEL(DEBUG_MODULE)
LTT__LTTNG_LEVEL(DEBUG_UNIT)
LTT__LTTNG_LEVEL(DEBUG_FUNCTION)
LTT__LTTNG_LEVEL(DEBUG_LINE)
LTT__LTTNG_LEVEL(DEBUG)
#undef LTT__LTTNG_LEVEL

#define LTT__LTTNG_LOG(level, function_, ...) \
	do { \
		if (ltt_enabled(lttng_ust_tracelog, level)) { \
			const struct ltt_log_place ltt__place = { __FILE__, __func__, __LINE__ }; \
			function_(&ltt_site_lttng_ust_tracelog__##level, &ltt__place, \
				  __VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)
/* TRACE_INFO is a macro of such a constant's name. */
#define LTT__LTTNG_LOG_(...) LTT__LTTNG_LOG(__VA_ARGS__)

#define lttng_ust_tracelog(level, ...) LTT__LTTNG_LOG_(level, ltt_log, __VA_ARGS__)
#define lttng_ust_vtracelog(level, format, args) LTT__LTTNG_LOG_(level, ltt_vlog, format, args)

#if LTTNG_UST_COMPAT_API(0)
#define tracelog lttng_ust_tracelog
#define vtracelog lttng_ust_vtracelog
#endif

#endif
