/* SPDX-License-Identifier: GPL-2.0-only */
#include "groups_form.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"

static const struct {
	const char *name;
	enum groups_function function;
	double part;
} groups_functions[] = {
	{ "count", GROUPS_COUNT, 0 },	  { "sum", GROUPS_SUM, 0 },
	{ "min", GROUPS_MIN, 0 },	  { "max", GROUPS_MAX, 0 },
	{ "p50", GROUPS_QUANTILE, 0.5 },  { "p90", GROUPS_QUANTILE, 0.9 },
	{ "p99", GROUPS_QUANTILE, 0.99 }, { "p999", GROUPS_QUANTILE, 0.999 },
};

/* --- words --------------------------------------------------------------------------------- */

static bool groups_is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "..." and '...' have no quotes in them here. */
static size_t groups_length(const char *at)
{
	const char *end;
	size_t len = 0;

	if (*at == '"' || *at == '\'') {
		end = strchr(at + 1, *at);
		return end && end[1] != *at ? (size_t)(end - at) + 1 : 0;
	}
	while (groups_is_letter(at[len]))
		len++;
	if (len)
		return len;
	if (strncmp(at, "<=", 2) == 0 || strncmp(at, ">=", 2) == 0 || strncmp(at, "==", 2) == 0)
		return 2;
	return *at && strchr("(),*;=<>-", *at) ? 1 : 0;
}

static void groups_next(struct groups_statement *s)
{
	const char *at = s->word.at + s->word.len;

	at += strspn(at, " \t\r\n");
	s->word = (struct groups_word){ at, groups_length(at) };
	s->bad |= *at && !s->word.len;
}

static bool groups_is(struct groups_word word, const char *text)
{
	return word.len == strlen(text) && strncasecmp(word.at, text, word.len) == 0;
}

/* Pass a word, if it is this one. */
static bool groups_pass(struct groups_statement *s, const char *text)
{
	if (s->bad || !groups_is(s->word, text))
		return false;
	groups_next(s);
	return true;
}

static void groups_want(struct groups_statement *s, const char *text)
{
	s->bad |= !groups_pass(s, text);
}

/* Without quotes. */
static struct groups_word groups_name(struct groups_word word)
{
	if (word.len >= 2 && *word.at == '"')
		return (struct groups_word){ word.at + 1, word.len - 2 };
	return word;
}

static bool groups_is_name(struct groups_word word, const char *name)
{
	word = groups_name(word);
	return word.len && *word.at != '\'' && groups_is(word, name);
}

/* --- the form ------------------------------------------------------------------------------ */

static bool groups_find_column(const struct groups_statement *s, struct groups_word word,
			       uint32_t *ret)
{
	for (uint32_t i = 0; i < s->table->nr_columns; i++)
		if (groups_is_name(word, s->table->columns[i].name)) {
			*ret = i;
			return true;
		}
	return false;
}

/* Of the integers a loop makes the same as SQLite; of others it need not. */
static void groups_take_column(struct groups_statement *s, struct groups_item *item)
{
	if (s->bad || !groups_find_column(s, s->word, &item->column)) {
		s->bad = true;
		return;
	}
	s->bad |= item->function > GROUPS_COUNT &&
		  s->table->columns[item->column].type != QUERY_INTEGER;
	groups_next(s);
}

static const char *groups_peek(const struct groups_statement *s)
{
	const char *at = s->word.at + s->word.len;

	return at + strspn(at, " \t\r\n");
}

static void groups_parse_function(struct groups_statement *s, struct groups_item *item)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(groups_functions) && !groups_is(s->word, groups_functions[i].name))
		i++;
	if (i == ARRAY_SIZE(groups_functions)) {
		s->bad = true;
		return;
	}
	item->function = groups_functions[i].function;
	item->part = groups_functions[i].part;
	groups_next(s);
	groups_want(s, "(");
	if (item->function == GROUPS_COUNT && groups_pass(s, "*"))
		item->function = GROUPS_ROWS;
	else
		groups_take_column(s, item);
	s->bad |= !groups_is(s->word, ")");
	item->shown.len = s->bad ? 0 : (size_t)(s->word.at + 1 - item->shown.at);
	groups_want(s, ")");
}

/* A column or a function of one. */
static void groups_parse_item(struct groups_statement *s, struct groups_item *item)
{
	*item = (struct groups_item){ .shown = s->word };
	if (*groups_peek(s) == '(')
		groups_parse_function(s, item);
	else
		groups_take_column(s, item);
}

/* The table is known by then. */
static void groups_parse_items(struct groups_statement *s)
{
	uint32_t unused;

	do {
		struct groups_item *item = &s->items[s->nr_items];

		s->bad |= s->nr_items++ + 1 == GROUPS_ITEMS;
		if (s->bad)
			return;
		groups_parse_item(s, item);
		while (s->items[item->first].function != item->function ||
		       s->items[item->first].column != item->column)
			item->first++;
		if (!groups_pass(s, "as"))
			continue;
		item->alias = groups_name(s->word);
		s->bad |= !item->alias.len || !groups_is_letter(*item->alias.at) ||
			  groups_find_column(s, s->word, &unused);
		groups_next(s);
	} while (groups_pass(s, ","));
}

static void groups_find_table(struct groups_statement *s, struct groups_word word)
{
	struct query_table *table = s->query->tables;

	while (table && !groups_is_name(word, table->name))
		table = table->next;
	s->table = table;
	s->bad |= !table || table->fill;
}

/* The items stand before the table by which they are understood. */
static void groups_parse_table(struct groups_statement *s)
{
	struct groups_word begin = s->word;

	while (!s->bad && s->word.len && !groups_is(s->word, "from"))
		groups_next(s);
	groups_want(s, "from");
	if (!s->bad)
		groups_find_table(s, s->word);
	s->word = begin;
}

static unsigned char groups_operator(struct groups_word word)
{
	return groups_is(word, "=") || groups_is(word, "==") ? SQLITE_INDEX_CONSTRAINT_EQ :
	       groups_is(word, "<")			     ? SQLITE_INDEX_CONSTRAINT_LT :
	       groups_is(word, "<=")			     ? SQLITE_INDEX_CONSTRAINT_LE :
	       groups_is(word, ">")			     ? SQLITE_INDEX_CONSTRAINT_GT :
	       groups_is(word, ">=")			     ? SQLITE_INDEX_CONSTRAINT_GE :
							       0;
}

static bool groups_parse_number(struct groups_statement *s, int64_t *ret)
{
	bool minus = groups_pass(s, "-");
	char digits[20];

	if (s->bad || !s->word.len || s->word.len > 18 ||
	    strspn(s->word.at, "0123456789") < s->word.len)
		return false;
	memcpy(digits, s->word.at, s->word.len);
	digits[s->word.len] = '\0';
	*ret = strtoll(digits, NULL, 10) * (minus ? -1 : 1);
	groups_next(s);
	return true;
}

/* An integer with an integer, a text for equality. */
static void groups_parse_compare(struct groups_statement *s)
{
	struct query_compare *compare = &s->compares[s->nr_compares];
	enum query_cell_type type;

	s->bad |= s->nr_compares++ + 1 == GROUPS_COMPARES ||
		  !groups_find_column(s, s->word, &compare->column);
	if (s->bad)
		return;
	type = s->table->columns[compare->column].type;
	groups_next(s);
	compare->op = groups_operator(s->word);
	groups_next(s);
	compare->cell.type = (uint8_t)type;
	if (type == QUERY_INTEGER && compare->op) {
		s->bad |= !groups_parse_number(s, &compare->cell.integer);
	} else if (type == QUERY_TEXT && compare->op == SQLITE_INDEX_CONSTRAINT_EQ &&
		   *s->word.at == '\'') {
		compare->cell.text = s->word.at + 1;
		compare->cell.len = (uint32_t)s->word.len - 2;
		groups_next(s);
	} else {
		s->bad = true;
	}
}

static void groups_parse_keys(struct groups_statement *s)
{
	do {
		s->bad |= s->nr_keys == GROUPS_KEYS ||
			  !groups_find_column(s, s->word, &s->keys[s->nr_keys]);
		if (s->bad)
			return;
		s->nr_keys++;
		groups_next(s);
	} while (groups_pass(s, ","));
}

bool groups_find_key(const struct groups_statement *s, uint32_t column, uint32_t *ret)
{
	for (uint32_t i = 0; i < s->nr_keys; i++)
		if (s->keys[i] == column) {
			*ret = i;
			return true;
		}
	return false;
}

/* The item that a term of ORDER BY names or repeats. Return: false: none. */
static bool groups_find_item(struct groups_statement *s, uint32_t *ret)
{
	struct groups_item item;
	int64_t number;

	for (*ret = 0; *ret < s->nr_items; (*ret)++) {
		struct groups_word alias = s->items[*ret].alias, word = groups_name(s->word);

		if (alias.len && alias.len == word.len &&
		    strncasecmp(alias.at, word.at, word.len) == 0) {
			groups_next(s);
			return true;
		}
	}
	if (groups_parse_number(s, &number)) {
		*ret = (uint32_t)(number - 1);
		return number > 0 && number <= s->nr_items;
	}
	groups_parse_item(s, &item);
	for (*ret = 0; *ret < s->nr_items; (*ret)++)
		if (s->items[*ret].function == item.function && s->items[*ret].part == item.part &&
		    s->items[*ret].column == item.column)
			return true;
	return false;
}

static void groups_parse_order(struct groups_statement *s)
{
	do {
		struct groups_word way = { "", 0 };
		uint32_t *item = &s->order_of[s->nr_order];

		s->bad |= s->nr_order + 1 == GROUPS_ITEMS || !groups_find_item(s, item);
		if (s->bad)
			return;
		if (groups_is(s->word, "asc") || groups_is(s->word, "desc")) {
			way = s->word;
			groups_next(s);
		}
		s->order[s->nr_order++] = way;
	} while (groups_pass(s, ","));
}

/* Each column among the items is one of the groups, so that its value is no chance. */
static bool groups_is_sound(const struct groups_statement *s)
{
	bool any = s->nr_keys > 0;
	uint32_t unused;

	for (uint32_t i = 0; i < s->nr_items; i++) {
		const struct groups_item *item = &s->items[i];

		any |= item->function != GROUPS_COLUMN;
		if (item->function == GROUPS_COLUMN && !groups_find_key(s, item->column, &unused))
			return false;
	}
	return any;
}

bool groups_parse(struct groups_statement *s)
{
	int64_t limit;

	groups_next(s);
	groups_want(s, "select");
	groups_parse_table(s);
	if (s->bad)
		return false;
	groups_parse_items(s);
	groups_want(s, "from");
	groups_next(s);
	if (groups_pass(s, "where"))
		do
			groups_parse_compare(s);
		while (groups_pass(s, "and"));
	if (groups_pass(s, "group")) {
		groups_want(s, "by");
		groups_parse_keys(s);
	}
	if (groups_pass(s, "order")) {
		groups_want(s, "by");
		groups_parse_order(s);
	}
	if (groups_pass(s, "limit")) {
		s->limit = s->word;
		s->bad |= !groups_parse_number(s, &limit) || limit < 0;
	}
	s->bad |= s->word.len && !groups_is(s->word, ";");
	return !s->bad && groups_is_sound(s);
}
