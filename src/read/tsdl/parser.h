/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parser.h - state of one run of the TSDL parser, shared by its sources.
 * Functions return 0, or -EPROTO after model_fail() has stored the reason.
 */
#ifndef READ_TSDL_PARSER_H
#define READ_TSDL_PARSER_H

#include "lex.h"
#include "read/model/model.h"
#include "tsdl.h"

enum tsdl_namespace { NS_ALIAS, NS_STRUCT, NS_VARIANT, NS_ENUM };

struct tsdl_name {
	struct tsdl_name *next; /* in the hash chain */
	const char *name;
	uint32_t scope;
	uint8_t ns;
	struct ctf_type *type;
};

struct tsdl {
	struct lex lex;
	struct token tok;
	const char *text;
	const char *passed; /* end of the token before @tok */
	struct model model;
	struct tsdl_name *names[1024];
	uint32_t scopes[MODEL_MAX_NESTING + 2]; /* open ones, innermost last */
	uint32_t nr_scopes, last_scope;
	uint32_t nesting;
	uint32_t braces;
};

/** One `key = value;`. Words joined by dots are one text. */
struct tsdl_value {
	enum { VALUE_NUMBER, VALUE_STRING, VALUE_WORD } kind;
	uint64_t number; /* two's complement */
	bool negative;
	const char *text;
};

#define tsdl_fail(p, ...) model_fail(&(p)->model, __VA_ARGS__)
void tsdl_advance(struct tsdl *p);
int tsdl_expect(struct tsdl *p, char c);
bool tsdl_accept(struct tsdl *p, char c);
static inline bool tsdl_at(const struct tsdl *p, char c)
{
	return p->tok.kind == TOKEN_CHAR + c;
}
/** Words joined by dots. */
int tsdl_path(struct tsdl *p, const char **ret_path);
int tsdl_value(struct tsdl *p, struct tsdl_value *ret_value);
/** A string with its escapes undone; the token is consumed. */
const char *tsdl_string(struct tsdl *p);

/* scope.c */
int tsdl_scope_push(struct tsdl *p);
void tsdl_scope_pop(struct tsdl *p);
void tsdl_scope_add(struct tsdl *p, enum tsdl_namespace ns, const char *name,
		    struct ctf_type *type);
struct ctf_type *tsdl_scope_find(struct tsdl *p, enum tsdl_namespace ns, const char *name);

/* type.c */
/** Parse a type that must be followed by `:=` or `;`. */
int tsdl_type(struct tsdl *p, struct ctf_type **ret_type);
/** Whether the current token begins a typealias, a typedef or a definition with a tag. */
bool tsdl_at_declaration(const struct tsdl *p);
int tsdl_declaration(struct tsdl *p);

/* scalar.c: integer, floating_point, string; the keyword is consumed */
int tsdl_integer(struct tsdl *p, struct ctf_type **ret_type);
int tsdl_float(struct tsdl *p, struct ctf_type **ret_type);
int tsdl_string_type(struct tsdl *p, struct ctf_type **ret_type);
/** Add a scalar whose byte order and clock are resolved at the end. */
void tsdl_pend(struct tsdl *p, struct ctf_type *type);

/* enum.c: the part after `enum [NAME]` and its container */
int tsdl_enum_body(struct tsdl *p, struct ctf_type *type);

#endif
