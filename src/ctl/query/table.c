/* SPDX-License-Identifier: GPL-2.0-only */
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "events.h"
#include "read/event.h"
#include "show/show.h"

#define PLAN_MOST 32u /* comparisons of one plan */
#define ROWS_GUESSED 1e6
#define READING_PART 0.7 /* of the time of a reading, where the reader leaves out events */
#define WHERE_BYTES 1024u

/** Plans, for xFilter: rows in the order of time, or names of events in their order. */
enum { PLAN_ROWS, PLAN_NAMES };

struct query_vtab {
	sqlite3_vtab base;
	struct query_table *table;
};

/**
 * struct query_cursor - of a table in a statement.
 * @filters: how often it was begun. @used: the columns that the statement reads; the last bit
 *      stands for all others.
 * @view, @event: of a reading; NULL: of rows in memory. @of_table: a class of its events.
 * @cached: all rows of the table, from the second reading on, with the position of the event as a
 *      column behind the others.
 * @rows: that are read; @row: the present one; @hashed: they are those of one hash.
 * @by_name: NULL: not of PLAN_NAMES; else @nr_names, in their order: a row stands for each event of
 *      number @row of these, @left of which have not been read.
 */
struct query_cursor {
	sqlite3_vtab_cursor base;
	struct query_table *table;
	uint64_t filters, used;
	bool eof;
	struct view *view;
	struct view_select select;
	char where[WHERE_BYTES];
	char *names;
	bool decodes;
	struct event event;
	const void *of_table;
	struct pen pen;
	struct query_rows *cached, *rows;
	uint64_t row;
	bool hashed;
	int64_t until; /* of rows in the order of time */
	struct view_name *by_name;
	uint64_t nr_names, left;
};

/* --- tables -------------------------------------------------------------------------------- */

struct query_table *query_table_add(struct query *query, const char *name)
{
	struct query_table *table = xalloc(sizeof(*table));

	table->query = query;
	table->name = xstrdup(name);
	*query->last = table;
	query->last = &table->next;
	return table;
}

struct query_column *query_table_column(struct query_table *table, const char *name,
					enum query_cell_type type, enum query_role role,
					const char *field)
{
	struct query_column *column;

	table->columns =
		xrealloc(table->columns, (table->nr_columns + 1) * sizeof(*table->columns));
	column = &table->columns[table->nr_columns++];
	*column = (struct query_column){ .name = xstrdup(name),
					 .field = field ? xstrdup(field) : NULL,
					 .type = type,
					 .role = role };
	return column;
}

void query_table_free(struct query_table *table)
{
	for (uint32_t i = 0; i < table->nr_columns; i++) {
		free(table->columns[i].name);
		free(table->columns[i].field);
	}
	free(table->columns);
	query_rows_free(table->rows);
	free(table->name);
	free(table);
}

void query_note_view(struct query *query, struct view *view)
{
	const struct view_summary *sum;

	if (view_summary(view, &sum) != 0)
		return;
	query->lost = MAX(query->lost, sum->lost + sum->lost_before + sum->lost_buffers);
	query->problems = MAX(query->problems, sum->problems);
}

static int query_fail(struct query_table *table, const char *sentence)
{
	err_set(&table->query->err, ERR_OUTPUT, "%s", sentence);
	return SQLITE_ERROR;
}

static int query_no_memory(struct query_table *table)
{
	char *sentence AUTO_FREE = xasprintf(
		"the rows of \"%s\" need more than the %" PRIu64
		" MiB of --memory; select fewer of them, or less columns, or a larger --memory",
		table->name, table->query->memory.most >> 20);

	return query_fail(table, sentence);
}

/* --- connecting ---------------------------------------------------------------------------- */

static char *query_table_declaration(const struct query_table *table)
{
	static const char *const types[] = {
		[QUERY_INTEGER] = "INTEGER", [QUERY_REAL] = "REAL", [QUERY_TEXT] = "TEXT"
	};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("CREATE TABLE x(", out);
	for (uint32_t i = 0; i < table->nr_columns; i++) {
		fputs(i ? ", \"" : "\"", out);
		for (const char *at = table->columns[i].name; *at; at++)
			fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
		fprintf(out, "\" %s", types[table->columns[i].type]);
	}
	fputc(')', out);
	fclose(out);
	return text;
}

static int query_connect(sqlite3 *db, void *priv, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **why)
{
	struct query_table *table = priv;
	char *declaration AUTO_FREE = query_table_declaration(table);
	struct query_vtab *vtab;
	int rc;

	table->query->declaring = true;
	rc = table->query->sql->sqlite3_declare_vtab(db, declaration);
	table->query->declaring = false;
	(void)argc, (void)argv;
	if (rc != SQLITE_OK) {
		*why = table->query->sql->sqlite3_mprintf("%s: %s", table->name,
							  table->query->sql->sqlite3_errmsg(db));
		return rc;
	}
	vtab = xalloc(sizeof(*vtab));
	vtab->table = table;
	*ret = &vtab->base;
	return SQLITE_OK;
}

static int query_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* --- plans --------------------------------------------------------------------------------- */

static bool query_is_comparison(unsigned char op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	       op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
	       op == SQLITE_INDEX_CONSTRAINT_LE;
}

static bool query_is_used(const struct query_table *table, sqlite3_index_info *info, int i)
{
	const struct sqlite *sql = table->query->sql;

	return info->aConstraint[i].usable && info->aConstraint[i].iColumn >= 0 &&
	       query_is_comparison(info->aConstraint[i].op) &&
	       strcmp(sql->sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

/* Rows come in the order of time. */
static bool query_is_in_order(const struct query_table *table, const sqlite3_index_info *info)
{
	return info->nOrderBy == 1 && !info->aOrderBy[0].desc && info->aOrderBy[0].iColumn >= 0 &&
	       table->columns[info->aOrderBy[0].iColumn].role == QUERY_TS;
}

/* The names of all events, by name. As a GROUP BY wants them, SQLite would sort all events. */
static bool query_is_by_name(const struct query_table *table, const sqlite3_index_info *info)
{
	int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;

	return !table->fill && !table->event && column >= 0 && !info->aOrderBy[0].desc &&
	       table->columns[column].role == QUERY_NAME &&
	       info->colUsed == UINT64_C(1) << column;
}

static const char *query_operator(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return "=";
	case SQLITE_INDEX_CONSTRAINT_GT:
		return ">";
	case SQLITE_INDEX_CONSTRAINT_GE:
		return ">=";
	case SQLITE_INDEX_CONSTRAINT_LT:
		return "<";
	default:
		return "<=";
	}
}

/* The plan is a text: "COLUMN:OP,", for each value that is handed over, and behind a space the same
 * in words, for EXPLAIN. */
static int query_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct query_table *table = ((struct query_vtab *)vtab)->table;
	const struct sqlite *sql = table->query->sql;
	char plan[PLAN_MOST * 24] = "", *words AUTO_FREE = xstrdup("");
	double rows = ROWS_GUESSED, cost = ROWS_GUESSED;
	size_t used = 0;
	int nr = 0;

	for (int i = 0; i < info->nConstraint && nr < (int)PLAN_MOST; i++) {
		const struct query_column *column;
		unsigned char op = info->aConstraint[i].op;
		char *before AUTO_FREE = NULL;

		if (!query_is_used(table, info, i))
			continue;
		column = &table->columns[info->aConstraint[i].iColumn];
		used += (size_t)snprintf(plan + used, sizeof(plan) - used, "%d:%d,",
					 info->aConstraint[i].iColumn, op);
		before = words;
		words = xasprintf("%s%s%s %s ?", before, nr ? " and " : " ", column->name,
				  query_operator(op));
		info->aConstraintUsage[i].argvIndex = ++nr;
		rows /= op == SQLITE_INDEX_CONSTRAINT_EQ ? 1000 : column->role == QUERY_TS ? 10 : 2;
		cost = table->fill || column->role == QUERY_TS ? MIN(cost, rows) : cost;
	}
	if (nr && cost > rows) /* so that two readings for conditions with OR are not worth it */
		cost *= READING_PART;
	info->idxStr = sql->sqlite3_mprintf("%llu;%s%s", (unsigned long long)info->colUsed, plan,
					    words);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = cost < 1 ? 1 : cost;
	info->idxNum = !nr && query_is_by_name(table, info) ? PLAN_NAMES : PLAN_ROWS;
	info->orderByConsumed = info->idxNum == PLAN_NAMES || query_is_in_order(table, info);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- cursors ------------------------------------------------------------------------------- */

static int query_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct query_cursor *cursor = xalloc(sizeof(*cursor));

	cursor->table = ((struct query_vtab *)vtab)->table;
	pen_init(&cursor->pen, NULL);
	*ret = &cursor->base;
	return SQLITE_OK;
}

static void query_end_reading(struct query_cursor *cursor)
{
	if (cursor->view)
		query_note_view(cursor->table->query, cursor->view);
	cursor->view = view_free(cursor->view);
	free(cursor->names);
	cursor->names = NULL;
}

static int query_close(sqlite3_vtab_cursor *base)
{
	struct query_cursor *cursor = (struct query_cursor *)base;

	query_end_reading(cursor);
	query_rows_free(cursor->cached);
	free(cursor->by_name);
	pen_fini(&cursor->pen);
	free(cursor);
	return SQLITE_OK;
}

static struct query_cell query_value(const struct sqlite *sql, sqlite3_value *value)
{
	struct query_cell cell = { .type = QUERY_NULL };

	switch (sql->sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		cell.type = QUERY_INTEGER;
		cell.integer = sql->sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		cell.type = QUERY_REAL;
		cell.real = sql->sqlite3_value_double(value);
		break;
	case SQLITE_TEXT:
		cell.type = QUERY_TEXT;
		cell.text = (const char *)sql->sqlite3_value_text(value);
		cell.len = (uint32_t)sql->sqlite3_value_bytes(value);
		break;
	default:
		break;
	}
	return cell;
}

/* Return: the number of comparisons. */
static uint32_t query_take_plan(struct query_cursor *cursor, const char *plan, int argc,
				sqlite3_value **argv, struct query_compare compares[PLAN_MOST])
{
	const struct sqlite *sql = cursor->table->query->sql;
	char *at;

	cursor->used = strtoull(plan, &at, 10);
	for (int i = 0; i < argc; i++) {
		compares[i].column = (uint32_t)strtoul(at + 1, &at, 10);
		compares[i].op = (unsigned char)strtoul(at + 1, &at, 10);
		compares[i].cell = query_value(sql, argv[i]);
	}
	return (uint32_t)argc;
}

static bool query_uses(const struct query_cursor *cursor, uint32_t column)
{
	return cursor->used & (UINT64_C(1) << MIN(column, 63u));
}

/* --- the reading of a trace ---------------------------------------------------------------- */

static void query_narrow_time(struct view_select *select, const struct query_compare *compare)
{
	int64_t value = compare->cell.integer;
	int64_t from =
		compare->op == SQLITE_INDEX_CONSTRAINT_GT && value < INT64_MAX ? value + 1 : value;

	if (compare->cell.type != QUERY_INTEGER)
		return;
	if (compare->op != SQLITE_INDEX_CONSTRAINT_LT &&
	    compare->op != SQLITE_INDEX_CONSTRAINT_LE) {
		select->begin_ns = select->has_begin ? MAX(select->begin_ns, from) : from;
		select->has_begin = true;
	}
	if (compare->op != SQLITE_INDEX_CONSTRAINT_GT &&
	    compare->op != SQLITE_INDEX_CONSTRAINT_GE) {
		select->end_ns = select->has_end ? MIN(select->end_ns, value) : value;
		select->has_end = true;
	}
}

/* Texts with characters that an expression or a pattern gives a meaning are compared by SQLite. */
static bool query_is_plain_text(const struct query_cell *cell)
{
	for (uint32_t i = 0; i < cell->len; i++)
		if ((cell->text[i] < 'a' || cell->text[i] > 'z') &&
		    (cell->text[i] < 'A' || cell->text[i] > 'Z') &&
		    (cell->text[i] < '0' || cell->text[i] > '9') && cell->text[i] != '_' &&
		    cell->text[i] != ':' && cell->text[i] != ' ' && cell->text[i] != '/')
			return false;
	return cell->len > 0;
}

static void query_add_where(struct query_cursor *cursor, const struct query_column *column,
			    const struct query_compare *compare)
{
	size_t used = strlen(cursor->where), left = sizeof(cursor->where) - used;
	const char *op = compare->op == SQLITE_INDEX_CONSTRAINT_EQ ? "==" :
								     query_operator(compare->op);
	const char *and = used ? " && " : "";
	int len = 0;

	if (!column->pushed || compare->cell.type != column->type)
		return;
	if (column->type == QUERY_INTEGER && compare->cell.integer > INT64_MIN)
		len = snprintf(cursor->where + used, left, "%s%s %s %" PRId64, and, column->field,
			       op, compare->cell.integer);
	else if (compare->op == SQLITE_INDEX_CONSTRAINT_EQ && column->type == QUERY_TEXT &&
		 query_is_plain_text(&compare->cell))
		len = snprintf(cursor->where + used, left, "%s%s == \"%.*s\"", and, column->field,
			       (int)compare->cell.len, compare->cell.text);
	if (len < 0 || (size_t)len >= left)
		cursor->where[used] = '\0';
}

/* Whether the columns that the statement reads are those that an event has without its values. */
static bool query_is_brief(const struct query_cursor *cursor)
{
	const struct query_table *table = cursor->table;

	for (uint32_t i = 0; i < table->nr_columns; i++) {
		enum query_role role = table->columns[i].role;

		if (query_uses(cursor, i) && role != QUERY_TS && role != QUERY_NAME &&
		    role != QUERY_HOST && role != QUERY_CPU)
			return false;
	}
	return true;
}

static bool query_needs_no_field(const char *name)
{
	(void)name;
	return false;
}

static bool query_uses_fields(const struct query_cursor *cursor)
{
	for (uint32_t i = 0; i < cursor->table->nr_columns; i++)
		if (query_uses(cursor, i) && cursor->table->columns[i].role >= QUERY_FIELDS)
			return true;
	return false;
}

/* The comparisons that the reader can make, so that fewer events are decoded. */
static void query_narrow(struct query_cursor *cursor, const struct query_compare *compares,
			 uint32_t nr)
{
	const struct query_table *table = cursor->table;

	cursor->select = (struct view_select){ 0 };
	cursor->where[0] = '\0';
	cursor->decodes = cursor->used || nr;
	if (table->event)
		cursor->names = xstrdup(table->event);
	for (uint32_t i = 0; i < nr; i++) {
		const struct query_column *column = &table->columns[compares[i].column];

		if (column->role == QUERY_TS)
			query_narrow_time(&cursor->select, &compares[i]);
		else if (column->role == QUERY_NAME && !cursor->names &&
			 compares[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
			 compares[i].cell.type == QUERY_TEXT &&
			 query_is_plain_text(&compares[i].cell))
			cursor->names =
				xasprintf("%.*s", (int)compares[i].cell.len, compares[i].cell.text);
		else
			query_add_where(cursor, column, &compares[i]);
	}
	cursor->select.names = cursor->names;
	cursor->select.where = *cursor->where ? cursor->where : NULL;
	cursor->select.brief = query_is_brief(cursor);
	cursor->select.needs_fields = query_uses_fields(cursor) ? NULL : query_needs_no_field;
}

static int query_begin_reading(struct query_cursor *cursor)
{
	struct query *query = cursor->table->query;

	query->reads++;
	cursor->of_table = NULL;
	for (uint32_t i = 0; i < cursor->table->nr_columns; i++)
		cursor->table->columns[i].of = NULL; /* another view may have the address */
	if (show_open(query->path, false, NULL, NULL, &cursor->view, &query->err) != 0)
		return SQLITE_ERROR;
	return SQLITE_OK;
}

/* Names are patterns for the reader, and two classes may differ in case alone. */
static bool query_is_of_table(struct query_cursor *cursor)
{
	const char *event = cursor->table->event;

	if (!event || !cursor->decodes || cursor->of_table == cursor->event.ec)
		return true;
	if (strcmp(cursor->event.ec->name, event) != 0)
		return false;
	cursor->of_table = cursor->event.ec;
	return true;
}

int query_scan_next(struct query_cursor *scan)
{
	struct event *event = scan->decodes ? &scan->event : NULL;
	int r;

	do
		r = event_next(scan->view, &scan->select, event);
	while (r > 0 && !query_is_of_table(scan));
	if (scan->table->query->interrupted)
		return SQLITE_INTERRUPT;
	if (r < 0)
		return query_fail(scan->table, "the trace can't be read");
	return r ? SQLITE_ROW : SQLITE_DONE;
}

static int query_read(struct query_cursor *cursor)
{
	int rc = query_scan_next(cursor);

	cursor->eof = rc != SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct query_cursor *query_scan_new(struct query_table *table, uint64_t used,
				    const struct query_compare *compares, uint32_t nr)
{
	struct query_cursor *scan = xalloc(sizeof(*scan));

	scan->table = table;
	scan->used = used;
	pen_init(&scan->pen, NULL);
	query_narrow(scan, compares, nr);
	scan->select.brief = true;
	if (query_begin_reading(scan) == SQLITE_OK)
		return scan;
	query_close(&scan->base);
	return NULL;
}

const struct event *query_scan_event(const struct query_cursor *scan)
{
	return &scan->event;
}

int query_scan_decode(struct query_cursor *scan)
{
	return event_decode(scan->view, &scan->select, &scan->event);
}

int query_scan_pick(struct query_cursor *scan, const struct plan_pick *pick, struct value *values)
{
	return event_pick(scan->view, pick, values);
}

void query_scan_free(struct query_cursor *scan)
{
	query_close(&scan->base);
}

/* --- names of events ----------------------------------------------------------------------- */

static int query_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct view_name *)a)->name, ((const struct view_name *)b)->name);
}

/* By a reading that only counts; the view stays, as it has the names. */
static int query_count_names(struct query_cursor *cursor)
{
	const struct view_summary *sum;
	int rc;

	query_narrow(cursor, NULL, 0);
	cursor->decodes = false;
	rc = query_begin_reading(cursor);
	while (rc == SQLITE_OK && !cursor->eof)
		rc = query_read(cursor);
	if (rc != SQLITE_OK)
		return rc;
	if (view_summary(cursor->view, &sum) != 0)
		return SQLITE_NOMEM;
	cursor->nr_names = sum->nr_names;
	cursor->by_name = xalloc((sum->nr_names + 1) * sizeof(*cursor->by_name));
	if (sum->nr_names)
		memcpy(cursor->by_name, sum->names, sum->nr_names * sizeof(*cursor->by_name));
	qsort(cursor->by_name, sum->nr_names, sizeof(*cursor->by_name), query_compare_names);
	return SQLITE_OK;
}

static void query_next_name(struct query_cursor *cursor)
{
	cursor->left -= cursor->left > 0;
	while (!cursor->left && ++cursor->row < cursor->nr_names)
		cursor->left = cursor->by_name[cursor->row].events;
	cursor->eof = !cursor->left;
}

static int query_first_name(struct query_cursor *cursor)
{
	int rc = cursor->by_name ? SQLITE_OK : query_count_names(cursor);

	cursor->left = 0;
	cursor->row = UINT64_MAX;
	if (rc == SQLITE_OK)
		query_next_name(cursor);
	return rc;
}

/* --- rows in memory ------------------------------------------------------------------------ */

/* All events of the table, with the columns that the statement reads. */
static int query_cache(struct query_cursor *cursor)
{
	struct query_table *table = cursor->table;
	uint32_t nr = table->nr_columns;
	struct query_cell *cells AUTO_FREE = xalloc((nr + 1) * sizeof(*cells));
	struct pen *pens AUTO_FREE = xalloc(nr * sizeof(*pens));
	int rc;

	cursor->cached = query_rows_new(nr + 1, &table->query->memory);
	query_narrow(cursor, NULL, 0);
	cursor->decodes = true;
	for (uint32_t i = 0; i < nr; i++)
		pen_init(&pens[i], NULL);
	rc = cursor->cached ? query_begin_reading(cursor) : SQLITE_NOMEM;
	while (rc == SQLITE_OK && (rc = query_read(cursor)) == SQLITE_OK && !cursor->eof) {
		for (uint32_t i = 0; i < nr; i++)
			cells[i] = query_uses(cursor, i) ?
					   query_events_cell(&table->columns[i], &cursor->event,
							     &pens[i]) :
					   (struct query_cell){ .type = QUERY_NULL };
		cells[nr] = (struct query_cell){ .integer = (int64_t)event_position(cursor->view),
						 .type = QUERY_INTEGER };
		if (query_rows_add(cursor->cached, cells) != 0)
			rc = query_no_memory(table);
	}
	for (uint32_t i = 0; i < nr; i++)
		pen_fini(&pens[i]);
	query_end_reading(cursor);
	return rc;
}

static int query_fill(struct query_cursor *cursor)
{
	struct query_table *table = cursor->table;

	if (table->rows)
		return SQLITE_OK;
	if (table->missing)
		table->query->empty = table;
	table->rows = query_rows_new(table->nr_columns, &table->query->memory);
	if (!table->rows)
		return SQLITE_NOMEM;
	if (table->fill(table->query, table->rows, &table->query->err) == 0 &&
	    !table->query->interrupted)
		return SQLITE_OK;
	query_rows_free(table->rows);
	table->rows = NULL;
	if (table->query->interrupted)
		return SQLITE_INTERRUPT;
	return table->query->err.code == ERR_NO_MEMORY ? query_no_memory(table) : SQLITE_ERROR;
}

/* A number is compared with a column of numbers, a text with one of texts: the others SQLite
 * converts first. */
static bool query_has_hash(const struct query_column *column, const struct query_cell *cell)
{
	bool number = cell->type == QUERY_INTEGER || cell->type == QUERY_REAL;

	return column->type == QUERY_TEXT ? cell->type == QUERY_TEXT : number;
}

static void query_row_check(struct query_cursor *cursor)
{
	const struct query_table *table = cursor->table;
	const struct query_cell *row;

	cursor->eof = cursor->row >= query_rows_count(cursor->rows);
	if (cursor->eof)
		return;
	row = query_rows_at(cursor->rows, cursor->row);
	if (table->columns[0].role == QUERY_TS && row[0].type == QUERY_INTEGER &&
	    row[0].integer > cursor->until)
		cursor->eof = true;
}

/* By the hash of a column, else from a time on, else all. */
static int query_search(struct query_cursor *cursor, const struct query_compare *compares,
			uint32_t nr)
{
	struct query_table *table = cursor->table;
	struct view_select time = { 0 };
	bool in_order =
		table->columns[0].role == QUERY_TS && (query_uses(cursor, 0) || table->rows);
	int r;

	cursor->hashed = false;
	cursor->row = 0;
	cursor->until = INT64_MAX;
	for (uint32_t i = 0; i < nr; i++) {
		if (compares[i].cell.type == QUERY_NULL) { /* holds for no row */
			cursor->eof = true;
			return SQLITE_OK;
		}
		if (in_order && compares[i].column == 0)
			query_narrow_time(&time, &compares[i]);
	}
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t column = compares[i].column;

		if (compares[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    !query_has_hash(&table->columns[column], &compares[i].cell))
			continue;
		r = query_rows_find(cursor->rows, column, &compares[i].cell, &cursor->row);
		if (r < 0)
			return query_no_memory(table);
		cursor->hashed = true;
		cursor->eof = r == 0;
		return SQLITE_OK;
	}
	if (time.has_begin)
		cursor->row = query_rows_from(cursor->rows, 0, time.begin_ns);
	if (time.has_end)
		cursor->until = time.end_ns;
	query_row_check(cursor);
	return SQLITE_OK;
}

/* --- the interface of SQLite --------------------------------------------------------------- */

static int query_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			sqlite3_value **argv)
{
	struct query_cursor *cursor = (struct query_cursor *)base;
	struct query_compare compares[PLAN_MOST];
	uint32_t nr = query_take_plan(cursor, plan, argc, argv, compares);
	int rc;

	if (number == PLAN_NAMES)
		return query_first_name(cursor);
	query_end_reading(cursor);
	cursor->rows = NULL;
	if (cursor->table->fill || cursor->table->rows) {
		rc = query_fill(cursor);
		cursor->rows = cursor->table->rows;
	} else if (cursor->filters++) {
		rc = cursor->cached ? SQLITE_OK : query_cache(cursor);
		cursor->rows = cursor->cached;
	} else {
		query_narrow(cursor, compares, nr);
		rc = query_begin_reading(cursor);
		return rc == SQLITE_OK ? query_read(cursor) : rc;
	}
	return rc == SQLITE_OK ? query_search(cursor, compares, nr) : rc;
}

static int query_next(sqlite3_vtab_cursor *base)
{
	struct query_cursor *cursor = (struct query_cursor *)base;

	if (cursor->by_name) {
		query_next_name(cursor);
		return SQLITE_OK;
	}
	if (!cursor->rows)
		return query_read(cursor);
	if (cursor->hashed) {
		cursor->eof = !query_rows_next(cursor->rows, cursor->row, &cursor->row);
	} else {
		cursor->row++;
		query_row_check(cursor);
	}
	return SQLITE_OK;
}

static int query_eof(sqlite3_vtab_cursor *base)
{
	return ((struct query_cursor *)base)->eof;
}

static int query_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	struct query_cursor *cursor = (struct query_cursor *)base;
	const struct sqlite *sql = cursor->table->query->sql;
	struct query_cell cell;

	if (cursor->by_name)
		cell = (struct query_cell){ .text = cursor->by_name[cursor->row].name,
					    .len = (uint32_t)strlen(
						    cursor->by_name[cursor->row].name),
					    .type = QUERY_TEXT };
	else if (cursor->rows)
		cell = query_rows_at(cursor->rows, cursor->row)[number];
	else
		cell = query_events_cell(&cursor->table->columns[number], &cursor->event,
					 &cursor->pen);
	switch (cell.type) {
	case QUERY_INTEGER:
		sql->sqlite3_result_int64(context, cell.integer);
		break;
	case QUERY_REAL:
		sql->sqlite3_result_double(context, cell.real);
		break;
	case QUERY_TEXT:
		sql->sqlite3_result_text(context, cell.text, (int)cell.len,
					 cursor->rows || cursor->by_name ? SQLITE_STATIC :
									   SQLITE_TRANSIENT);
		break;
	default:
		sql->sqlite3_result_null(context);
	}
	return SQLITE_OK;
}

/* The same in each reading: SQLite merges those of several, of conditions with OR, by it. */
static int query_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	struct query_cursor *cursor = (struct query_cursor *)base;

	if (cursor->by_name) /* no condition has led to them */
		*ret = 0;
	else if (!cursor->rows)
		*ret = (sqlite3_int64)event_position(cursor->view);
	else if (cursor->rows == cursor->cached)
		*ret = query_rows_at(cursor->rows, cursor->row)[cursor->table->nr_columns].integer;
	else
		*ret = (sqlite3_int64)cursor->row;
	return SQLITE_OK;
}

static const sqlite3_module query_module = {
	.xConnect = query_connect,
	.xBestIndex = query_best_index,
	.xDisconnect = query_disconnect,
	.xDestroy = query_disconnect,
	.xOpen = query_open,
	.xClose = query_close,
	.xFilter = query_filter,
	.xNext = query_next,
	.xEof = query_eof,
	.xColumn = query_column,
	.xRowid = query_rowid,
};

int query_table_register(struct query *query, struct query_table *table)
{
	return query->sql->sqlite3_create_module_v2(query->db, table->name, &query_module, table,
						    NULL);
}

int query_tables_register(struct query *query, struct err *err)
{
	for (struct query_table *table = query->tables; table; table = table->next)
		if (query_table_register(query, table) != SQLITE_OK)
			return err_set(err, ERR_INTERNAL, "SQLite refuses the table \"%s\": %s",
				       table->name, query->sql->sqlite3_errmsg(query->db));
	return 0;
}
