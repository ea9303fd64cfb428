/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tree.h - the parts of the compiler of filter.h: tokens, tree, types, code. Private to them. */
#ifndef EXPRESSION_TREE_H
#define EXPRESSION_TREE_H

#include <stdbool.h>

#include "base/macros.h"
#include "filter.h"

enum filter_token_kind {
	TOKEN_END,
	TOKEN_INTEGER,
	TOKEN_FLOAT,
	TOKEN_TEXT,
	TOKEN_NAME,
	TOKEN_CONTEXT,
	TOKEN_SIGN /* operators and brackets: @sign */
};

/** struct filter_token - @text is allocated, for TOKEN_TEXT, TOKEN_NAME and TOKEN_CONTEXT. */
struct filter_token {
	enum filter_token_kind kind;
	uint32_t column;
	char sign[3];
	uint64_t value; /* an integer, or the bits of a double */
	char *text;
	uint32_t length; /* of @text; a star is a NUL */
};

enum filter_node_kind {
	NODE_NUMBER, /* integer or float, by its type */
	NODE_TEXT,
	NODE_NAME,  /* not resolved yet; a label, perhaps */
	NODE_FIELD, /* or an element of an array: @index */
	NODE_CONTEXT,
	NODE_ELEMENT, /* of a sequence: @index */
	NODE_LENGTH,
	NODE_TO_FLOAT,
	NODE_COMPUTE,  /* @op: enum ltt_filter_operator and LTT_FILTER_FLOAT */
	NODE_RELATION, /* @op: enum ltt_filter_relation and flags */
	NODE_IN,       /* right: the list, linked by ->item */
	NODE_INDEX,    /* left[right] */
	NODE_AND,
	NODE_OR,
	NODE_NOT
};

enum filter_type {
	TYPE_UNKNOWN, /* something is absent: any operation on it is, too */
	TYPE_INTEGER,
	TYPE_FLOAT,
	TYPE_TEXT,
	TYPE_LIST, /* an array or sequence that is no text */
	TYPE_NAME, /* a name that is no field */
	TYPE_ANY   /* a context whose type is known at the run only */
};

struct filter_node {
	enum filter_node_kind kind;
	enum filter_type type;
	uint32_t column;
	uint8_t op;
	bool has_star; /* of NODE_TEXT */
	struct filter_node *left, *right, *item;
	uint64_t value;
	char *text;
	uint32_t length;
	uint32_t index;
	uint32_t field; /* number in the layout */
	const struct filter_context *context;
	struct filter_node *allocated; /* the node that was made before this one */
};

struct filter_compiler {
	const char *expression, *at;
	const struct filter_ending *ending; /* or NULL */
	const struct filter_node *key;	    /* by which it chooses, or NULL */
	const struct layout *layout;
	const struct filter_context *contexts;
	size_t nr_contexts;
	enum filter_mode mode;
	struct filter_token token; /* the next one */
	uint32_t depth;
	bool failed; /* the result has the first error */
	struct filter_node *allocated;
	struct filter_result *result;
};

/* filter.c */
/** The first error counts. */
void filter_fail(struct filter_compiler *c, uint32_t column, const char *format, ...) PRINTF(3, 4);
/** Something is absent from this layout: an error in the strict mode. */
void filter_absent(struct filter_compiler *c, uint32_t column, const char *format, ...)
	PRINTF(3, 4);
struct filter_node *filter_node_new(struct filter_compiler *c, enum filter_node_kind kind,
				    uint32_t column);
double filter_double_of(uint64_t bits);
uint64_t filter_bits_of(double value);

/* lex.c */
void filter_next_token(struct filter_compiler *c);

/* parse.c */
struct filter_node *filter_parse(struct filter_compiler *c);

/* names.c */
/** Return: a field's number, or -1. */
int filter_find_field(const struct filter_compiler *c, const char *name);
void filter_no_field(struct filter_compiler *c, uint32_t column, const char *name);
void filter_no_context(struct filter_compiler *c, uint32_t column, const char *name);
void filter_no_label(struct filter_compiler *c, uint32_t column, const char *label,
		     const struct layout_field *field);

/* types.c */
/** Resolve names, compute types, replace constants. Return: the new tree. */
struct filter_node *filter_resolve(struct filter_compiler *c, struct filter_node *node);

/** The same for a value by which the ending chooses. */
struct filter_node *filter_resolve_key(struct filter_compiler *c, struct filter_node *node);

/* code.c */
/** Fill the result's program. @root: NULL: holds always. */
void filter_generate(struct filter_compiler *c, const struct filter_node *root);

#endif
