/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * line.h - writes a line of text of any length into a buffer of limited size: the part of it that
 * begins @skip bytes behind its start. For the rest, the same line is written again with a
 * larger @skip. Pure.
 */
#ifndef KMOD_TRACE_LINE_H
#define KMOD_TRACE_LINE_H

#include <linux/string.h>
#include <linux/types.h>

/**
 * struct line
 * @buf: @size bytes, of which @used are filled.
 * @skip: bytes at the line's start that are left out.
 * @at: length of the line up to now. Once it is written it is whole if @at == @skip + @used.
 */
struct line {
	char *buf;
	u32 size, used;
	u64 skip, at;
};

void line_bytes(struct line *line, const void *s, size_t len);

static inline void line_text(struct line *line, const char *s)
{
	line_bytes(line, s, strlen(s));
}

static inline void line_char(struct line *line, char c)
{
	line_bytes(line, &c, 1);
}

void line_u64(struct line *line, u64 v);
void line_s64(struct line *line, s64 v);
/** With leading zeros; @v must have at most @width digits, 20 at most. */
void line_digits(struct line *line, u64 v, unsigned int width);
/** In upper case, as `lttctl view` prints them. */
void line_hex(struct line *line, u64 v);
/** With escapes, as escape.h states; @quotes: between quotes. */
void line_safe(struct line *line, const void *s, size_t len, bool quotes);
/** A name of a field as it is in traces: other characters than letters and digits are `_`. */
void line_identifier(struct line *line, const char *name);

#endif
