/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pen.h - formats text fast, into a buffer that is written to a FILE when it is full, or grows if
 * there is no FILE. Owned by one printer. Errors are stored and returned by pen_flush(), so that
 * other calls need no check.
 */
#ifndef SHOW_PEN_H
#define SHOW_PEN_H

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

struct mold;

/** @mold: all that is written becomes its text (mold.h); NULL: it does not. */
struct pen {
	FILE *file; /* NULL: keep everything */
	struct mold *mold;
	char *buf;
	size_t used, size;
	int error;
};

void pen_init(struct pen *pen, FILE *file);
void pen_fini(struct pen *pen);
/** Return: 0, or the first error of all that was written. */
int pen_flush(struct pen *pen) MUST_CHECK;

/** Write much at once, to a FILE. */
void pen_write(struct pen *pen, const char *s, size_t len);

/** Write or grow the buffer, so that @len more bytes fit. */
void pen_make_room(struct pen *pen, size_t len);

/** Memory for @len bytes; the caller adds the bytes that it has used to pen->used. */
static inline char *pen_room(struct pen *pen, size_t len)
{
	if (pen->size - pen->used < len)
		pen_make_room(pen, len);
	return pen->buf + pen->used;
}

/** Copy at most 16 bytes without a call. */
static inline void pen_copy_few(char *to, const char *s, size_t len)
{
	if (len >= 8) {
		uint64_t first, last;

		memcpy(&first, s, 8);
		memcpy(&last, s + len - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + len - 8, &last, 8);
	} else if (len >= 4) {
		uint32_t first, last;

		memcpy(&first, s, 4);
		memcpy(&last, s + len - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + len - 4, &last, 4);
	} else if (len) {
		to[0] = s[0];
		to[len / 2] = s[len / 2];
		to[len - 1] = s[len - 1];
	}
}

static inline void pen_bytes(struct pen *pen, const char *s, size_t len)
{
	char *to = pen_room(pen, len);

	if (!__builtin_constant_p(len) && len <= 16)
		pen_copy_few(to, s, len);
	else
		memcpy(to, s, len);
	pen->used += len;
}

#define PEN_PADDING 32u

/** pen_bytes(), where PEN_PADDING more bytes can be read. */
static inline void pen_padded(struct pen *pen, const char *s, size_t len)
{
	char *to = pen_room(pen, len + PEN_PADDING);

	memcpy(to, s, PEN_PADDING);
	if (len > PEN_PADDING)
		memcpy(to + PEN_PADDING, s + PEN_PADDING, len - PEN_PADDING);
	pen->used += len;
}

static inline void pen_text(struct pen *pen, const char *s)
{
	pen_bytes(pen, s, strlen(s));
}

static inline void pen_char(struct pen *pen, char c)
{
	*pen_room(pen, 1) = c;
	pen->used++;
}

#define PEN_DIGITS_MOST 20u

/** The two digits of each number below 100. */
extern const char pen_pairs[201];

/** The digits of a number below 10^5 with leading zeros, and 3 NULs, as they are in memory. */
static inline uint64_t pen_five(uint32_t v)
{
	uint32_t low = v % 10000;
	uint16_t high_pair, low_pair;

	memcpy(&high_pair, &pen_pairs[low / 100 * 2], 2);
	memcpy(&low_pair, &pen_pairs[low % 100 * 2], 2);
	return htole64((uint64_t)('0' + v / 10000) | (uint64_t)le16toh(high_pair) << 8 |
		       (uint64_t)le16toh(low_pair) << 24);
}

/** Write them, to memory for 8. */
static inline void pen_put_five(char *to, uint32_t v)
{
	uint64_t digits = pen_five(v);

	memcpy(to, &digits, sizeof(digits));
}

/** pen_put_u64() of a number of five or more digits. */
char *pen_put_large(char *to, uint64_t v);

/** Write the digits of a number to memory for PEN_DIGITS_MOST. Return: its end. */
static inline char *pen_put_u64(char *to, uint64_t v)
{
	if (v >= 10000)
		return pen_put_large(to, v);
	if (v >= 100) {
		uint32_t high = (uint32_t)v / 100;

		*to = (char)('0' + high);
		if (high >= 10)
			memcpy(to++, &pen_pairs[high * 2], 2);
		memcpy(to + 1, &pen_pairs[v % 100 * 2], 2);
		return to + 3;
	}
	*to = (char)('0' + v);
	if (v >= 10)
		memcpy(to++, &pen_pairs[v * 2], 2);
	return to + 1;
}

/** Write a number below 10^9 with leading zeros, to memory for 9. */
void pen_put_nanos(char *to, uint32_t v);
/** Copy the plain characters that a text begins with, as escape_is_plain() has them, to memory for
 *  all of it. Return: their number. */
size_t pen_put_plain(char *to, const uint8_t *s, size_t len);

void pen_u64(struct pen *pen, uint64_t v);
void pen_i64(struct pen *pen, int64_t v);
/** With leading zeros; @v must fit. */
void pen_digits(struct pen *pen, uint64_t v, unsigned width);
/** @shift: 4: hexadecimal, 3: octal. */
void pen_power2(struct pen *pen, uint64_t v, unsigned shift);
/** The shortest decimal that reads back as the same number of @size_bits. */
void pen_double(struct pen *pen, double v, unsigned size_bits);

/**
 * pen_quoted() - a string in quotes. Characters that could control a terminal
 * (control bytes, C1, bidirectional overrides) and bytes that are no UTF-8 are
 * written as escapes.
 */
void pen_quoted(struct pen *pen, const uint8_t *s, size_t len);
/** The same for names: without enclosing quotes, and without escapes for quotes. */
void pen_name(struct pen *pen, const char *s);
void pen_name_bytes(struct pen *pen, const uint8_t *s, size_t len);
/** A JSON string. Bytes that are no UTF-8 become U+FFFD, in {"text": ..., "hex": ...}. */
void pen_json(struct pen *pen, const uint8_t *s, size_t len);
/** The same, always a string: without "hex". */
void pen_json_text(struct pen *pen, const uint8_t *s, size_t len);
/** Integers in JSON: strings beyond TEXT_JSON_MOST. */
void pen_json_u64(struct pen *pen, uint64_t v);
void pen_json_i64(struct pen *pen, int64_t v);
/** A time since 1970 in JSON, always a string. */
void pen_json_time(struct pen *pen, int64_t ns);

#endif
