/* SPDX-License-Identifier: GPL-2.0-only */
/* groups_form.h - the form of statements that groups.h describes: found in a text, or not. */
#ifndef CTL_QUERY_GROUPS_FORM_H
#define CTL_QUERY_GROUPS_FORM_H

#include "table.h"

#define GROUPS_ITEMS 16u
#define GROUPS_KEYS 4u
#define GROUPS_COMPARES 16u

enum groups_function {
	GROUPS_COLUMN, /* no function: a column of the groups */
	GROUPS_ROWS,   /* count(*) */
	GROUPS_COUNT,
	GROUPS_SUM,
	GROUPS_MIN,
	GROUPS_MAX,
	GROUPS_QUANTILE,
};

/** A part of a statement: a piece of its text. */
struct groups_word {
	const char *at;
	size_t len;
};

/** @shown: its text, for the name of the column of the result; @alias: NULL: it has none.
 *  @first: the first item of the same function and column: quantiles differ in @part alone. */
struct groups_item {
	enum groups_function function;
	double part;
	uint32_t column, first;
	struct groups_word shown, alias;
};

/** A statement. @order, @order_of: of each term "", "ASC" or "DESC", and its item. @word: the one
 *  that is parsed. @bad: it has another form. */
struct groups_statement {
	struct query *query;
	struct query_table *table;
	struct groups_item items[GROUPS_ITEMS];
	uint32_t nr_items;
	uint32_t keys[GROUPS_KEYS];
	uint32_t nr_keys;
	struct query_compare compares[GROUPS_COMPARES];
	uint32_t nr_compares;
	struct groups_word order[GROUPS_ITEMS];
	uint32_t order_of[GROUPS_ITEMS];
	uint32_t nr_order;
	struct groups_word limit;
	struct groups_word word;
	bool bad;
};

/** groups_parse() - @s: its query and, as word, the begin of the text are set. Return: whether it
 *  has the form; then the word is the one behind it, `;` or none. */
bool groups_parse(struct groups_statement *s);
/** Which column of the groups it is. Return: false: none. */
bool groups_find_key(const struct groups_statement *s, uint32_t column, uint32_t *ret);

#endif
