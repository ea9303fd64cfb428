/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h - a text in a payload whose source may change concurrently; and names. */
#ifndef KMOD_TEXT_H
#define KMOD_TEXT_H

#include <linux/ctype.h>
#include <linux/string.h>

/** Copy a text to @bytes of a payload, so that the only NUL is the last byte: if the source has
 *  become shorter, blanks fill the rest. Return: the address after it. */
static __always_inline u8 *text_put(u8 *to, const char *text, u32 bytes)
{
	u32 len = strnlen(text, bytes - 1);

	memcpy(to, text, len);
	memset(to + len, ' ', bytes - 1 - len);
	to[bytes - 1] = 0;
	return to + bytes;
}

/** Whether the text is a valid name in metadata: letters, digits, underscores, no leading digit. */
static inline bool text_is_word(const char *text)
{
	const char *at;

	for (at = text; *at; at++)
		if (!isalnum(*at) && *at != '_')
			return false;
	return at > text && !isdigit(*text);
}

#endif
