/* SPDX-License-Identifier: GPL-2.0-only */
#include "pen.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"

#define PEN_SIZE (64u << 10)

void pen_init(struct pen *pen, FILE *file)
{
	*pen = (struct pen){ .file = file, .buf = xalloc(PEN_SIZE), .size = PEN_SIZE };
}

void pen_fini(struct pen *pen)
{
	free(pen->buf);
	*pen = (struct pen){ 0 };
}

static void put_out(struct pen *pen)
{
	if (!pen->error && fwrite(pen->buf, 1, pen->used, pen->file) != pen->used)
		pen->error = errno ? -errno : -EIO;
	pen->used = 0;
}

void pen_write(struct pen *pen, const char *s, size_t len)
{
	put_out(pen);
	if (!pen->error && fwrite(s, 1, len, pen->file) != len)
		pen->error = errno ? -errno : -EIO;
}

void pen_make_room(struct pen *pen, size_t len)
{
	if (pen->file)
		put_out(pen);
	if (pen->size - pen->used >= len)
		return;
	pen->size = MAX(2 * pen->size, pen->used + len);
	pen->buf = xrealloc(pen->buf, pen->size);
}

int pen_flush(struct pen *pen)
{
	if (pen->file) {
		put_out(pen);
		if (!pen->error && fflush(pen->file) != 0)
			pen->error = -errno;
	}
	return pen->error;
}

/* --- numbers -------------------------------------------------------------- */

const char pen_pairs[] = "00010203040506070809101112131415161718192021222324"
			 "25262728293031323334353637383940414243444546474849"
			 "50515253545556575859606162636465666768697071727374"
			 "75767778798081828384858687888990919293949596979899";

static unsigned bits_of(uint64_t v)
{
	return 64 - __builtin_clzll(v | 1);
}

static void put_pair(char *to, uint32_t v)
{
	memcpy(to, &pen_pairs[v * 2], 2);
}

static void put_four(char *to, uint32_t v)
{
	put_pair(to, v / 100);
	put_pair(to + 2, v % 100);
}

static void put_digits(char *to, uint64_t v, unsigned width)
{
	uint32_t low;

	for (; width >= 8; v /= 100000000) {
		low = v % 100000000;
		width -= 8;
		put_four(to + width, low / 10000);
		put_four(to + width + 4, low % 10000);
	}
	low = (uint32_t)v;
	if (width >= 4) {
		width -= 4;
		put_four(to + width, low % 10000);
		low /= 10000;
	}
	if (width >= 2) {
		width -= 2;
		put_pair(to + width, low % 100);
		low /= 100;
	}
	if (width)
		*to = (char)('0' + low);
}

void pen_digits(struct pen *pen, uint64_t v, unsigned width)
{
	put_digits(pen_room(pen, width), v, width);
	pen->used += width;
}

/* Eight digits at once: halves, quarters and digits of the number side by side in one word. */
void pen_put_nanos(char *to, uint32_t v)
{
	uint64_t low = v % 100000000, word = low / 10000 | low % 10000 << 32, tens;

	tens = (word * 10486 >> 20) & 0x0000007f0000007f;
	word = tens | (word - tens * 100) << 16;
	tens = (word * 103 >> 10) & 0x000f000f000f000f;
	word = htole64((tens | (word - tens * 10) << 8) | 0x3030303030303030);
	*to = (char)('0' + v / 100000000);
	memcpy(to + 1, &word, sizeof(word));
}

char *pen_put_large(char *to, uint64_t v)
{
	uint32_t low;

	if (v < 100000000) {
		to = pen_put_u64(to, (uint32_t)v / 10000);
		put_four(to, (uint32_t)v % 10000);
		return to + 4;
	}
	to = pen_put_u64(to, v / 100000000);
	low = (uint32_t)(v % 100000000);
	put_four(to, low / 10000);
	put_four(to + 4, low % 10000);
	return to + 8;
}

void pen_u64(struct pen *pen, uint64_t v)
{
	pen->used = (size_t)(pen_put_u64(pen_room(pen, PEN_DIGITS_MOST), v) - pen->buf);
}

void pen_i64(struct pen *pen, int64_t v)
{
	if (v < 0)
		pen_char(pen, '-');
	pen_u64(pen, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void pen_power2(struct pen *pen, uint64_t v, unsigned shift)
{
	unsigned width = (bits_of(v) + shift - 1) / shift;
	char *to = pen_room(pen, width);

	for (unsigned i = width; i-- > 0; v >>= shift)
		to[i] = "0123456789ABCDEF"[v & ((1u << shift) - 1)];
	pen->used += width;
}

/*
 * Most numbers in traces have few decimals: find the least k for which v * 10^k
 * is a whole number m. Both m and 10^k are exact, so m / 10^k == v proves that the
 * decimal reads back as v. Return: false: it takes the long way.
 */
static bool put_few_decimals(struct pen *pen, double v, unsigned size_bits)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	double most = size_bits == 32 ? 1e7 : 1e15, size = v < 0 ? -v : v, back;
	uint64_t whole, unit = 1;
	unsigned k;

	if (!(size < most) || (size != 0 && size < 1e-4) || (v == 0 && signbit(v)))
		return false;
	for (k = 0; k < ARRAY_SIZE(powers); k++, unit *= 10) {
		whole = (uint64_t)(size * powers[k] + 0.5);
		back = (double)whole / powers[k];
		if (whole < most && (size_bits == 32 ? (float)back == (float)size : back == size))
			break;
	}
	if (k == ARRAY_SIZE(powers))
		return false;
	if (v < 0)
		pen_char(pen, '-');
	pen_u64(pen, whole / unit);
	if (k) {
		pen_char(pen, '.');
		pen_digits(pen, whole % unit, k);
	}
	return true;
}

void pen_double(struct pen *pen, double v, unsigned size_bits)
{
	int from = size_bits == 32 ? 6 : 15, to = size_bits == 32 ? 9 : 17;
	char text[40];

	if (put_few_decimals(pen, v, size_bits))
		return;
	for (int precision = from; precision <= to; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, v);
		if (size_bits == 32 ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
			break;
		if (v != v) /* NaN equals nothing */
			break;
	}
	pen_text(pen, text);
}

/* --- strings -------------------------------------------------------------- */

/* One character that is not plain. Return: bytes used. */
static size_t put_special(struct pen *pen, const uint8_t *s, size_t len, bool quotes)
{
	size_t n, used = escape_char(s, len, quotes, pen_room(pen, ESCAPE_MAX), &n);

	pen->used += n;
	return used;
}

static uint64_t has_zero(uint64_t word)
{
	return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

/* The same of 8 bytes as escape_is_plain() of each. */
static bool is_plain_word(uint64_t word)
{
	const uint64_t each = 0x0101010101010101u;

	return !((word & each * 0x80) | ((word - each * 0x20) & ~word & each * 0x80) |
		 has_zero(word ^ each * '"') | has_zero(word ^ each * '\\') |
		 has_zero(word ^ each * 0x7f));
}

static bool are_plain(const uint8_t *s)
{
	uint64_t word;

	memcpy(&word, s, sizeof(word));
	return is_plain_word(word);
}

/* All of fewer than 8 bytes, some of them twice. */
static bool are_few_plain(const uint8_t *s, size_t len)
{
	uint32_t first, last;

	if (len < 4)
		return !len || is_plain_word(0x2020202020000000u | s[0] | s[len / 2] << 8 |
					     s[len - 1] << 16);
	memcpy(&first, s, sizeof(first));
	memcpy(&last, s + len - sizeof(last), sizeof(last));
	return is_plain_word(first | (uint64_t)last << 32);
}

size_t pen_put_plain(char *to, const uint8_t *s, size_t len)
{
	size_t n;

	if (len < 8 && are_few_plain(s, len)) {
		pen_copy_few(to, (const char *)s, len);
		return len;
	}
	for (n = 0; len - n >= 8 && are_plain(s + n); n += 8)
		memcpy(to + n, s + n, 8);
	/* the rest, with some bytes before it once more */
	if (n < len && len - n < 8 && len >= 8 && are_plain(s + len - 8)) {
		memcpy(to + len - 8, s + len - 8, 8);
		return len;
	}
	for (; n < len && escape_is_plain(s[n]); n++)
		to[n] = (char)s[n];
	return n;
}

/* The same. */
static size_t put_plain(struct pen *pen, const uint8_t *s, size_t len)
{
	size_t n = pen_put_plain(pen_room(pen, len), s, len);

	pen->used += n;
	return n;
}

static void put_safe(struct pen *pen, const uint8_t *s, size_t len, bool quotes)
{
	while (len) {
		size_t n = put_plain(pen, s, len);

		if (!n)
			n = put_special(pen, s, len, quotes);
		s += n;
		len -= n;
	}
}

void pen_quoted(struct pen *pen, const uint8_t *s, size_t len)
{
	pen_char(pen, '"');
	put_safe(pen, s, len, true);
	pen_char(pen, '"');
}

void pen_name(struct pen *pen, const char *s)
{
	pen_name_bytes(pen, (const uint8_t *)s, strlen(s));
}

void pen_name_bytes(struct pen *pen, const uint8_t *s, size_t len)
{
	put_safe(pen, s, len, false);
}

static size_t json_special(struct pen *pen, const uint8_t *s, size_t len)
{
	uint32_t c;
	size_t n = escape_decode(s, len, &c);
	char text[TEXT_JSON_ESCAPE];

	if (n && (c == '"' || c == '\\')) {
		pen_char(pen, '\\');
		pen_char(pen, (char)c);
	} else if (n && !escape_is_harmful(c)) {
		pen_bytes(pen, (const char *)s, n);
	} else {
		pen_text(pen, text_json_escape(text, n ? c : 0xfffd));
	}
	return MAX(n, 1);
}

void pen_json_text(struct pen *pen, const uint8_t *s, size_t len)
{
	pen_char(pen, '"');
	while (len) {
		size_t n = put_plain(pen, s, len);

		if (!n)
			n = json_special(pen, s, len);
		s += n;
		len -= n;
	}
	pen_char(pen, '"');
}

/* Return: whether the text is plain; else nothing was written. */
static bool json_plain(struct pen *pen, const uint8_t *s, size_t len)
{
	char *to = pen_room(pen, len + 2);
	size_t begin = pen->used;

	*to = '"';
	pen->used++;
	if (put_plain(pen, s, len) < len) {
		pen->used = begin;
		return false;
	}
	pen_char(pen, '"');
	return true;
}

void pen_json(struct pen *pen, const uint8_t *s, size_t len)
{
	if (json_plain(pen, s, len))
		return;
	if (text_is_utf8(s, len)) {
		pen_json_text(pen, s, len);
		return;
	}
	pen_text(pen, "{\"text\":");
	pen_json_text(pen, s, len);
	pen_text(pen, ",\"hex\":\"");
	for (size_t i = 0; i < len; i++) {
		pen_char(pen, "0123456789abcdef"[s[i] >> 4]);
		pen_char(pen, "0123456789abcdef"[s[i] & 15]);
	}
	pen_text(pen, "\"}");
}

void pen_json_u64(struct pen *pen, uint64_t v)
{
	const char *quote = v > TEXT_JSON_MOST ? "\"" : "";

	pen_text(pen, quote);
	pen_u64(pen, v);
	pen_text(pen, quote);
}

void pen_json_i64(struct pen *pen, int64_t v)
{
	const char *quote = v < -(int64_t)TEXT_JSON_MOST || v > (int64_t)TEXT_JSON_MOST ? "\"" : "";

	pen_text(pen, quote);
	pen_i64(pen, v);
	pen_text(pen, quote);
}

void pen_json_time(struct pen *pen, int64_t ns)
{
	pen_char(pen, '"');
	pen_i64(pen, ns);
	pen_char(pen, '"');
}
