/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h - a text in a payload whose source may change concurrently; and names. */
#ifndef KMOD_TEXT_H
#define KMOD_TEXT_H

#include <linux/ctype.h>
#include <linux/string.h>

/** Just one NUL, at the end of @bytes; blanks before it if it has become shorter.
 *  Return: behind it. */
static __always_inline u8 *text_put(u8 *to, const char *text, u32 bytes)
{
	u32 len = strnlen(text, bytes - 1);

	memcpy(to, text, len);
	memset(to + len, ' ', bytes - 1 - len);
	to[bytes - 1] = 0;
	return to + bytes;
}

/** Letters, digits and underscores, and no leading digit: a valid name in metadata. */
static inline bool text_is_word(const char *text)
{
	const char *at;

	for (at = text; *at; at++)
		if (!isalnum(*at) && *at != '_')
			return false;
	return at > text && !isdigit(*text);
}

#endif
