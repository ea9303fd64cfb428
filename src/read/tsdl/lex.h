/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lex.h - lexer of TSDL, the language of CTF 1.8 metadata. Pure; the text is owned by the caller.
 */
#ifndef READ_TSDL_LEX_H
#define READ_TSDL_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END,
	TOKEN_BAD,	   /* a byte or literal that TSDL does not know */
	TOKEN_WORD,	   /* identifier or keyword */
	TOKEN_NUMBER,	   /* without a sign */
	TOKEN_STRING,	   /* text and len: the string without quotes, with escapes */
	TOKEN_ASSIGN_TYPE, /* := */
	TOKEN_ELLIPSIS,
	TOKEN_ARROW,	    /* -> */
	TOKEN_CHAR = 0x100, /* + the byte */
};

struct token {
	int kind;
	const char *text;
	size_t len;
	uint64_t number;
};

struct lex {
	const char *at;
	const char *end;
};

void lex_next(struct lex *lex, struct token *ret_token);
bool token_is(const struct token *token, const char *word);

/** Replace the escapes of a TOKEN_STRING. @dst: token->len bytes. Return: length. */
size_t token_unescape(const struct token *token, char *dst);

#endif
