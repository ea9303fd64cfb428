/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h - numbers and untrusted strings in sentences for users. Pure. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_BYTES 32 /* size of the buffers for numbers */

/** 1,234,567 */
const char *text_count(char buf[TEXT_BYTES], uint64_t n);
/** "s" unless @n is 1. */
const char *text_plural(uint64_t n);
/** Length of the harmless UTF-8 character at @s; 0: a control, or none at all. */
size_t text_harmless(const unsigned char *s);
/** A copy with control bytes and invalid UTF-8 as \xNN; allocated. */
char *text_escape(const char *text);

#endif
