/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* str.h - names, globs, sizes, the nearest word, allocated strings. Pure. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>

#include "macros.h"

#define NAME_MAX_BYTES 254 /* sessions, events and others; as LTTng's */
#define CHANNEL_NAME_MAX_BYTES 231 /* the names of its files have 24 bytes more: _CPU_NUMBER.idx */

/**
 * name_check() - check the name of a session or channel, which is also a file name.
 * No '/', no leading '.', no control bytes, valid UTF-8, 1 to NAME_MAX_BYTES.
 * Return: NULL, or the problem, as a phrase to follow the name.
 */
const char *name_check(const char *name);
/** The same for the name of a channel, which has at most CHANNEL_NAME_MAX_BYTES. */
const char *name_check_channel(const char *name);

/** Shell-like match: `*` any run of bytes; `\` escapes the next byte. */
bool glob_match(const char *pattern, const char *text);
/** Whether a pattern contains an unescaped star. */
bool glob_is_pattern(const char *text);
/** Whether any of a comma-separated list of globs matches; `\,` is a comma. */
bool glob_match_list(const char *patterns, const char *text);

/** Parse a size: "64k", "2M", "1G" (1024-based) or bytes. Return: 0, -EINVAL, -ERANGE. */
int parse_size(const char *text, uint64_t *ret_bytes) MUST_CHECK;
/** Parse a period: "200us", "20ms", "5s", "1m" or "1min", "12h", "30d"; the unit may be omitted of 0 only.
 *  Return: as parse_size(). */
int parse_period(const char *text, uint64_t *ret_us) MUST_CHECK;
/** Parse a number in a period, both above 0: "3/h", "10/min", "1/90s". Return: as parse_size(). */
int parse_rate(const char *text, uint64_t *ret_nr, uint64_t *ret_us) MUST_CHECK;
int parse_u64(const char *text, uint64_t *ret) MUST_CHECK;

/** Round up to a power of two; 0 stays 0; above 2^63 is 0. */
uint64_t round_up_pow2(uint64_t v);

/** asprintf() that returns the string; NULL: no memory. For libraries; programs: xasprintf(). */
char *str_printf(const char *fmt, ...) PRINTF(1, 2) MUST_CHECK;

/** The word of a NULL-terminated list that is nearest to @text, or NULL if none is near. */
const char *nearest_word(const char *text, const char *const *words);

/** Name of a log level ("INFO", "TRACE_INFO", any case, or a number). Return: -EINVAL. */
int loglevel_parse(const char *text, int *ret_level) MUST_CHECK;
const char *loglevel_name(int level); /* "INFO"; "?" if unknown */

/** Write a character as UTF-8. Return: its bytes, up to 4. */
size_t str_put_utf8(char *to, uint32_t code);

#endif
