// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Log lines as events: ltt_tracef() and ltt_tracelog(). The text is made on the
 * spot, behind the other fields of the event. Runs in the traced thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ltt/payload.h>
#include <ltt/site.h>

#include "emit.h"

#define STACK_TEXT 1024

/* The words before the text: line, file and function, if any. */
static size_t prefix_size(const struct ltt_log_place *place)
{
	if (!place)
		return 0;
	return sizeof(int32_t) + strlen(place->file) + 1 + strlen(place->function) + 1;
}

static unsigned char *put_prefix(unsigned char *at, const struct ltt_log_place *place)
{
	int32_t line;

	if (!place)
		return at;
	line = place->line;
	at = ltt__put(at, &line, sizeof(line));
	at = ltt__put_string(at, place->file, strlen(place->file));
	return ltt__put_string(at, place->function, strlen(place->function));
}

/*
 * The whole payload into @begin, of @room bytes.
 * Return: the bytes that it takes; more than @room where it did not fit.
 */
static size_t write_line(unsigned char *begin, size_t room, const struct ltt_log_place *place,
			 size_t prefix, const char *format, va_list args)
{
	char *text = (char *)begin + prefix;
	int len;

	if (prefix >= room)
		return prefix + room; /* only the text's length is not known yet */
	put_prefix(begin, place);
	len = vsnprintf(text, room - prefix, format, args);
	if (len < 0) {
		snprintf(text, room - prefix, "(bad format)");
		len = (int)strlen(text);
	}
	if (prefix + (size_t)len + 1 > room)
		return prefix + (size_t)len + 1;
	return prefix + strlen(text) + 1; /* a %c may have ended it early */
}

/* The text did not fit on the stack; the arguments may have changed since it was measured, and
 * excess text is truncated. */
static void emit_long_line(struct ltt_site *site, const struct ltt_log_place *place, size_t size,
			   const char *format, va_list args, const void *ip)
{
	unsigned char *begin = ltt_stage(site, size);
	size_t len;

	if (!begin)
		return;
	len = write_line(begin, size, place, prefix_size(place), format, args);
	emit_from(site, begin, len < size ? len : size, ip);
	ltt_unstage(begin);
}

static void emit_line(struct ltt_site *site, const struct ltt_log_place *place, const char *format,
		      va_list args, const void *ip)
{
	unsigned char stack[STACK_TEXT + LTT_PAYLOAD_SLACK];
	size_t prefix = prefix_size(place), len;
	int saved = errno;
	va_list again;

	if (emit_is_muted())
		return;
	va_copy(again, args);
	__asm__("" : "=m"(stack)); /* the slack may be read; its content does not matter */
	len = write_line(stack, STACK_TEXT, place, prefix, format, args);
	if (len <= STACK_TEXT)
		emit_from(site, stack, len, ip);
	else
		emit_long_line(site, place, len, format, again, ip);
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
