/* SPDX-License-Identifier: GPL-2.0-only */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "events.h"
#include "functions.h"
#include "groups_form.h"
#include "read/event.h"

#define GROUPS_CLASSES_BITS 6u
#define GROUPS_RECENT_BITS 8u /* of the number of groups that are found without their keys */

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

/** The kinds of places of a cell in an event. */
enum groups_place_kind {
	GROUPS_FIXED, /* it is the same one in all events of a class */
	GROUPS_TIME,
	GROUPS_PROCESSOR,
	GROUPS_NUMBER, /* of a value */
	GROUPS_LABEL,  /* made of the number of a value */
	GROUPS_STRING, /* the text of a value */
	GROUPS_OTHER,
};

/** The place of the cell of a column. @cell: GROUPS_FIXED. @value: of the kinds behind it. */
struct groups_place {
	enum groups_place_kind kind;
	struct query_cell cell;
	const struct value *value;
};

/** A class of events. @settled: its places are those of all its events. @pick: of their values, to
 *  @values; NULL: there are none, or the whole event is decoded. @varying: keys that are not the
 *  same in all events; without any, @group is that of all, if it is known. @nr_numbers: of the
 *  first ones. @of: the meaning of their numbers: the class, or NULL: they are the keys.
 *  @has_strings: among them. */
struct groups_class {
	struct groups_class *next;
	const struct ctf_event_class *ec;
	bool settled, has_strings;
	struct group *group;
	const void *of;
	uint32_t varying[GROUPS_KEYS], nr_varying, nr_numbers;
	struct plan_pick *pick;
	struct value *values;
	struct groups_place places[]; /* by the number of the column */
};

/** The group of events of which the varying keys have this number; exact, but for strings. */
struct groups_recent {
	uint64_t number;
	const void *of;
	struct group *group;
};

/** @columns: that are read; @needs_values: some are values. @class: of the event; @known: by the
 *  address of its class; @odd: of events that the pick of their class can't decode.
 *  @buckets: 2^@bits. @pens: of keys. @has_functions: with a column. @unfit: SQLite has to
 *  do it. */
struct groups {
	const struct groups_statement *statement;
	struct query_cursor *scan;
	const struct event *event;
	uint32_t columns[GROUPS_ITEMS + GROUPS_KEYS + GROUPS_COMPARES], nr_columns;
	bool needs_values;
	struct groups_class *classes, *class, *odd, *known[1u << GROUPS_CLASSES_BITS];
	struct group *all, **buckets, *last;
	unsigned int bits;
	uint64_t nr, bytes;
	struct groups_recent recent[1u << GROUPS_RECENT_BITS];
	struct pen pens[GROUPS_KEYS], pen;
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

/* --- the places of cells ------------------------------------------------------------------- */

static struct query_column *groups_column(const struct groups *g, uint32_t column)
{
	return &g->statement->table->columns[column];
}

static enum groups_place_kind groups_field_kind(enum query_role role, const struct value *value)
{
	enum type_kind kind = value->type->kind;

	if (role == QUERY_FIELD_ERROR)
		return kind == TYPE_INT ? GROUPS_LABEL : GROUPS_OTHER;
	if (kind == TYPE_INT || (kind == TYPE_ENUM && role == QUERY_FIELD_VALUE))
		return GROUPS_NUMBER;
	if (kind == TYPE_ENUM)
		return GROUPS_LABEL;
	return value_has_text(value) ? GROUPS_STRING : GROUPS_OTHER;
}

static enum groups_place_kind groups_place_kind(enum query_role role, const struct value *value)
{
	switch (role) {
	case QUERY_TS:
		return GROUPS_TIME;
	case QUERY_CPU:
		return GROUPS_PROCESSOR;
	case QUERY_PROCNAME:
		return value ? GROUPS_STRING : GROUPS_FIXED;
	case QUERY_FIELDS:
		return value ? GROUPS_OTHER : GROUPS_FIXED;
	case QUERY_PID:
	case QUERY_TID:
		return value ? GROUPS_NUMBER : GROUPS_FIXED;
	default:
		return value ? groups_field_kind(role, value) : GROUPS_FIXED;
	}
}

/* In the present event. */
static void groups_locate(struct groups *g, struct groups_class *class)
{
	for (uint32_t i = 0; i < g->nr_columns; i++) {
		struct query_column *column = groups_column(g, g->columns[i]);
		struct groups_place *place = &class->places[g->columns[i]];

		place->value = query_events_find_value(column, g->event);
		place->kind = groups_place_kind(column->role, place->value);
		if (place->kind == GROUPS_FIXED)
			place->cell = query_events_cell_without(column, g->event);
	}
}

static int groups_compare_values(const void *a, const void *b)
{
	const struct value *x = *(const struct value *const *)a,
			   *y = *(const struct value *const *)b;

	return x < y ? -1 : x > y;
}

/* A value that others belong to can't be decoded alone. */
static uint32_t groups_wanted(const struct groups *g, const struct groups_class *class,
			      const struct value **wanted, bool *ret_all)
{
	uint32_t nr = 0;

	*ret_all = true;
	for (uint32_t i = 0; i < g->nr_columns; i++) {
		const struct value *value = class->places[g->columns[i]].value;

		if (value)
			wanted[nr++] = value;
		if (value && value->type->kind != TYPE_STRING && !type_is_scalar(value->type) &&
		    !value_is_packed(value))
			*ret_all = false;
	}
	qsort(wanted, nr, sizeof(*wanted), groups_compare_values);
	return nr;
}

/* So that only the wanted values of the next events are decoded, if they always have one place. */
static void groups_settle(struct groups *g, struct groups_class *class)
{
	const struct value *wanted[ARRAY_SIZE(g->columns)];
	bool all;
	uint32_t nr = groups_wanted(g, class, wanted, &all), rank = 0;

	if (!all)
		return;
	class->pick = nr ? event_pick_new(g->event, wanted, nr) : NULL;
	class->settled = !nr || class->pick;
	if (!class->pick)
		return;
	class->values = xalloc(nr * sizeof(*class->values));
	for (uint32_t i = 0; i < nr; i++) {
		if (i && wanted[i] == wanted[i - 1])
			continue;
		for (uint32_t k = 0; k < g->nr_columns; k++)
			if (class->places[g->columns[k]].value == wanted[i])
				class->places[g->columns[k]].value = &class->values[rank];
		rank++;
	}
}

static struct groups_class *groups_new_class(struct groups *g)
{
	uint32_t nr = g->statement->table->nr_columns;
	struct groups_class *class = xalloc(sizeof(*class) + nr * sizeof(*class->places));

	class->ec = g->event->ec;
	return class;
}

/* The name of a thread seldom distinguishes two: it has a number if it is the only key. */
static bool groups_has_number(const struct groups *g, uint32_t key)
{
	return groups_column(g, g->statement->keys[key])->role != QUERY_PROCNAME;
}

static void groups_add_keys(const struct groups *g, struct groups_class *class)
{
	const struct groups_statement *s = g->statement;

	for (int numbered = 1; numbered >= 0; numbered--) {
		for (uint32_t i = 0; i < s->nr_keys; i++) {
			enum groups_place_kind kind = class->places[s->keys[i]].kind;

			if (groups_has_number(g, i) != numbered)
				continue;
			if (kind != GROUPS_FIXED)
				class->varying[class->nr_varying++] = i;
			if (kind != GROUPS_NUMBER && kind != GROUPS_PROCESSOR)
				class->of = class;
			class->has_strings |= kind == GROUPS_STRING;
		}
		class->nr_numbers = class->nr_numbers ? class->nr_numbers : class->nr_varying;
	}
}

/* Return: 1; 0: the event can't be decoded; negative errno. */
static int groups_add_class(struct groups *g)
{
	int r = g->needs_values ? query_scan_decode(g->scan) : 1;
	struct groups_class *class;

	if (r <= 0)
		return r;
	class = groups_new_class(g);
	class->next = g->classes;
	g->classes = g->class = class;
	groups_locate(g, class);
	groups_settle(g, class);
	groups_add_keys(g, class);
	return 1;
}

/* Return: as groups_add_class(). */
static int groups_find_class(struct groups *g, struct groups_class **known)
{
	int r;

	g->class = g->classes;
	while (g->class && g->class->ec != g->event->ec)
		g->class = g->class->next;
	r = g->class ? 1 : groups_add_class(g);
	*known = g->class;
	return r;
}

static int groups_decode_all(struct groups *g)
{
	int r = query_scan_decode(g->scan);

	if (!g->odd)
		g->odd = groups_new_class(g);
	if (g->class->settled)
		g->class = g->odd; /* for this event alone */
	if (r > 0)
		groups_locate(g, g->class);
	return r;
}

/* Find the cells of the present event. Return: as groups_add_class(). */
static inline int groups_find_cells(struct groups *g)
{
	uintptr_t address = (uintptr_t)g->event->ec;
	struct groups_class **known =
		&g->known[(address >> 5 ^ address >> 11) % ARRAY_SIZE(g->known)];
	int r = 1;

	g->class = *known;
	if (!g->class || g->class->ec != g->event->ec) {
		r = groups_find_class(g, known);
		if (r <= 0)
			return r;
	}
	if (g->class->pick)
		r = query_scan_pick(g->scan, g->class->pick, g->class->values);
	return r == EVENT_UNPLANNED || !g->class->settled ? groups_decode_all(g) : r;
}

static struct query_cell groups_value(struct groups *g, uint32_t column, struct pen *pen)
{
	const struct groups_place *place = &g->class->places[column];

	switch (place->kind) {
	case GROUPS_FIXED:
		return place->cell;
	case GROUPS_TIME:
		return (struct query_cell){ .integer = g->event->ns, .type = QUERY_INTEGER };
	case GROUPS_PROCESSOR:
		return (struct query_cell){ .integer = (int64_t)g->event->packet->cpu,
					    .type = QUERY_INTEGER };
	case GROUPS_NUMBER:
		return (struct query_cell){ .integer = (int64_t)place->value->u,
					    .type = QUERY_INTEGER };
	case GROUPS_STRING:
		return (struct query_cell){ .text = (const char *)place->value->bytes,
					    .len = (uint32_t)value_text_length(place->value),
					    .type = QUERY_TEXT };
	default:
		return query_events_cell_of(groups_column(g, column), place->value, pen);
	}
}

/* --- the group of an event ----------------------------------------------------------------- */

/* By its ends: paths have the same begins. */
static uint64_t groups_text_number(const char *text, size_t len)
{
	uint64_t from = 0, to = 0;

	if (len >= sizeof(from)) {
		memcpy(&from, text, sizeof(from));
		memcpy(&to, text + len - sizeof(to), sizeof(to));
	} else if (len) {
		memcpy(&from, text, len);
	}
	return (from ^ (to << 29 | to >> 35)) + len;
}

/* Return: false: it has none. */
static inline bool groups_number(struct groups *g, const struct groups_place *place, uint64_t *ret)
{
	switch (place->kind) {
	case GROUPS_PROCESSOR:
		*ret = g->event->packet->cpu;
		return true;
	case GROUPS_NUMBER:
	case GROUPS_LABEL:
		*ret = place->value->u;
		return true;
	case GROUPS_STRING:
		*ret = groups_text_number((const char *)place->value->bytes,
					  value_text_length(place->value));
		return true;
	default:
		return false;
	}
}

/* The numbers of one or two varying keys. Return: false: they have no exact one. */
static inline bool groups_numbers(struct groups *g, uint64_t *ret)
{
	const struct groups_statement *s = g->statement;
	const struct groups_class *class = g->class;
	uint64_t first, second;

	if (!groups_number(g, &class->places[s->keys[class->varying[0]]], ret))
		return false;
	if (class->nr_numbers == 1)
		return true;
	first = *ret;
	if (class->nr_numbers > 2 ||
	    !groups_number(g, &class->places[s->keys[class->varying[1]]], &second))
		return false;
	*ret = first << 32 | (second & UINT32_MAX);
	return class->has_strings || (first | second) <= UINT32_MAX;
}

/* With a string, each varying key is compared. */
static bool groups_has_keys(struct groups *g, const struct group *group)
{
	const struct groups_class *class = g->class;

	for (uint32_t i = 0; i < class->nr_varying; i++) {
		uint32_t key = class->varying[i];
		struct query_cell cell = groups_value(g, g->statement->keys[key], &g->pens[key]);

		if (!groups_are_equal(&group->keys[key], &cell, 1))
			return false;
	}
	return true;
}

static struct group *groups_of_keys(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	struct query_cell keys[GROUPS_KEYS];

	for (uint32_t i = 0; i < s->nr_keys; i++) {
		keys[i] = groups_value(g, s->keys[i], &g->pens[i]);
		g->unfit |= keys[i].type == QUERY_REAL;
	}
	g->last = groups_find(g, keys);
	return g->last;
}

static struct group *groups_of_event(struct groups *g)
{
	struct groups_class *class = g->class;
	struct groups_recent *recent;
	uint64_t number;

	if (!g->statement->nr_keys)
		return g->all;
	if (!class->settled)
		return groups_of_keys(g);
	if (!class->nr_varying) {
		class->group = class->group ? class->group : groups_of_keys(g);
		return class->group;
	}
	if (!groups_numbers(g, &number))
		return groups_of_keys(g);
	recent = &g->recent[(number ^ (uintptr_t) class->of) * 0x9e3779b97f4a7c15u >>
			    (64 - GROUPS_RECENT_BITS)];
	if (recent->group && recent->number == number && recent->of == class->of &&
	    (!class->has_strings || groups_has_keys(g, recent->group)))
		return recent->group;
	*recent = (struct groups_recent){ number, class->of, groups_of_keys(g) };
	return recent->group;
}

static void groups_take(struct groups *g, const struct groups_item *item,
			struct groups_state *state)
{
	const struct groups_place *place = &g->class->places[item->column];
	struct query_cell cell;
	int64_t number;

	if (place->kind == GROUPS_NUMBER) {
		number = (int64_t)place->value->u;
	} else {
		cell = groups_value(g, item->column, &g->pen);
		if (cell.type == QUERY_NULL)
			return;
		g->unfit |= item->function != GROUPS_COUNT && cell.type != QUERY_INTEGER;
		number = cell.integer;
	}
	if (item->function == GROUPS_SUM)
		g->unfit |= __builtin_add_overflow(state->value, number, &state->value);
	else if (item->function == GROUPS_MIN)
		state->value = state->any ? MIN(state->value, number) : number;
	else if (item->function == GROUPS_MAX)
		state->value = state->any ? MAX(state->value, number) : number;
	else if (item->function == GROUPS_QUANTILE)
		query_numbers_add(g->statement->query, &state->numbers, (double)number);
	g->unfit |= state->numbers.failed;
	state->any++;
}

static bool groups_holds(struct groups *g, const struct query_compare *compare)
{
	struct query_cell cell = groups_value(g, compare->column, &g->pen);

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

/* Return: 1; 0: the event can't be decoded; negative errno. */
static int groups_take_event(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	int r = g->nr_columns ? groups_find_cells(g) : 1;
	struct group *group;

	if (r <= 0)
		return r;
	for (uint32_t i = 0; i < s->nr_compares; i++)
		if (!groups_holds(g, &s->compares[i]))
			return 1;
	group = groups_of_event(g);
	if (!group)
		return 1;
	group->rows++;
	for (uint32_t i = 0; g->has_functions && i < s->nr_items; i++)
		if (s->items[i].function >= GROUPS_COUNT && s->items[i].first == i)
			groups_take(g, &s->items[i], &group->states[i]);
	return 1;
}

static void groups_add_column(struct groups *g, uint32_t column)
{
	enum query_role role = groups_column(g, column)->role;

	for (uint32_t i = 0; i < g->nr_columns; i++)
		if (g->columns[i] == column)
			return;
	g->columns[g->nr_columns++] = column;
	g->needs_values |=
		role != QUERY_TS && role != QUERY_NAME && role != QUERY_HOST && role != QUERY_CPU;
}

static void groups_add_columns(struct groups *g)
{
	const struct groups_statement *s = g->statement;

	for (uint32_t i = 0; i < s->nr_items; i++)
		if (s->items[i].function != GROUPS_ROWS)
			groups_add_column(g, s->items[i].column);
	for (uint32_t i = 0; i < s->nr_keys; i++)
		groups_add_column(g, s->keys[i]);
	for (uint32_t i = 0; i < s->nr_compares; i++)
		groups_add_column(g, s->compares[i].column);
}

static int groups_read(struct groups *g)
{
	const struct groups_statement *s = g->statement;
	uint64_t used = 0, events = 0;
	int rc = SQLITE_ROW, r = 1;

	groups_add_columns(g);
	for (uint32_t i = 0; i < g->nr_columns; i++)
		used |= UINT64_C(1) << MIN(g->columns[i], 63u);
	g->scan = query_scan_new(s->table, used, s->compares, s->nr_compares);
	if (!g->scan)
		return SQLITE_ERROR;
	g->event = query_scan_event(g->scan);
	for (uint32_t i = 0; i < s->nr_items; i++)
		g->has_functions |= s->items[i].function >= GROUPS_COUNT;
	if (!s->nr_keys)
		groups_add(g, NULL, 0);
	for (; r >= 0 && !g->unfit && (rc = query_scan_next(g->scan)) == SQLITE_ROW; events++)
		r = groups_take_event(g);
	query_scan_free(g->scan);
	s->query->grouped += g->unfit ? 0 : events;
	return r < 0 ? SQLITE_NOMEM : rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void groups_free_class(struct groups_class *class)
{
	if (!class)
		return;
	free(class->pick);
	free(class->values);
	free(class);
}

static void groups_fini(struct groups *g)
{
	struct query *query = g->statement->query;
	struct groups_class *class;
	struct group *group;

	while ((class = g->classes)) {
		g->classes = class->next;
		groups_free_class(class);
	}
	groups_free_class(g->odd);
	for (uint32_t i = 0; i < GROUPS_KEYS; i++)
		pen_fini(&g->pens[i]);
	pen_fini(&g->pen);
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
	struct groups_state *state = &group->states[item->first];
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
	struct groups g = { .statement = &s, .pen = { 0 } };
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
