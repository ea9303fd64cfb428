/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "mem.h"

const char *text_count(char buf[TEXT_BYTES], uint64_t n)
{
	char digits[TEXT_BYTES];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n), out = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

const char *text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

size_t text_harmless(const unsigned char *s)
{
	uint32_t c;
	size_t len = escape_decode(s, 4, &c); /* reads nothing behind the NUL */

	return len && !escape_is_harmful(c) ? len : 0;
}

bool text_is_utf8(const uint8_t *s, size_t len)
{
	uint32_t c;

	for (size_t i = 0, n; i < len; i += n) {
		n = s[i] < 0x80 ? 1 : escape_decode(s + i, len - i, &c);
		if (!n)
			return false;
	}
	return true;
}

const char *text_json_escape(char buf[TEXT_JSON_ESCAPE], uint32_t c)
{
	if (c < 0x10000)
		snprintf(buf, TEXT_JSON_ESCAPE, "\\u%04x", c & 0xffff);
	else
		snprintf(buf, TEXT_JSON_ESCAPE, "\\u%04x\\u%04x", 0xd800 + (((c - 0x10000) >> 10) & 0x3ff),
			 0xdc00 + (c & 0x3ff));
	return buf;
}

char *text_escape(const char *text)
{
	char *copy = xalloc(strlen(text) * 4 + 1);
	char *out = copy;

	while (*text) {
		size_t len = text_harmless((const unsigned char *)text);

		if (len) {
			memcpy(out, text, len);
			out += len;
			text += len;
		} else {
			out += sprintf(out, "\\x%02x", (unsigned char)*text++);
		}
	}
	return copy;
}
