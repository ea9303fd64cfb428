/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tokens of a filter expression. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tree.h"

static uint32_t filter_lex_column(const struct filter_compiler *c)
{
	return (uint32_t)(c->at - c->expression) + 1;
}

/* Return: false if a comment has no end. */
static bool filter_lex_comment(struct filter_compiler *c)
{
	const char *end = c->at[1] == '/' ? strchr(c->at, '\n') : strstr(c->at + 2, "*/");

	if (!end && c->at[1] == '*') {
		filter_fail(c, filter_lex_column(c), "the comment has no end");
		return false;
	}
	if (!end)
		c->at += strlen(c->at);
	else
		c->at = end + (c->at[1] == '/' ? 1 : 2);
	return true;
}

static bool filter_lex_blanks(struct filter_compiler *c)
{
	for (;;) {
		while (isspace((unsigned char)*c->at))
			c->at++;
		if (c->at[0] != '/' || (c->at[1] != '/' && c->at[1] != '*'))
			return true;
		if (!filter_lex_comment(c))
			return false;
	}
}

static bool filter_lex_letter(char ch)
{
	return isalpha((unsigned char)ch) || ch == '_';
}

static bool filter_lex_inner(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

/* Letters, digits and underscores, in words with a colon or a point between them. */
static size_t filter_lex_name_length(const char *at)
{
	size_t len = 0;

	while (filter_lex_inner(at[len]) ||
	       ((at[len] == ':' || at[len] == '.') && filter_lex_inner(at[len + 1])))
		len++;
	return len;
}

static void filter_lex_take(struct filter_compiler *c, enum filter_token_kind kind, size_t len)
{
	c->token.kind = kind;
	c->token.text = xalloc(len + 1);
	memcpy(c->token.text, c->at, len);
	c->token.length = (uint32_t)len;
	c->at += len;
}

/* Of a pair of events: only a reader knows it. */
static void filter_lex_duration(struct filter_compiler *c)
{
	for (size_t i = 0; i < c->nr_contexts; i++)
		if (strcmp(c->contexts[i].name, FILTER_DURATION) == 0) {
			filter_lex_take(c, TOKEN_CONTEXT, strlen(FILTER_DURATION));
			return;
		}
	filter_fail(c, c->token.column,
		    "$" FILTER_DURATION " is known when a trace is shown, not when it is recorded; "
		    "use it in 'lttctl view --where'");
}

/* $ctx.NAME, $app.PROVIDER:NAME, $duration */
static void filter_lex_context(struct filter_compiler *c)
{
	size_t len = filter_lex_name_length(++c->at);

	if (len == strlen(FILTER_DURATION) && strncmp(c->at, FILTER_DURATION, len) == 0) {
		filter_lex_duration(c);
		return;
	}
	if ((strncmp(c->at, "ctx.", 4) && strncmp(c->at, "app.", 4)) ||
	    !filter_lex_letter(c->at[4])) {
		filter_fail(c, c->token.column,
			    "'$' begins no context; use $ctx.NAME or $app.PROVIDER:NAME");
		return;
	}
	filter_lex_take(c, TOKEN_CONTEXT, len);
	if (c->token.text[0] == 'a' && !strchr(c->token.text, ':'))
		filter_fail(c, c->token.column,
			    "an application's context has a provider; use $app.PROVIDER:NAME");
}

/* Return: the character of an escape behind the backslash; 0: unknown. */
static char filter_lex_escape(char ch)
{
	static const char from[] = "\\\"'*nt", to[] = "\\\"'*\n\t";
	const char *at = ch ? strchr(from, ch) : NULL;

	return at ? to[at - from] : 0;
}

static void filter_lex_text(struct filter_compiler *c)
{
	char quote = *c->at++, *to;

	c->token.kind = TOKEN_TEXT;
	c->token.text = to = xalloc(strlen(c->at) + 1);
	for (; *c->at && *c->at != quote; c->at++) {
		char ch = *c->at;

		if (ch == '\\') {
			ch = filter_lex_escape(c->at[1]);
			if (!ch) {
				filter_fail(c, filter_lex_column(c),
					    "unknown escape; use \\\\, \\\", \\', \\*, \\n or \\t");
				return;
			}
			c->at++;
		} else if (ch == '*') {
			ch = '\0';
		}
		*to++ = ch;
	}
	c->token.length = (uint32_t)(to - c->token.text);
	if (!*c->at++) {
		c->at--;
		filter_fail(c, c->token.column, "the text has no closing quote");
	}
}

/* --- numbers */

static const struct filter_unit {
	const char *name;
	uint64_t factor;
} filter_units[] = {
	{ "", 1 },
	{ "u", 1 },
	{ "l", 1 },
	{ "ul", 1 },
	{ "lu", 1 },
	{ "ll", 1 },
	{ "ull", 1 },
	{ "llu", 1 },
	{ "U", 1 },
	{ "L", 1 },
	{ "UL", 1 },
	{ "LU", 1 },
	{ "LL", 1 },
	{ "ULL", 1 },
	{ "LLU", 1 },
	{ "uL", 1 },
	{ "uLL", 1 },
	{ "Ul", 1 },
	{ "Ull", 1 },
	{ "k", 1024 },
	{ "K", 1024 },
	{ "M", 1024 * 1024 },
	{ "G", 1024 * 1024 * 1024 },
	{ "T", 1024ull * 1024 * 1024 * 1024 },
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60ull * 1000000000 },
	{ "h", 3600ull * 1000000000 },
};

/* Return: the factor of a number's suffix; 0: unknown. */
static uint64_t filter_lex_unit(struct filter_compiler *c)
{
	size_t len = filter_lex_name_length(c->at);

	for (size_t i = 0; i < ARRAY_SIZE(filter_units); i++)
		if (strlen(filter_units[i].name) == len &&
		    strncmp(filter_units[i].name, c->at, len) == 0) {
			c->at += len;
			return filter_units[i].factor;
		}
	filter_fail(c, filter_lex_column(c),
		    "unknown unit '%.*s'; use k, M, G, T, ns, us, ms, s, m or h", (int)len, c->at);
	return 0;
}

/* A product with a unit is an integer if it is whole: 1.5ms. */
static void filter_lex_float(struct filter_compiler *c)
{
	char *end;
	double value = strtod(c->at, &end);
	uint64_t factor;

	c->at = end;
	c->token.kind = TOKEN_FLOAT;
	if ((*end == 'f' || *end == 'F' || *end == 'l' || *end == 'L') && !filter_lex_inner(end[1]))
		c->at++;
	factor = filter_lex_unit(c);
	value *= (double)factor;
	c->token.value = filter_bits_of(value);
	if (factor > 1 && value < 9e18 && value == (double)(int64_t)value) {
		c->token.kind = TOKEN_INTEGER;
		c->token.value = (uint64_t)value;
	}
}

static bool filter_lex_is_float(const char *at)
{
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t len = hex ? 2 : 0;

	while (hex ? isxdigit((unsigned char)at[len]) : isdigit((unsigned char)at[len]))
		len++;
	if (at[len] == '.')
		return true;
	if (hex)
		return at[len] == 'p' || at[len] == 'P';
	if (at[len] != 'e' && at[len] != 'E')
		return false;
	return isdigit((unsigned char)at[len + 1]) ||
	       ((at[len + 1] == '-' || at[len + 1] == '+') && isdigit((unsigned char)at[len + 2]));
}

static void filter_lex_number(struct filter_compiler *c)
{
	uint64_t factor;
	char *end;

	if (filter_lex_is_float(c->at)) {
		filter_lex_float(c);
		return;
	}
	errno = 0;
	c->token.kind = TOKEN_INTEGER;
	c->token.value = strtoull(c->at, &end, 0);
	if (errno || isdigit((unsigned char)*end)) {
		filter_fail(c, c->token.column,
			    errno ? "the number has more than 64 bits" :
				    "a number that begins with 0 is octal");
		return;
	}
	c->at = end;
	factor = filter_lex_unit(c);
	if (__builtin_mul_overflow(c->token.value, factor, &c->token.value))
		filter_fail(c, c->token.column, "the number has more than 64 bits");
}

/* --- operators */

static const char *const filter_signs[] = {
	"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "=~", "->", "|", "^", "&", "<",
	">",  "+",  "-",  "*",	"/",  "%",  "!",  "~",	"(",  ")",  "[", "]", ",",
};

static void filter_lex_sign(struct filter_compiler *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(filter_signs); i++) {
		size_t len = strlen(filter_signs[i]);

		if (strncmp(c->at, filter_signs[i], len) == 0) {
			c->token.kind = TOKEN_SIGN;
			memcpy(c->token.sign, filter_signs[i], len + 1);
			c->at += len;
			return;
		}
	}
	if (*c->at == '=')
		filter_fail(c, c->token.column, "'=' is no operator; use ==");
	else
		filter_fail(c, c->token.column, "unexpected character");
}

void filter_next_token(struct filter_compiler *c)
{
	free(c->token.text);
	memset(&c->token, 0, sizeof(c->token)); /* TOKEN_END, also after an error */
	if (c->failed || !filter_lex_blanks(c))
		return;
	c->token.column = filter_lex_column(c);
	if (!*c->at)
		return;
	if (isdigit((unsigned char)*c->at) || (*c->at == '.' && isdigit((unsigned char)c->at[1])))
		filter_lex_number(c);
	else if (filter_lex_letter(*c->at))
		filter_lex_take(c, TOKEN_NAME, filter_lex_name_length(c->at));
	else if (*c->at == '"' || *c->at == '\'')
		filter_lex_text(c);
	else if (*c->at == '$')
		filter_lex_context(c);
	else
		filter_lex_sign(c);
}
