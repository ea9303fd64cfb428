// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * tracef() and tracelog(): a line of text as an event, and the words that programs read to see
 * whether it is wanted. Any thread, any signal handler.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ltt/payload.h>

#include "event.h"
#include "old/abi.h"

#define LINE_BYTES 1024u

#define TEXT_FIELD                                                                           \
	{                                                                                    \
		.name = "msg", .kind = LTT_KIND_SEQUENCE, .size_bits = 8, .length_bits = 32, \
		.base = 10, .flags = LTT_FIELD_TEXT | LTT_FIELD_SIGNED                       \
	}

static const struct ltt_field tracef_fields[] = { TEXT_FIELD };
static const struct ltt_field tracelog_fields[] = {
	{ .name = "line",
	  .kind = LTT_KIND_INT,
	  .size_bits = 32,
	  .base = 10,
	  .flags = LTT_FIELD_SIGNED },
	{ .name = "file", .kind = LTT_KIND_STRING },
	{ .name = "func", .kind = LTT_KIND_STRING },
	TEXT_FIELD,
};

/** struct line_site - libltt's site, and the program's words: of 2.13 and later, and before. */
struct line_site {
	struct ltt_site site;
	int *words[2];
};

static void line_changed(struct ltt_site *site, int listened)
{
	int *const *words = ((struct line_site *)site)->words;

	for (int i = 0; i < 2; i++)
		if (words[i])
			__atomic_store_n(words[i], listened, __ATOMIC_RELEASE);
}

/* The word of an event, which may be in the program. */
#define WORD(provider_, name_, signature_)                                                  \
	EXPORT struct lttng_ust_tracepoint lttng_ust_tracepoint_##provider_##___##name_ = { \
		.size = sizeof(struct lttng_ust_tracepoint),                                \
		.provider = #provider_,                                                     \
		.event = #name_,                                                            \
		.signature = signature_,                                                    \
	};
#define OLD_WORD(provider_, name_, signature_)                          \
	EXPORT struct old_site __tracepoint_##provider_##___##name_ = { \
		.name = #provider_ ":" #name_,                          \
		.signature = signature_,                                \
	};

/* An event of @provider with @fields. */
#define LINE(id, provider_, name_, level, fields_)                   \
	static const struct ltt_event event_##id = {                 \
		.size = sizeof(struct ltt_event),                    \
		.field_size = sizeof(struct ltt_field),              \
		.nr_fields = sizeof(fields_) / sizeof((fields_)[0]), \
		.name = #provider_ ":" #name_,                       \
		.fields = fields_,                                   \
		.file = "",                                          \
		.function = "",                                      \
		.kind = LTT_EVENT_TRACEPOINT,                        \
		.loglevel = level,                                   \
		.reserved = { LTT_EVENT_TELLS_IP },                  \
	};                                                           \
	static struct line_site site_##id = {                        \
		.site = { .size = sizeof(struct ltt_site),           \
			  .event = &event_##id,                      \
			  .changed = line_changed },                 \
	};

/* --- recording ------------------------------------------------------------------------------- */

/** struct line - a line that is formatted: the text is where it is recorded, if it is short. */
struct line {
	const char *file, *function;
	int number;
	const char *format;
	const void *ip;
};

static unsigned char *put_place(unsigned char *to, const struct line *line)
{
	if (!line->file)
		return to;
	to = ltt__put(to, &line->number, sizeof(line->number));
	to = ltt__put_string(to, line->file, strlen(line->file));
	return ltt__put_string(to, line->function, strlen(line->function));
}

static size_t place_bytes(const struct line *line)
{
	if (!line->file)
		return 0;
	return sizeof(line->number) + strlen(line->file) + 1 + strlen(line->function) + 1;
}

/* @to has room for @room characters and their end. */
static void line_emit_at(unsigned char *memory, size_t room, struct ltt_site *site,
			 const struct line *line, va_list args)
{
	unsigned char *length = put_place(memory, line), *text = length + sizeof(uint32_t);
	const int bytes = vsnprintf((char *)text, room + 1, line->format, args);
	const uint32_t recorded = bytes < 0	       ? 0 :
				  (size_t)bytes > room ? (uint32_t)room :
							 (uint32_t)bytes;

	memcpy(length, &recorded, sizeof(recorded));
	ltt_emit_at(site, memory, (size_t)(text - memory) + recorded, 0, line->ip);
}

static void line_emit(struct ltt_site *site, const struct line *line, va_list args)
{
	unsigned char memory[LINE_BYTES + LTT_PAYLOAD_SLACK];
	const size_t before = place_bytes(line) + sizeof(uint32_t);
	unsigned char *staged;
	va_list again;
	char none[1];
	int bytes;

	va_copy(again, args);
	bytes = vsnprintf(none, sizeof(none), line->format, again);
	va_end(again);
	if (bytes < 0)
		return;
	if (before + (size_t)bytes < LINE_BYTES) {
		line_emit_at(memory, (size_t)bytes, site, line, args);
		return;
	}
	staged = ltt_stage(site, before + (size_t)bytes + 1);
	if (!staged)
		return;
	line_emit_at(staged, (size_t)bytes, site, line, args);
	ltt_unstage(staged);
}

/* --- the events ------------------------------------------------------------------------------ */

#define TRACEF_SIGNATURE "const char *, msg, unsigned int, len, void *, ip"
WORD(lttng_ust_tracef, event, TRACEF_SIGNATURE)
OLD_WORD(lttng_ust_tracef, event, TRACEF_SIGNATURE)
LINE(tracef, lttng_ust_tracef, event, LTT_DEBUG, tracef_fields)

EXPORT void lttng_ust__vtracef(const char *format, va_list args)
{
	const struct line line = { .format = format, .ip = __builtin_return_address(0) };

	line_emit(&site_tracef.site, &line, args);
}

EXPORT void lttng_ust__tracef(const char *format, ...)
{
	const struct line line = { .format = format, .ip = __builtin_return_address(0) };
	va_list args;

	va_start(args, format);
	line_emit(&site_tracef.site, &line, args);
	va_end(args);
}

#define LEVELS(X)                                                                              \
	X(EMERG)                                                                               \
	X(ALERT)                                                                               \
	X(CRIT) X(ERR) X(WARNING) X(NOTICE) X(INFO) X(DEBUG_SYSTEM) X(DEBUG_PROGRAM)           \
		X(DEBUG_PROCESS) X(DEBUG_MODULE) X(DEBUG_UNIT) X(DEBUG_FUNCTION) X(DEBUG_LINE) \
			X(DEBUG)

#define TRACELOG_SIGNATURE                                                       \
	"const char *, file, int, line, const char *, func, const char *, msg, " \
	"unsigned int, len, void *, ip"

/* The event @name and its functions, whose names begin with @function and @vfunction. */
#define TRACELOG(id, name, level, function_, vfunction_)                           \
	LINE(id, lttng_ust_tracelog, name, level, tracelog_fields)                 \
	EXPORT void vfunction_(const char *file, int number, const char *function, \
			       const char *format, va_list args)                   \
	{                                                                          \
		const struct line line = { file, function, number, format,         \
					   __builtin_return_address(0) };          \
		line_emit(&site_##id.site, &line, args);                           \
	}                                                                          \
	EXPORT void function_(const char *file, int number, const char *function,  \
			      const char *format, ...)                             \
	{                                                                          \
		const struct line line = { file, function, number, format,         \
					   __builtin_return_address(0) };          \
		va_list args;                                                      \
		va_start(args, format);                                            \
		line_emit(&site_##id.site, &line, args);                           \
		va_end(args);                                                      \
	}

#define NEW_LEVEL(level)                                                                    \
	WORD(lttng_ust_tracelog, LTTNG_UST_TRACEPOINT_LOGLEVEL_##level, TRACELOG_SIGNATURE) \
	TRACELOG(level, LTTNG_UST_TRACEPOINT_LOGLEVEL_##level, LTT_##level,                 \
		 lttng_ust__tracelog_LTTNG_UST_TRACEPOINT_LOGLEVEL_##level,                 \
		 lttng_ust__vtracelog_LTTNG_UST_TRACEPOINT_LOGLEVEL_##level)
#define OLD_LEVEL(level)                                                                     \
	OLD_WORD(lttng_ust_tracelog, TRACE_##level, TRACELOG_SIGNATURE)                      \
	TRACELOG(OLD_##level, TRACE_##level, LTT_##level, _lttng_ust_tracelog_TRACE_##level, \
		 _lttng_ust_vtracelog_TRACE_##level)

LEVELS(NEW_LEVEL)
LEVELS(OLD_LEVEL)

EXPORT void _lttng_ust_tracef(const char *format, ...)
{
	const struct line line = { .format = format, .ip = __builtin_return_address(0) };
	va_list args;

	va_start(args, format);
	line_emit(&site_tracef.site, &line, args);
	va_end(args);
}

#define NEW_SITE(level) &site_##level.site,
#define OLD_SITE(level) &site_OLD_##level.site,
static struct ltt_site *const line_sites[] = { &site_tracef.site, LEVELS(NEW_SITE) };
static struct ltt_site *const old_line_sites[] = { LEVELS(OLD_SITE) };

#define NEW_JOIN(level)                                                                          \
	site_##level.words[0] =                                                                  \
		&lttng_ust_tracepoint_lttng_ust_tracelog___LTTNG_UST_TRACEPOINT_LOGLEVEL_##level \
			 .state;
#define OLD_JOIN(level) \
	site_OLD_##level.words[1] = &__tracepoint_lttng_ust_tracelog___TRACE_##level.state;

/* Those of 2.12 and before are listed where a program has the library of that time. */
static __attribute__((constructor)) void log_start(void)
{
	const size_t nr = sizeof(line_sites) / sizeof(line_sites[0]);
	const size_t nr_old = sizeof(old_line_sites) / sizeof(old_line_sites[0]);

	site_tracef.words[0] = &lttng_ust_tracepoint_lttng_ust_tracef___event.state;
	site_tracef.words[1] = &__tracepoint_lttng_ust_tracef___event.state;
	LEVELS(NEW_JOIN)
	ltt_sites_register(line_sites, line_sites + nr, LTT_SITE_ABI);
	if (!dlopen("liblttng-ust.so.0", RTLD_NOW | RTLD_NOLOAD))
		return;
	LEVELS(OLD_JOIN)
	ltt_sites_register(old_line_sites, old_line_sites + nr_old, LTT_SITE_ABI);
}
