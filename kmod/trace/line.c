// SPDX-License-Identifier: GPL-2.0-only
#include "line.h"

#include <linux/ctype.h>
#include <linux/minmax.h>

#include "base/escape.h"

void line_bytes(struct line *line, const void *s, size_t len)
{
	u64 from = line->at;

	line->at += len;
	if (line->at <= line->skip)
		return;
	if (from < line->skip) {
		s += line->skip - from;
		len -= line->skip - from;
	}
	len = min_t(size_t, len, line->size - line->used);
	memcpy(line->buf + line->used, s, len);
	line->used += len;
}

static char *line_digits_before(char *end, u64 v)
{
	do {
		*--end = '0' + v % 10;
		v /= 10;
	} while (v);
	return end;
}

void line_u64(struct line *line, u64 v)
{
	char text[20], *end = text + sizeof(text), *at = line_digits_before(end, v);

	line_bytes(line, at, end - at);
}

void line_s64(struct line *line, s64 v)
{
	if (v < 0)
		line_char(line, '-');
	line_u64(line, v < 0 ? -(u64)v : v);
}

void line_digits(struct line *line, u64 v, unsigned int width)
{
	char text[20], *end = text + sizeof(text);

	memset(text, '0', sizeof(text));
	line_digits_before(end, v);
	line_bytes(line, end - width, width);
}

void line_hex(struct line *line, u64 v)
{
	char text[16], *end = text + sizeof(text), *at = end;

	do {
		*--at = "0123456789ABCDEF"[v & 15];
		v >>= 4;
	} while (v);
	line_bytes(line, at, end - at);
}

void line_safe(struct line *line, const void *s, size_t len, bool quotes)
{
	const u8 *at = s, *end = at + len;

	while (at < end) {
		const u8 *special = at;
		char text[ESCAPE_MAX];
		size_t n;

		while (special < end && escape_is_plain(*special))
			special++;
		line_bytes(line, at, special - at);
		if (special == end)
			return;
		at = special + escape_char(special, end - special, quotes, text, &n);
		line_bytes(line, text, n);
	}
}

void line_identifier(struct line *line, const char *name)
{
	for (; *name; name++)
		line_char(line, isascii(*name) && isalnum(*name) ? *name : '_');
}
