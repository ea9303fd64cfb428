/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lex.h"

#include <string.h>

static bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool lex_is_word(char c)
{
	return lex_is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Return: where a comment that begins at @at ends, or @at. */
static const char *skip_comment(const char *at, const char *end)
{
	const char *stop;

	if (end - at < 2 || at[0] != '/')
		return at;
	if (at[1] == '/') {
		stop = memchr(at, '\n', end - at);
		return stop ? stop : end;
	}
	if (at[1] != '*')
		return at;
	stop = memmem(at + 2, end - at - 2, "*/", 2);
	return stop ? stop + 2 : end;
}

static const char *skip_blank(const char *at, const char *end)
{
	for (;;) {
		const char *before = at;

		while (at < end && is_space(*at))
			at++;
		at = skip_comment(at, end);
		if (at == before)
			return at;
	}
}

static int digit_value(char c)
{
	if (lex_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static void lex_number(struct lex *lex, struct token *t)
{
	int base = 10;
	bool overflow = false;

	if (*lex->at == '0' && lex->end - lex->at > 1) {
		base = (lex->at[1] | 0x20) == 'x' ? 16 : 8;
		lex->at += base == 16 ? 2 : 1;
	}
	for (; lex->at < lex->end && digit_value(*lex->at) < base; lex->at++)
		overflow |= __builtin_mul_overflow(t->number, (uint64_t)base, &t->number) ||
			    __builtin_add_overflow(t->number, (uint64_t)digit_value(*lex->at),
						   &t->number);
	while (lex->at < lex->end && ((*lex->at | 0x20) == 'u' || (*lex->at | 0x20) == 'l'))
		lex->at++;
	t->kind = overflow || (lex->at < lex->end && lex_is_word(*lex->at)) ? TOKEN_BAD :
									      TOKEN_NUMBER;
}

static void lex_string(struct lex *lex, struct token *t)
{
	const char *s = lex->at + 1;

	t->text = s;
	while (s < lex->end && *s != '"')
		s += *s == '\\' && lex->end - s > 1 ? 2 : 1;
	t->kind = s < lex->end ? TOKEN_STRING : TOKEN_END; /* the text is cut */
	t->len = s - t->text;
	lex->at = s < lex->end ? s + 1 : lex->end;
}

static bool lex_operator(struct lex *lex, struct token *t, const char *text, int kind)
{
	size_t len = strlen(text);

	if ((size_t)(lex->end - lex->at) < len || memcmp(lex->at, text, len))
		return false;
	lex->at += len;
	t->kind = kind;
	return true;
}

void lex_next(struct lex *lex, struct token *ret_token)
{
	struct token *t = ret_token;

	lex->at = skip_blank(lex->at, lex->end);
	*t = (struct token){ .kind = TOKEN_END, .text = lex->at };
	if (lex->at == lex->end)
		return;
	if (lex_is_digit(*lex->at)) {
		lex_number(lex, t);
	} else if (lex_is_word(*lex->at)) {
		while (lex->at < lex->end && lex_is_word(*lex->at))
			lex->at++;
		t->kind = TOKEN_WORD;
	} else if (*lex->at == '"') {
		lex_string(lex, t);
		return;
	} else if (!lex_operator(lex, t, ":=", TOKEN_ASSIGN_TYPE) &&
		   !lex_operator(lex, t, "...", TOKEN_ELLIPSIS) &&
		   !lex_operator(lex, t, "->", TOKEN_ARROW)) {
		t->kind = strchr("{}[]()<>;,:=.-+*", *lex->at) && *lex->at ? TOKEN_CHAR + *lex->at :
									     TOKEN_BAD;
		lex->at++;
	}
	t->len = lex->at - t->text;
}

bool token_is(const struct token *token, const char *word)
{
	return token->kind == TOKEN_WORD && strlen(word) == token->len &&
	       !memcmp(token->text, word, token->len);
}

/* One escape behind its backslash. Return: bytes used. */
static size_t unescape_one(const char *s, size_t len, char *ret)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *known = *s ? strchr(from, *s) : NULL;
	size_t used = 0;
	unsigned value = 0;

	if (known) {
		*ret = to[known - from];
		return 1;
	}
	if (*s == 'x') {
		for (used = 1; used < 3 && used < len && digit_value(s[used]) < 16; used++)
			value = value * 16 + digit_value(s[used]);
	} else {
		for (; used < 3 && used < len && s[used] >= '0' && s[used] <= '7'; used++)
			value = value * 8 + digit_value(s[used]);
	}
	*ret = used ? (char)value : *s;
	return used ? used : 1;
}

size_t token_unescape(const struct token *token, char *dst)
{
	size_t out = 0;

	for (size_t i = 0; i < token->len;) {
		if (token->text[i] == '\\' && i + 1 < token->len)
			i += 1 + unescape_one(token->text + i + 1, token->len - i - 1, &dst[out++]);
		else
			dst[out++] = token->text[i++];
	}
	return out;
}
