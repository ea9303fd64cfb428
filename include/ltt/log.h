/* SPDX-License-Identifier: MIT */
/*
 * ltt/log.h - log lines as events, without declaring anything. Link with -lltt.
 *
 *	ltt_tracef("connected to %s", host);
 *		the event "ltt_tracef:event" with the field msg.
 *	ltt_tracelog(LTT_WARNING, "%d retries", n);
 *		the event "ltt_tracelog:WARNING", of that level, with the fields
 *		line, file, function and msg. The level is written as one of the
 *		names of enum ltt_loglevel.
 *	ltt_vtracef(format, va_list), ltt_vtracelog(level, format, va_list)
 *
 * The compiler checks the format as printf's. The line is formatted only while there is a
 * listener. Thread safe; keeps errno; as safe in a signal handler as vsnprintf() is (glibc's is,
 * but for long double and for very wide fields). A tracepoint (ltt/tracepoint.h) takes a tenth of
 * the time.
 */
#ifndef LTT_LOG_H
#define LTT_LOG_H

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(ltt_tracef, event, (const char *msg), LTT_DEBUG, ltt_string(msg, msg))

LTT_EVENT_CLASS(ltt_tracelog, line,
		(int32_t line, const char *file, const char *function, const char *msg),
		ltt_int(int32_t, line, line),
		ltt_string(file, file),
		ltt_string(function, function),
		ltt_string(msg, msg))

#define LTT__LOG_LEVEL(name) \
	LTT__EVENT(ltt_tracelog__line, ltt_tracelog__LTT_##name, "ltt_tracelog:" #name, LTT_##name)
LTT__LOG_LEVEL(EMERG)
LTT__LOG_LEVEL(ALERT)
LTT__LOG_LEVEL(CRIT)
LTT__LOG_LEVEL(ERR)
LTT__LOG_LEVEL(WARNING)
LTT__LOG_LEVEL(NOTICE)
LTT__LOG_LEVEL(INFO)
LTT__LOG_LEVEL(DEBUG_SYSTEM)
LTT__LOG_LEVEL(DEBUG_PROGRAM)
LTT__LOG_LEVEL(DEBUG_PROCESS)
LTT__LOG_LEVEL(DEBUG_MODULE)
LTT__LOG_LEVEL(DEBUG_UNIT)
LTT__LOG_LEVEL(DEBUG_FUNCTION)
LTT__LOG_LEVEL(DEBUG_LINE)
LTT__LOG_LEVEL(DEBUG)
#undef LTT__LOG_LEVEL

#define ltt_tracef(...) \
	do { \
		if (ltt_enabled(ltt_tracef, event)) { \
			ltt_log(&ltt_site_ltt_tracef__event, 0, __VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#define ltt_vtracef(format, args) \
	do { \
		if (ltt_enabled(ltt_tracef, event)) { \
			ltt_vlog(&ltt_site_ltt_tracef__event, 0, format, args); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#define LTT__LOG(level, function_, ...) \
	do { \
		if (ltt_enabled(ltt_tracelog, level)) { \
			const struct ltt_log_place ltt__place = { __FILE__, __func__, __LINE__ }; \
			function_(&ltt_site_ltt_tracelog__##level, &ltt__place, __VA_ARGS__); \
			LTT__RETURNS_HERE(); \
		} \
	} while (0)

#define ltt_tracelog(level, ...) LTT__LOG(level, ltt_log, __VA_ARGS__)
#define ltt_vtracelog(level, format, args) LTT__LOG(level, ltt_vlog, format, args)

#endif
