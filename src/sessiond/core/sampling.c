/* SPDX-License-Identifier: GPL-2.0-only */
#include "sampling.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *sampling_number(const char *at, uint64_t limit, uint64_t *ret)
{
	uint64_t value = 0;

	if (*at < '1' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (uint64_t)(*at - '0');
		if (value > limit)
			return NULL;
	}
	*ret = value;
	return at;
}

static bool sampling_field_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.$:", c));
}

static const char *sampling_field(const char *at, struct sampling *ret)
{
	size_t len = 0;

	while (sampling_field_byte(at[len]))
		len++;
	if (!len || len > SAMPLING_MAX_FIELD)
		return NULL;
	memcpy(ret->by, at, len);
	ret->by[len] = '\0';
	return at + len;
}

static const char *sampling_one_in(const char *at, struct sampling *ret)
{
	uint64_t nr;

	at = ret->one_in ? NULL : sampling_number(at, UINT32_MAX, &nr);
	if (!at)
		return NULL;
	ret->one_in = (uint32_t)nr;
	return strncmp(at, " by ", 4) == 0 ? sampling_field(at + 4, ret) : at;
}

static const char *sampling_rate(const char *at, struct sampling *ret)
{
	uint64_t nr;

	at = ret->rate ? NULL : sampling_number(at, SAMPLING_MAX_RATE, &nr);
	if (!at || strncmp(at, "/s", 2) != 0)
		return NULL;
	ret->rate = (uint32_t)nr;
	return at + 2;
}

/* Return: the text behind it, or NULL. */
static const char *sampling_term(const char *at, struct sampling *ret)
{
	if (strncmp(at, "1/", 2) == 0 && at[2] != 's')
		return sampling_one_in(at + 2, ret);
	if (strncmp(at, "first ", 6) == 0)
		return ret->first ? NULL : sampling_number(at + 6, SAMPLING_MAX_FIRST, &ret->first);
	return sampling_rate(at, ret);
}

/* @at: the term that is invalid, in the words of lttctl's options. */
static int sampling_refuse(const char *at, struct err *err)
{
	int len = (int)MIN(strcspn(at, ","), (size_t)100);

	if (strncmp(at, "1/", 2) == 0)
		return err_set(err, ERR_INVALID,
			       "--sample=%.*s: use 1/N, with N from 1 to %u, once, and --by=FIELD, "
			       "one field",
			       len, at, UINT32_MAX);
	if (strncmp(at, "first ", 6) == 0)
		return err_set(err, ERR_INVALID, "--first=%.*s: use a number from 1 to %llu, once",
			       len - 6, at + 6, SAMPLING_MAX_FIRST);
	return err_set(err, ERR_INVALID, "--rate=%.*s: use N/s, with N from 1 to %u, once", len, at,
		       SAMPLING_MAX_RATE);
}

int sampling_parse(const char *text, struct sampling *ret, struct err *err)
{
	const char *at = text, *end;

	*ret = (struct sampling){ 0 };
	if (!*text)
		return 0;
	do {
		end = sampling_term(at, ret);
		if (!end || (*end && strncmp(end, ", ", 2) != 0) || end - text > SAMPLING_MAX_TEXT)
			return sampling_refuse(at, err);
		at = end + 2;
	} while (*end);
	return 0;
}
