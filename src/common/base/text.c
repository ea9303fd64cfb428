/* SPDX-License-Identifier: GPL-2.0-only */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] < ' ' || s[0] == 0x7f || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
	    (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
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
