// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Log lines as events: ltt_tracef() and ltt_tracelog(). The text is made on the
 * spot, behind the other fields of the event. Runs in the traced thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <ltt/payload.h>
#include <ltt/site.h>

#include "emit.h"

#define STACK_TEXT 1024

/**
 * struct line - a line that is recorded.
 * @place: line, file and function before the text; NULL: none.
 * @counted: the text is a sequence: behind its length, and without an end (lttng/tracef.h).
 * @before: bytes before the text.
 */
struct line {
	const struct ltt_log_place *place;
	bool counted;
	size_t before;
	const char *format;
	const void *ip;
};

static bool is_counted(const struct ltt_event *event)
{
	const char *last = (const char *)event->fields;

	if (!event->nr_fields)
		return false;
	last += (event->nr_fields - 1u) * event->field_size;
	return ((const struct ltt_field *)last)->kind == LTT_KIND_SEQUENCE;
}

static size_t bytes_before(const struct line *line)
{
	size_t bytes = line->counted ? sizeof(uint32_t) : 0;

	if (line->place)
		bytes += sizeof(int32_t) + strlen(line->place->file) + 1 +
			 strlen(line->place->function) + 1;
	return bytes;
}

/* Before the text is made: a string is followed by bytes of any value. */
static void put_place(unsigned char *at, const struct ltt_log_place *place)
{
	int32_t line;

	if (!place)
		return;
	line = place->line;
	at = ltt__put(at, &line, sizeof(line));
	at = ltt__put_string(at, place->file, strlen(place->file));
	ltt__put_string(at, place->function, strlen(place->function));
}

/*
 * The whole payload into @begin, of @room bytes.
 * Return: the bytes that it takes; more than @room where it did not fit.
 */
static size_t write_line(unsigned char *begin, size_t room, const struct line *line, va_list args)
{
	const size_t before = line->before;
	char *text = (char *)begin + before;
	uint32_t used;
	int len;

	if (before >= room)
		return before + room; /* only the text's length is not known yet */
	put_place(begin, line->place);
	len = vsnprintf(text, room - before, line->format, args);
	if (len < 0) {
		snprintf(text, room - before, "(bad format)");
		len = (int)strlen(text);
	}
	used = (uint32_t)(before + (size_t)len + 1 > room ? room - before - 1 : (size_t)len);
	if (line->counted)
		ltt__put((unsigned char *)text - sizeof(used), &used, sizeof(used));
	if (before + (size_t)len + 1 > room)
		return before + (size_t)len + 1;
	if (line->counted)
		return before + (size_t)len;
	return before + strlen(text) + 1; /* a %c may have ended it early */
}

/* The text did not fit on the stack; the arguments may have changed since it was measured, and
 * excess text is truncated. */
static void emit_long_line(struct ltt_site *site, const struct line *line, size_t size,
			   va_list args)
{
	unsigned char *begin = ltt_stage(site, size);
	size_t len;

	if (!begin)
		return;
	len = write_line(begin, size, line, args);
	if (len > size)
		len = line->counted ? size - 1 : size;
	emit_from(site, begin, len, line->ip);
	ltt_unstage(begin);
}

static void emit_line(struct ltt_site *site, const struct ltt_log_place *place, const char *format,
		      va_list args, const void *ip)
{
	struct line line = { place, is_counted(site->event), 0, format, ip };
	unsigned char stack[STACK_TEXT + LTT_PAYLOAD_SLACK];
	int saved = errno;
	va_list again;
	size_t len;

	if (emit_is_muted())
		return;
	line.before = bytes_before(&line);
	va_copy(again, args);
	__asm__("" : "=m"(stack)); /* the slack may be read; its content does not matter */
	len = write_line(stack, STACK_TEXT, &line, args);
	if (len <= STACK_TEXT)
		emit_from(site, stack, len, ip);
	else
		emit_long_line(site, &line, len, again);
	va_end(again);
	errno = saved;
}

void ltt_vlog(struct ltt_site *site, const struct ltt_log_place *place, const char *format,
	      va_list args)
{
	emit_line(site, place, format, args, __builtin_return_address(0));
}

void ltt_log(struct ltt_site *site, const struct ltt_log_place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	emit_line(site, place, format, args, __builtin_return_address(0));
	va_end(args);
}
