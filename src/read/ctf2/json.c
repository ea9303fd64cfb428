/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json.h"

#include <string.h>

#include "base/macros.h"
#include "base/str.h"

struct json_text {
	const char *begin, *at, *end;
	struct arena *arena;
	uint32_t depth;
	uint32_t values_left;
	const char *why;
};

static bool json_value(struct json_text *t, struct json **ret);

static bool json_refuse(struct json_text *t, const char *why)
{
	if (!t->why)
		t->why = why;
	return false;
}

static void json_skip_blanks(struct json_text *t)
{
	while (t->at < t->end &&
	       (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
		t->at++;
}

static bool json_accepts(struct json_text *t, char c)
{
	json_skip_blanks(t);
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* --- strings -------------------------------------------------------------- */

static bool json_hex4(struct json_text *t, uint32_t *ret)
{
	*ret = 0;
	if (t->end - t->at < 4)
		return json_refuse(t, "an escape is not complete");
	for (int i = 0; i < 4; i++) {
		char c = *t->at++;
		int digit = c >= '0' && c <= '9' ? c - '0' :
			    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			    c >= 'A' && c <= 'F' ? c - 'A' + 10 :
						   -1;

		if (digit < 0)
			return json_refuse(t, "an escape is not hexadecimal");
		*ret = *ret << 4 | (uint32_t)digit;
	}
	return true;
}

/* \uXXXX, or two of them. A half of a pair is U+FFFD, and a NUL, which no name can have. */
static bool json_unicode(struct json_text *t, char **to)
{
	uint32_t code, low;

	if (!json_hex4(t, &code))
		return false;
	if (code >> 10 == 0xd800 >> 10 && t->end - t->at >= 6 && t->at[0] == '\\' &&
	    t->at[1] == 'u') {
		t->at += 2;
		if (!json_hex4(t, &low))
			return false;
		code = low >> 10 == 0xdc00 >> 10 ?
			       0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) :
			       0xfffd;
	}
	if (!code || code >> 11 == 0xd800 >> 11)
		code = 0xfffd;
	*to += str_put_utf8(*to, code);
	return true;
}

static bool json_escape(struct json_text *t, char **to)
{
	static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (t->at == t->end)
		return json_refuse(t, "a string has no end");
	if (*t->at == 'u') {
		t->at++;
		return json_unicode(t, to);
	}
	found = *t->at ? strchr(from, *t->at) : NULL;
	if (!found)
		return json_refuse(t, "an escape is unknown");
	t->at++;
	*(*to)++ = plain[found - from];
	return true;
}

/* Behind its quote. Unescaped it is not longer. */
static bool json_string(struct json_text *t, const char **ret)
{
	const char *end = t->at;
	char *text, *to;

	while (end < t->end && *end != '"')
		end += 1 + (*end == '\\');
	if (end >= t->end) {
		t->at = t->end;
		return json_refuse(t, "a string has no end");
	}
	text = to = arena_alloc(t->arena, (size_t)(end - t->at) + 1);
	while (t->at < end) {
		char c = *t->at++;

		if ((uint8_t)c < ' ') {
			t->at--;
			return json_refuse(t, "a string has a control character");
		}
		if (c != '\\')
			*to++ = c;
		else if (!json_escape(t, &to))
			return false;
	}
	t->at = end + 1;
	*ret = text;
	return true;
}

/* --- numbers and words ---------------------------------------------------- */

static bool json_is_digit(const struct json_text *t)
{
	return t->at < t->end && *t->at >= '0' && *t->at <= '9';
}

static bool json_digits(struct json_text *t)
{
	if (!json_is_digit(t))
		return json_refuse(t, "a number has no digit");
	while (json_is_digit(t))
		t->at++;
	return true;
}

/* Behind the integer part. */
static bool json_fraction(struct json_text *t, struct json *ret)
{
	if (t->at < t->end && *t->at == '.') {
		ret->kind = JSON_REAL;
		t->at++;
		if (!json_digits(t))
			return false;
	}
	if (t->at < t->end && (*t->at == 'e' || *t->at == 'E')) {
		ret->kind = JSON_REAL;
		t->at++;
		if (t->at < t->end && (*t->at == '+' || *t->at == '-'))
			t->at++;
		return json_digits(t);
	}
	return true;
}

static bool json_number(struct json_text *t, struct json *ret)
{
	const char *from;
	bool large = false;

	ret->kind = JSON_INTEGER;
	ret->negative = *t->at == '-';
	t->at += ret->negative;
	from = t->at;
	if (!json_digits(t))
		return false;
	if (*from == '0' && t->at > from + 1)
		return json_refuse(t, "a number begins with 0");
	for (ret->number = 0; from < t->at; from++)
		large |= __builtin_mul_overflow(ret->number, 10u, &ret->number) ||
			 __builtin_add_overflow(ret->number, (uint64_t)(*from - '0'), &ret->number);
	if (large || (ret->negative && ret->number > 1ull << 63))
		ret->kind = JSON_REAL;
	ret->number = ret->negative ? -ret->number : ret->number;
	ret->negative = ret->negative && ret->number;
	return json_fraction(t, ret);
}

static bool json_word(struct json_text *t, struct json *ret)
{
	static const struct {
		const char *word;
		enum json_kind kind;
		uint64_t number;
	} words[] = { { "null", JSON_NULL, 0 },
		      { "true", JSON_BOOL, 1 },
		      { "false", JSON_BOOL, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i].word);

		if ((size_t)(t->end - t->at) < len || memcmp(t->at, words[i].word, len) != 0)
			continue;
		t->at += len;
		ret->kind = words[i].kind;
		ret->number = words[i].number;
		return true;
	}
	return json_refuse(t, "a value is expected");
}

/* --- compounds ------------------------------------------------------------ */

static bool json_member_key(struct json_text *t, const char **ret)
{
	if (!json_accepts(t, '"'))
		return json_refuse(t, "a member's name is expected");
	if (!json_string(t, ret))
		return false;
	return json_accepts(t, ':') || json_refuse(t, "':' is expected");
}

/* Behind its bracket. */
static bool json_compound(struct json_text *t, struct json *ret, bool object)
{
	struct json **tail = &ret->first;
	char close = object ? '}' : ']';
	const char *key = NULL;

	ret->kind = object ? JSON_OBJECT : JSON_ARRAY;
	ret->first = NULL;
	if (json_accepts(t, close))
		return true;
	do {
		if (object && !json_member_key(t, &key))
			return false;
		if (!json_value(t, tail))
			return false;
		(*tail)->key = key;
		tail = &(*tail)->next;
		ret->nr++;
	} while (json_accepts(t, ','));
	return json_accepts(t, close) ||
	       json_refuse(t, object ? "',' or '}' is expected" : "',' or ']' is expected");
}

static bool json_plain_value(struct json_text *t, struct json *ret)
{
	char c = *t->at;

	if (c == '"') {
		t->at++;
		ret->kind = JSON_STRING;
		return json_string(t, &ret->text);
	}
	if (c == '-' || json_is_digit(t))
		return json_number(t, ret);
	return json_word(t, ret);
}

static bool json_value(struct json_text *t, struct json **ret)
{
	bool done;

	json_skip_blanks(t);
	if (t->at == t->end)
		return json_refuse(t, "a value is expected");
	if (!t->values_left--)
		return json_refuse(t, "it has too many values");
	*ret = arena_alloc(t->arena, sizeof(**ret));
	if (*t->at != '{' && *t->at != '[')
		return json_plain_value(t, *ret);
	if (t->depth == JSON_MAX_DEPTH)
		return json_refuse(t, "it is nested too deep");
	t->depth++;
	done = json_compound(t, *ret, *t->at++ == '{');
	t->depth--;
	return done;
}

const char *json_read(const char *text, size_t len, struct arena *arena, struct json **ret,
		      size_t *ret_at)
{
	struct json_text t = { .begin = text,
			       .at = text,
			       .end = text + len,
			       .arena = arena,
			       .values_left = JSON_MAX_VALUES };

	if (json_value(&t, ret)) {
		json_skip_blanks(&t);
		if (t.at < t.end)
			json_refuse(&t, "the end is expected");
	}
	*ret_at = (size_t)(t.at - t.begin);
	return t.why;
}

const struct json *json_member(const struct json *object, const char *key)
{
	const struct json *at = object && object->kind == JSON_OBJECT ? object->first : NULL;

	while (at && strcmp(at->key, key) != 0)
		at = at->next;
	return at;
}
