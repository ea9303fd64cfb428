/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "escape.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

size_t escape_decode(const uint8_t *s, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 :
		   s[0] < 0xc2 ? 0 :
		   s[0] < 0xe0 ? 2 :
		   s[0] < 0xf0 ? 3 :
		   s[0] < 0xf5 ? 4 :
				 0;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7f >> n);

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return n;
}

bool escape_is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

static char *escape_put_byte(char *to, uint8_t byte)
{
	static const char from[] = "\a\b\f\n\r\t\v", names[] = "abfnrtv";
	static const char digits[] = "0123456789abcdef";
	const char *known = byte ? strchr(from, byte) : NULL;

	*to++ = '\\';
	if (known) {
		*to++ = names[known - from];
		return to;
	}
	*to++ = 'x';
	*to++ = digits[byte >> 4];
	*to++ = digits[byte & 15];
	return to;
}

size_t escape_char(const uint8_t *s, size_t len, bool quotes, char *ret, size_t *ret_len)
{
	char *to = ret;
	uint32_t c = 0;
	size_t n = escape_decode(s, len, &c), used = n ? n : 1;

	if (n && !escape_is_harmful(c)) {
		if (quotes && (c == '"' || c == '\\'))
			*to++ = '\\';
		memcpy(to, s, n);
		to += n;
	} else {
		for (size_t i = 0; i < used; i++)
			to = escape_put_byte(to, s[i]);
	}
	*ret_len = (size_t)(to - ret);
	return used;
}

void escape_tame(char *text)
{
	size_t left = strlen(text), n;
	uint32_t c = 0;

	for (; left; left -= n, text += n) {
		n = escape_decode((const uint8_t *)text, left, &c);
		if (n && !escape_is_harmful(c))
			continue;
		n = n ? n : 1;
		memset(text, '?', n);
	}
}
