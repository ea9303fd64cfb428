/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * escape.h - texts of unknown origin in a form that is safe to print: characters that could
 * control a terminal (control bytes, C1, bidirectional overrides) and bytes that are no UTF-8 are
 * written as escapes. Pure; also a part of ltt.ko.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#define ESCAPE_MAX 16 /* most bytes of one character: four of UTF-8, each as \xHH */

/** Decode one UTF-8 character of a text of @len bytes, 1 or more. Return: its length; 0: it is
 *  none. */
size_t escape_decode(const uint8_t *s, size_t len, uint32_t *ret);

/** Whether a character is a control, or reorders or hides the text around it. */
bool escape_is_harmful(uint32_t c);

/** Whether a byte is a character that needs no escape, also between quotes. */
static inline bool escape_is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/**
 * escape_char() - write one character that is not plain.
 * @s: a text of @len bytes, 1 or more.
 * @quotes: the text is between quotes: a quote or backslash needs a backslash.
 * @ret: ESCAPE_MAX bytes. @ret_len: those that are filled.
 * Return: number of bytes of @s that the character has.
 */
size_t escape_char(const uint8_t *s, size_t len, bool quotes, char *ret, size_t *ret_len);

/** Replace the bytes of harmful characters, and those that are no UTF-8, by '?', in place. */
void escape_tame(char *text);

#endif
