/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "str.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Length of the UTF-8 character at @s; 0 where it is no valid one. */
static size_t utf8_char(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f) ||
	    (s[0] == 0xc2 && s[1] < 0xa0)) /* C1 controls */
		return 0;
	return len;
}

const char *name_check(const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	size_t step;

	if (!*s)
		return "is empty";
	if (strlen(name) > NAME_MAX_BYTES)
		return "is longer than 254 bytes";
	if (*s == '.')
		return "begins with a dot";
	for (; *s; s += step) {
		if (*s == '/')
			return "contains a slash";
		if (*s < ' ' || *s == 0x7f)
			return "contains a control byte";
		step = utf8_char(s);
		if (!step)
			return "is not valid UTF-8";
	}
	return NULL;
}

const char *name_check_channel(const char *name)
{
	const char *wrong = name_check(name);

	if (!wrong && strlen(name) > CHANNEL_NAME_MAX_BYTES)
		wrong = "is longer than 231 bytes, too long for the names of its files";
	return wrong;
}

/* Linear in practice: only the last star is ever gone back to. @stop ends the
 * pattern too (a list's comma), unless it is escaped. */
static bool match(const char *pattern, char stop, const char *text)
{
	const char *star = NULL, *resume = NULL;

	for (;;) {
		bool at_end = !*pattern || *pattern == stop;

		if (!at_end && *pattern == '*') {
			star = ++pattern;
			resume = text;
			continue;
		}
		if (at_end && !*text)
			return true;
		if (!at_end && *text) {
			const char *p = *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;

			if (*p == *text) {
				pattern = p + 1;
				text++;
				continue;
			}
		}
		if (!star || !*resume)
			return false;
		pattern = star;
		text = ++resume;
	}
}

bool glob_match(const char *pattern, const char *text)
{
	return match(pattern, '\0', text);
}

bool glob_is_pattern(const char *text)
{
	for (; *text; text++) {
		if (*text == '*')
			return true;
		if (*text == '\\' && text[1])
			text++;
	}
	return false;
}

bool glob_match_list(const char *patterns, const char *text)
{
	while (*patterns) {
		if (match(patterns, ',', text))
			return true;
		for (; *patterns && *patterns != ','; patterns++)
			if (*patterns == '\\' && patterns[1])
				patterns++;
		if (*patterns)
			patterns++;
	}
	return false;
}

/* Digits first: no sign and no blanks, which strtoull() would take. */
static int str_parse_number(const char *text, int base, unsigned long long *ret,
			    const char **ret_end)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, base);
	*ret_end = end;
	return errno ? -ERANGE : 0;
}

int parse_u64(const char *text, uint64_t *ret)
{
	unsigned long long v;
	const char *end;
	int err = str_parse_number(text, 0, &v, &end);

	if (err)
		return err;
	if (*end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	unsigned long long v;
	unsigned int shift = 0;
	const char *end;
	int err = str_parse_number(text, 0, &v, &end);

	if (err)
		return err;
	if (*end) {
		static const char letters[] = "kKMGT";
		static const unsigned int shifts[] = { 10, 10, 20, 30, 40 };
		const char *letter = strchr(letters, *end);

		shift = letter ? shifts[letter - letters] : 0;
		if (!shift || end[1])
			return -EINVAL;
	}
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = (uint64_t)v << shift;
	return 0;
}

int parse_period(const char *text, uint64_t *ret_us)
{
	static const struct {
		const char *name;
		uint64_t us;
	} units[] = { { "us", 1 },	   { "ms", 1000 },	{ "s", 1000000 },    { "m", 60000000 },
		      { "min", 60000000 }, { "h", 3600000000 }, { "d", 86400000000 } };
	unsigned long long v;
	const char *end;
	int err = str_parse_number(text, 10, &v, &end);

	if (err)
		return err;
	if (v == 0 && !*end) {
		*ret_us = 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		if (v > UINT64_MAX / units[i].us)
			return -ERANGE;
		*ret_us = v * units[i].us;
		return 0;
	}
	return -EINVAL;
}

int parse_rate(const char *text, uint64_t *ret_nr, uint64_t *ret_us)
{
	char number[24], period[32] = "1";
	size_t len = strcspn(text, "/");
	const char *unit = text + len + 1;
	uint64_t nr, us;

	if (!text[len] || len >= sizeof(number) || strlen(unit) + 2 > sizeof(period))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';
	strcpy(period + (*unit < '0' || *unit > '9'), unit);
	if (parse_u64(number, &nr) != 0 || parse_period(period, &us) != 0 || !nr || !us)
		return -EINVAL;
	*ret_nr = nr;
	*ret_us = us;
	return 0;
}

uint64_t round_up_pow2(uint64_t v)
{
	uint64_t p = 1;

	if (v == 0)
		return 0;
	while (p && p < v)
		p <<= 1;
	return p;
}

/* Letters to change, add, leave out, or swap with their neighbour. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][64], la = strlen(a), lb = strlen(b);

	if (la >= ARRAY_SIZE(rows[0]) || lb >= ARRAY_SIZE(rows[0]))
		return ARRAY_SIZE(rows[0]);
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			bool same = a[i - 1] == b[j - 1];

			row[j] = MIN(last[j - 1] + !same, MIN(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], older[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

const char *nearest_word(const char *text, const char *const *words)
{
	const char *best = NULL;
	size_t best_distance = strlen(text) / 3 + 2;

	for (; *words; words++) {
		size_t d = distance(text, *words);

		if (strncmp(*words, text, strlen(text)) == 0)
			d = 1; /* an abbreviation */
		if (d < best_distance) {
			best = *words;
			best_distance = d;
		}
	}
	return best;
}

char *str_printf(const char *fmt, ...)
{
	char *s = NULL;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&s, fmt, args);
	va_end(args);
	return len < 0 ? NULL : s;
}

static const char *const loglevels[] = {
	"EMERG",	"ALERT",      "CRIT",		"ERR",		 "WARNING",
	"NOTICE",	"INFO",	      "DEBUG_SYSTEM",	"DEBUG_PROGRAM", "DEBUG_PROCESS",
	"DEBUG_MODULE", "DEBUG_UNIT", "DEBUG_FUNCTION", "DEBUG_LINE",	 "DEBUG",
};

int loglevel_parse(const char *text, int *ret_level)
{
	uint64_t number;

	if (parse_u64(text, &number) == 0 && number < ARRAY_SIZE(loglevels)) {
		*ret_level = (int)number;
		return 0;
	}
	if (strncasecmp(text, "TRACE_", 6) == 0 || strncasecmp(text, "LTT_", 4) == 0)
		text = strchr(text, '_') + 1;
	for (size_t i = 0; i < ARRAY_SIZE(loglevels); i++) {
		if (strcasecmp(text, loglevels[i]) == 0) {
			*ret_level = (int)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *loglevel_name(int level)
{
	return level >= 0 && (size_t)level < ARRAY_SIZE(loglevels) ? loglevels[level] : "?";
}

size_t str_put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}
