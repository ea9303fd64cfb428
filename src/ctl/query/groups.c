/* SPDX-License-Identifier: GPL-2.0-only */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "functions.h"
#include "groups_form.h"
#include "read/event.h"

#define GROUPS_RECENT 64u /* groups that are found without a hash */

/* --- the loop ------------------------------------------------------------------------------ */

/** The state of a function in one group. @any: values that are not NULL. */
struct groups_state {
	uint64_t any;
	int64_t value;
	struct query_numbers numbers;
};

/** A group. @next: of the same hash. */
struct group {
	struct group *next, *all;
	uint64_t rows;
	struct query_cell keys[GROUPS_KEYS];
	struct groups_state states[];
};

/** @buckets: 2^@bits. @quick: the role of the only key; QUERY_TS: there are more. @recent: by the
 *  number of such a key. @has_functions: with a column. @unfit: SQLite has to do it. */
struct groups {
	const struct groups_statement *statement;
	struct query_cursor *scan;
	const struct event *event;
	struct group *all, **buckets, *last;
	unsigned int bits;
	uint64_t nr, bytes;
	struct {
		uint64_t key;
		struct group *group;
	} recent[GROUPS_RECENT];
	enum query_role quick;
	bool has_functions, unfit;
};

static bool groups_charge(struct groups *g, uint64_t bytes)
{
	struct query_memory *memory = &g->statement->query->memory;

	g->unfit |= memory->used + bytes > memory->most;
	if (g->unfit)
		return false;
	memory->used += bytes;
	g->bytes += bytes;
	return true;
}

static uint64_t groups_hash(const struct query_cell *keys, uint32_t nr)
{
	uint64_t hash = 0;

	for (uint32_t k = 0; k < nr; k++) {
		hash ^= keys[k].type == QUERY_INTEGER ? (uint64_t)keys[k].integer : keys[k].type;
		for (uint32_t i = 0; keys[k].type == QUERY_TEXT && i < keys[k].len; i++)
			hash = (hash ^ (uint8_t)keys[k].text[i]) * 0x100000001b3u;
		hash *= 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool groups_are_equal(const struct query_cell *a, const struct query_cell *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (a[i].type != b[i].type)
			return false;
		if (a[i].type == QUERY_INTEGER && a[i].integer != b[i].integer)
			return false;
		if (a[i].type == QUERY_TEXT &&
		    (a[i].len != b[i].len || memcmp(a[i].text, b[i].text, a[i].len) != 0))
			return false;
	}
	return true;
}

static void groups_grow(struct groups *g)
{
	uint64_t size;

	if (g->buckets && g->nr >> g->bits == 0)
		return;
	free(g->buckets);
	g->bits = g->buckets ? g->bits + 2 : 6;
	size = UINT64_C(1) << g->bits;
	g->buckets = xalloc(size * sizeof(struct group *));
	for (struct group *group = g->all; group; group = group->all) {
		struct group **bucket =
			&g->buckets[groups_hash(group->keys, g->statement->nr_keys) & (size - 1)];

		group->next = *bucket;
		*bucket = group;
	}
}

/* Return: NULL: there is no memory for it. */
static struct group *groups_add(struct groups *g, const struct query_cell *keys, uint64_t hash)
{
	const struct groups_statement *s = g->statement;
	size_t size = sizeof(struct group) + s->nr_items * sizeof(struct groups_state);
	struct group *group, **bucket;
	uint64_t texts = 0;
	char *to;

	for (uint32_t i = 0; i < s->nr_keys; i++)
		texts += keys[i].type == QUERY_TEXT ? keys[i].len : 0;
	if (!groups_charge(g, size + texts + 4 * sizeof(group)))
		return NULL;
	groups_grow(g);
	group = xalloc(size + texts);
	to = (char *)group + size;
	for (uint32_t i = 0; i < s->nr_keys; i++) {
		group->keys[i] = keys[i];
		if (keys[i].type == QUERY_TEXT) {
			group->keys[i].text = memcpy(to, keys[i].text, keys[i].len);
			to += keys[i].len;
		}
	}
	bucket = &g->buckets[hash & ((UINT64_C(1) << g->bits) - 1)];
	group->next = *bucket;
	*bucket = group;
	group->all = g->all;
	g->all = group;
	g->nr++;
	return group;
}

static struct group *groups_find(struct groups *g, const struct query_cell *keys)
{
	uint32_t nr = g->statement->nr_keys;
	uint64_t hash;
	struct group *group;

	if (g->last && groups_are_equal(g->last->keys, keys, nr))
		return g->last;
	hash = groups_hash(keys, nr);
	group = g->buckets ? g->buckets[hash & ((UINT64_C(1) << g->bits) - 1)] : NULL;
	while (group && !groups_are_equal(group->keys, keys, nr))
		group = group->next;
	return group ? group : groups_add(g, keys, hash);
}

/* The cells that most statements have need no call. */
static inline struct query_cell groups_value(const struct groups *g, uint32_t column)
{
	const struct event *event = g->event;

	switch (g->statement->table->columns[column].role) {
	case QUERY_TS:
		return (struct query_cell){ .integer = event->ns, .type = QUERY_INTEGER };
	case QUERY_CPU:
		return (struct query_cell){ .integer = (int64_t)event->packet->cpu,
					    .type = QUERY_INTEGER };
	case QUERY_NAME:
		return (struct query_cell){ .text = event->ec->name,
					    .len = event->ec->name_len,
					    .type = QUERY_TEXT };
	default:
		return query_scan_cell(g->scan, column);
	}
}

/* Names, processors and threads are looked up by a number: the name of a class has one address
 * while the trace is read. Return: whether there is one. */
static bool groups_number(const struct groups *g, uint64_t *ret)
{
	const struct event *event = g->event;

	if (g->quick == QUERY_NAME)
		*ret = (uintptr_t)event->ec->name >> 3;
	else if (g->quick == QUERY_CPU)
		*ret = event->packet->cpu;
	else if (g->quick == QUERY_TID && event->task.tid)
		*ret = event->task.tid->u;
	else
		return false;
	return true;
}

static struct group *groups_of_keys(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	struct query_cell keys[GROUPS_KEYS];

	for (uint32_t i = 0; i < s->nr_keys; i++) {
		keys[i] = groups_value(g, s->keys[i]);
		g->unfit |= keys[i].type == QUERY_REAL;
	}
	g->last = groups_find(g, keys);
	return g->last;
}

static struct group *groups_of_event(struct groups *g)
{
	uint64_t number, slot;
	struct group *group;

	if (!g->statement->nr_keys)
		return g->all;
	if (!groups_number(g, &number))
		return groups_of_keys(g);
	slot = number % GROUPS_RECENT;
	if (g->recent[slot].group && g->recent[slot].key == number)
		return g->recent[slot].group;
	group = groups_of_keys(g);
	g->recent[slot].key = number;
	g->recent[slot].group = group;
	return group;
}

static void groups_take(struct groups *g, const struct groups_item *item,
			struct groups_state *state)
{
	struct query_cell cell;

	cell = groups_value(g, item->column);
	if (cell.type == QUERY_NULL)
		return;
	g->unfit |= item->function != GROUPS_COUNT && cell.type != QUERY_INTEGER;
	if (item->function == GROUPS_SUM)
		g->unfit |= __builtin_add_overflow(state->value, cell.integer, &state->value);
	else if (item->function == GROUPS_MIN)
		state->value = state->any ? MIN(state->value, cell.integer) : cell.integer;
	else if (item->function == GROUPS_MAX)
		state->value = state->any ? MAX(state->value, cell.integer) : cell.integer;
	else if (item->function == GROUPS_QUANTILE)
		query_numbers_add(g->statement->query, &state->numbers, (double)cell.integer);
	g->unfit |= state->numbers.failed;
	state->any++;
}

static bool groups_holds(struct groups *g, const struct query_compare *compare)
{
	struct query_cell cell = groups_value(g, compare->column);

	if (cell.type == QUERY_NULL)
		return false;
	if (cell.type != compare->cell.type) {
		g->unfit = true;
		return false;
	}
	if (cell.type == QUERY_TEXT)
		return cell.len == compare->cell.len &&
		       memcmp(cell.text, compare->cell.text, cell.len) == 0;
	switch (compare->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return cell.integer == compare->cell.integer;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return cell.integer < compare->cell.integer;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return cell.integer <= compare->cell.integer;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return cell.integer > compare->cell.integer;
	default:
		return cell.integer >= compare->cell.integer;
	}
}

static void groups_take_event(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	struct group *group;

	for (uint32_t i = 0; i < s->nr_compares; i++)
		if (!groups_holds(g, &s->compares[i]))
			return;
	group = groups_of_event(g);
	if (!group)
		return;
	group->rows++;
	for (uint32_t i = 0; g->has_functions && i < s->nr_items; i++)
		if (s->items[i].function != GROUPS_COLUMN && s->items[i].function != GROUPS_ROWS)
			groups_take(g, &s->items[i], &group->states[i]);
}

static uint64_t groups_used(const struct groups_statement *s)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < s->nr_items; i++)
		if (s->items[i].function != GROUPS_ROWS)
			used |= UINT64_C(1) << MIN(s->items[i].column, 63u);
	for (uint32_t i = 0; i < s->nr_keys; i++)
		used |= UINT64_C(1) << MIN(s->keys[i], 63u);
	for (uint32_t i = 0; i < s->nr_compares; i++)
		used |= UINT64_C(1) << MIN(s->compares[i].column, 63u);
	return used;
}

static int groups_read(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	int rc = SQLITE_ROW;

	g->scan = query_scan_new(s->table, groups_used(s), s->compares, s->nr_compares);
	if (!g->scan)
		return SQLITE_ERROR;
	g->event = query_scan_event(g->scan);
	g->quick = s->nr_keys == 1 ? s->table->columns[s->keys[0]].role : QUERY_TS;
	for (uint32_t i = 0; i < s->nr_items; i++)
		g->has_functions |= s->items[i].function >= GROUPS_COUNT;
	if (!s->nr_keys)
		groups_add(g, NULL, 0);
	while (!g->unfit && (rc = query_scan_next(g->scan)) == SQLITE_ROW)
		groups_take_event(g);
	query_scan_free(g->scan);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void groups_fini(struct groups *g)
{
	struct query *query = g->statement->query;
	struct group *group;

	while ((group = g->all)) {
		g->all = group->all;
		for (uint32_t i = 0; i < g->statement->nr_items; i++)
			query_numbers_fini(query, &group->states[i].numbers);
		free(group);
	}
	free(g->buckets);
	query->memory.used -= g->bytes;
}

/* --- the result ---------------------------------------------------------------------------- */

static struct query_cell groups_cell(const struct groups_statement *s,
				     const struct groups_item *item, struct group *group)
{
	struct groups_state *state = &group->states[item - s->items];
	struct query_cell cell = { .type = QUERY_INTEGER };
	uint32_t key;

	if (item->function == GROUPS_COLUMN && groups_find_key(s, item->column, &key))
		return group->keys[key];
	if (item->function == GROUPS_ROWS)
		cell.integer = (int64_t)group->rows;
	else if (item->function == GROUPS_COUNT)
		cell.integer = (int64_t)state->any;
	else if (!state->any)
		cell.type = QUERY_NULL;
	else if (item->function == GROUPS_QUANTILE)
		cell.integer = (int64_t)query_numbers_quantile(&state->numbers, item->part);
	else
		cell.integer = state->value;
	return cell;
}

static struct query_table *groups_new_table(const struct groups_statement *s)
{
	struct query_table *table = xalloc(sizeof(*table));
	char name[16];

	table->query = s->query;
	table->name = xasprintf("groups %llu", (unsigned long long)++s->query->nr_groups);
	table->next = s->query->groups;
	s->query->groups = table;
	for (uint32_t i = 0; i < s->nr_items; i++) {
		enum query_cell_type type = QUERY_INTEGER;

		if (s->items[i].function == GROUPS_COLUMN)
			type = s->table->columns[s->items[i].column].type;
		snprintf(name, sizeof(name), "a%u", i);
		query_table_column(table, name, type, QUERY_FIELDS, NULL);
	}
	for (uint32_t i = 0; i < s->nr_keys; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		query_table_column(table, name, s->table->columns[s->keys[i]].type, QUERY_FIELDS,
				   NULL);
	}
	return table;
}

/* Return: SQLITE_OK, or SQLITE_NOMEM. */
static int groups_fill(struct groups *g, struct query_table *table)
{
	const struct groups_statement *s = g->statement;
	struct query_cell cells[GROUPS_ITEMS + GROUPS_KEYS];

	table->rows = query_rows_new(table->nr_columns, &s->query->memory);
	for (struct group *group = g->all; table->rows && group; group = group->all) {
		for (uint32_t i = 0; i < s->nr_items; i++)
			cells[i] = groups_cell(s, &s->items[i], group);
		for (uint32_t i = 0; i < s->nr_keys; i++)
			cells[s->nr_items + i] = group->keys[i];
		if (query_rows_add(table->rows, cells) != 0)
			return SQLITE_NOMEM;
	}
	return table->rows ? SQLITE_OK : SQLITE_NOMEM;
}

/* As SQLite names the columns of a result. */
static void groups_put_name(FILE *out, const struct groups_statement *s,
			    const struct groups_item *item)
{
	struct groups_word name = item->shown;

	if (item->alias.len) {
		name = item->alias;
	} else if (item->function == GROUPS_COLUMN) {
		name.at = s->table->columns[item->column].name;
		name.len = strlen(name.at);
	}
	fputc('"', out);
	for (size_t i = 0; i < name.len; i++)
		fprintf(out, name.at[i] == '"' ? "\"\"" : "%c", name.at[i]);
	fputc('"', out);
}

/* In the order of the groups, where no other one decides. */
static char *groups_statement_of(const struct groups_statement *s, const struct query_table *table)
{
	const char *before = " ORDER BY ";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < s->nr_items; i++) {
		fprintf(out, "%s a%u AS ", i ? "," : "SELECT", i);
		groups_put_name(out, s, &s->items[i]);
	}
	fprintf(out, " FROM \"%s\" AS g", table->name);
	for (uint32_t i = 0; i < s->nr_order; i++, before = ", ")
		fprintf(out, "%sg.a%u %.*s", before, s->order_of[i], (int)s->order[i].len,
			s->order[i].at);
	for (uint32_t i = 0; i < s->nr_keys; i++, before = ", ")
		fprintf(out, "%sg.k%u", before, i);
	if (s->limit.len)
		fprintf(out, " LIMIT %.*s", (int)s->limit.len, s->limit.at);
	fclose(out);
	return text;
}

char *query_groups(struct query *query, const char *text, const char **ret_behind, int *ret_rc)
{
	struct groups_statement s = { .query = query, .word = { text, 0 } };
	struct groups g = { .statement = &s };
	struct query_table *table;
	char *statement = NULL;

	if (!groups_parse(&s))
		return NULL;
	*ret_rc = groups_read(&g);
	if (*ret_rc == SQLITE_OK && !g.unfit) {
		table = groups_new_table(&s);
		if (groups_fill(&g, table) == SQLITE_OK)
			*ret_rc = query_table_register(query, table);
		if (table->rows && *ret_rc == SQLITE_OK)
			statement = groups_statement_of(&s, table);
		*ret_behind = s.word.at + s.word.len;
	}
	groups_fini(&g);
	return statement;
}

void query_groups_done(struct query *query)
{
	for (struct query_table *table = query->groups; table && table->rows; table = table->next) {
		query_rows_free(table->rows);
		table->rows = NULL;
	}
}
