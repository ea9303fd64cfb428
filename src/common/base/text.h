/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.h - numbers and untrusted strings in sentences for users. Pure. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BYTES 32 /* size of the buffers for numbers */
#define TEXT_JSON_ESCAPE 13 /* of the buffers for two escapes of JSON */
#define TEXT_JSON_MOST ((UINT64_C(1) << 53) - 1) /* larger integers are strings in JSON */

/** 1,234,567 */
const char *text_count(char buf[TEXT_BYTES], uint64_t n);
/** "s" unless @n is 1. */
const char *text_plural(uint64_t n);
/** Length of the harmless UTF-8 character at @s; 0: a harmful one (base/escape.h), or none. */
size_t text_harmless(const unsigned char *s);
/** Whether all bytes of a text are UTF-8. */
bool text_is_utf8(const uint8_t *s, size_t len);
/** \u202e of JSON, two of them for a character beyond 16 bits. */
const char *text_json_escape(char buf[TEXT_JSON_ESCAPE], uint32_t c);
/** A copy with harmful characters (base/escape.h) and invalid UTF-8 as \xNN; allocated. */
char *text_escape(const char *text);

#endif
