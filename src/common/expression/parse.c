/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a filter expression, before names are resolved. */
#include <string.h>

#include "tree.h"

#define FILTER_MAX_DEPTH 64u /* of brackets and unary operators */

static const struct filter_binary {
	const char *sign;
	uint8_t level; /* a higher one binds tighter */
	uint8_t kind;  /* enum filter_node_kind */
	uint8_t op;
} filter_binaries[] = {
	{ "||", 1, NODE_OR, 0 },
	{ "&&", 2, NODE_AND, 0 },
	{ "==", 3, NODE_RELATION, LTT_FILTER_EQ },
	{ "!=", 3, NODE_RELATION, LTT_FILTER_EQ | LTT_FILTER_NOT },
	{ "=~", 3, NODE_RELATION, LTT_FILTER_CONTAINS },
	{ "in", 3, NODE_IN, 0 },
	{ "<", 4, NODE_RELATION, LTT_FILTER_LT },
	{ "<=", 4, NODE_RELATION, LTT_FILTER_LE },
	{ ">", 4, NODE_RELATION, LTT_FILTER_GT },
	{ ">=", 4, NODE_RELATION, LTT_FILTER_GE },
	{ "|", 5, NODE_COMPUTE, LTT_FILTER_OR },
	{ "^", 6, NODE_COMPUTE, LTT_FILTER_XOR },
	{ "&", 7, NODE_COMPUTE, LTT_FILTER_AND },
	{ "<<", 8, NODE_COMPUTE, LTT_FILTER_SHL },
	{ ">>", 8, NODE_COMPUTE, LTT_FILTER_SHR },
	{ "+", 9, NODE_COMPUTE, LTT_FILTER_ADD },
	{ "-", 9, NODE_COMPUTE, LTT_FILTER_SUB },
	{ "*", 10, NODE_COMPUTE, LTT_FILTER_MUL },
	{ "/", 10, NODE_COMPUTE, LTT_FILTER_DIV },
	{ "%", 10, NODE_COMPUTE, LTT_FILTER_MOD },
};

static struct filter_node *filter_parse_binary(struct filter_compiler *c, uint8_t level);
static struct filter_node *filter_parse_unary(struct filter_compiler *c);

static bool filter_parse_is(const struct filter_compiler *c, const char *sign)
{
	return c->token.kind == TOKEN_SIGN && strcmp(c->token.sign, sign) == 0;
}

static void filter_parse_expect(struct filter_compiler *c, const char *sign)
{
	if (filter_parse_is(c, sign))
		filter_next_token(c);
	else
		filter_fail(c, c->token.column, "'%s' is missing here", sign);
}

/* A node with the value or text of the next token, which is used up. */
static struct filter_node *filter_parse_leaf(struct filter_compiler *c, enum filter_node_kind kind)
{
	struct filter_node *node = filter_node_new(c, kind, c->token.column);

	node->type = c->token.kind == TOKEN_FLOAT ? TYPE_FLOAT : TYPE_INTEGER;
	node->value = c->token.value;
	node->length = c->token.length;
	node->text = TAKE(c->token.text);
	node->has_star = node->text && memchr(node->text, 0, node->length);
	filter_next_token(c);
	return node;
}

/* (1, 2, "x") - Return: the first; the others are linked to it. */
static struct filter_node *filter_parse_list(struct filter_compiler *c)
{
	struct filter_node *first = NULL, **end = &first;

	filter_parse_expect(c, "(");
	while (!c->failed) {
		*end = filter_parse_binary(c, 1);
		if (c->failed)
			break;
		end = &(*end)->item;
		if (!filter_parse_is(c, ","))
			break;
		filter_next_token(c);
	}
	filter_parse_expect(c, ")");
	return first;
}

static struct filter_node *filter_parse_group(struct filter_compiler *c)
{
	struct filter_node *node;

	filter_next_token(c);
	node = filter_parse_binary(c, 1);
	filter_parse_expect(c, ")");
	return node;
}

static struct filter_node *filter_parse_name(struct filter_compiler *c)
{
	struct filter_node *length, *node = filter_parse_leaf(c, NODE_NAME);

	if (strcmp(node->text, "len") != 0 || !filter_parse_is(c, "("))
		return node;
	length = filter_node_new(c, NODE_LENGTH, node->column);
	length->left = filter_parse_group(c);
	return length;
}

static struct filter_node *filter_parse_primary(struct filter_compiler *c)
{
	switch (c->token.kind) {
	case TOKEN_FLOAT:
		if (c->mode & FILTER_INTEGERS)
			filter_fail(c, c->token.column,
				    "filters in the kernel have no floating point; use integers");
		return filter_parse_leaf(c, NODE_NUMBER);
	case TOKEN_INTEGER:
		return filter_parse_leaf(c, NODE_NUMBER);
	case TOKEN_TEXT:
		return filter_parse_leaf(c, NODE_TEXT);
	case TOKEN_NAME:
		return filter_parse_name(c);
	case TOKEN_CONTEXT:
		return filter_parse_leaf(c, NODE_CONTEXT);
	default:
		if (filter_parse_is(c, "("))
			return filter_parse_group(c);
		filter_fail(c, c->token.column, "a field, number or text is missing here");
		return NULL;
	}
}

static struct filter_node *filter_parse_postfix(struct filter_compiler *c)
{
	struct filter_node *node = filter_parse_primary(c);

	while (!c->failed && filter_parse_is(c, "[")) {
		struct filter_node *index = filter_node_new(c, NODE_INDEX, c->token.column);

		filter_next_token(c);
		index->left = node;
		index->right = filter_parse_binary(c, 1);
		filter_parse_expect(c, "]");
		node = index;
	}
	if (filter_parse_is(c, "->"))
		filter_fail(c, c->token.column, "'->' is not supported; use '.'");
	return node;
}

/* -x is x * -1, ~x is x ^ -1. */
static struct filter_node *filter_parse_minus_one(struct filter_compiler *c, uint8_t op)
{
	struct filter_node *node = filter_node_new(c, NODE_COMPUTE, c->token.column);

	filter_next_token(c);
	node->op = op;
	node->left = filter_parse_unary(c);
	node->right = filter_node_new(c, NODE_NUMBER, node->column);
	node->right->type = TYPE_INTEGER;
	node->right->value = ~(uint64_t)0;
	return node;
}

static struct filter_node *filter_parse_not(struct filter_compiler *c)
{
	struct filter_node *node = filter_node_new(c, NODE_NOT, c->token.column);

	filter_next_token(c);
	node->left = filter_parse_unary(c);
	return node;
}

/* +x is x + 0, so that it is a number. */
static struct filter_node *filter_parse_plus(struct filter_compiler *c)
{
	struct filter_node *node = filter_parse_minus_one(c, LTT_FILTER_ADD);

	node->right->value = 0;
	return node;
}

static struct filter_node *filter_parse_unary(struct filter_compiler *c)
{
	struct filter_node *node;

	if (++c->depth > FILTER_MAX_DEPTH) {
		filter_fail(c, c->token.column, "the expression is nested too deeply");
		return NULL;
	}
	if (filter_parse_is(c, "!"))
		node = filter_parse_not(c);
	else if (filter_parse_is(c, "-"))
		node = filter_parse_minus_one(c, LTT_FILTER_MUL);
	else if (filter_parse_is(c, "~"))
		node = filter_parse_minus_one(c, LTT_FILTER_XOR);
	else if (filter_parse_is(c, "+"))
		node = filter_parse_plus(c);
	else
		node = filter_parse_postfix(c);
	c->depth--;
	return node;
}

static const struct filter_binary *filter_parse_operator(const struct filter_compiler *c)
{
	const char *sign = c->token.kind == TOKEN_SIGN ? c->token.sign :
			   c->token.kind == TOKEN_NAME ? c->token.text :
							 "";

	for (size_t i = 0; i < ARRAY_SIZE(filter_binaries); i++)
		if (strcmp(filter_binaries[i].sign, sign) == 0)
			return &filter_binaries[i];
	return NULL;
}

static struct filter_node *filter_parse_binary(struct filter_compiler *c, uint8_t level)
{
	struct filter_node *node, *left = filter_parse_unary(c);
	const struct filter_binary *binary;

	while (!c->failed && (binary = filter_parse_operator(c)) && binary->level >= level) {
		node = filter_node_new(c, (enum filter_node_kind)binary->kind, c->token.column);
		node->op = binary->op;
		node->left = left;
		filter_next_token(c);
		node->right = binary->kind == NODE_IN ?
				      filter_parse_list(c) :
				      filter_parse_binary(c, (uint8_t)(binary->level + 1));
		left = node;
	}
	return left;
}

struct filter_node *filter_parse(struct filter_compiler *c)
{
	struct filter_node *root;

	filter_next_token(c);
	root = filter_parse_binary(c, 1);
	if (!c->failed && c->token.kind != TOKEN_END)
		filter_fail(c, c->token.column, "an operator is missing here");
	return root;
}
