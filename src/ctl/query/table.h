/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - tables of a trace as virtual tables of SQLite (sqlite.org/vtab.html). Those of events
 * read the trace: comparisons of the time, the name and of fields are handed down to the reader. A
 * table that a join reads a second time is kept in memory from then on, with a hash of the column
 * by which it is joined. The other tables are in memory from their first use on.
 */
#ifndef CTL_QUERY_TABLE_H
#define CTL_QUERY_TABLE_H

#include "base/err.h"
#include "rows.h"
#include "sqlite.h"

struct event;
struct plan_pick;
struct query;
struct query_table;
struct symbols;
struct value;
struct view;

enum query_role {
	QUERY_TS, /* of the others, the role is that of the table that fills the rows */
	QUERY_NAME,
	QUERY_HOST,
	QUERY_CPU,
	QUERY_PID,
	QUERY_TID,
	QUERY_PROCNAME,
	QUERY_FIELDS,
	QUERY_FIELD,	   /* a field of the event; of an enumeration the label */
	QUERY_FIELD_VALUE, /* the number of an enumeration */
	QUERY_FIELD_ERROR, /* the name of a result; NULL: it has none */
};

/**
 * struct query_column
 * @type: QUERY_INTEGER, QUERY_REAL or QUERY_TEXT. @field: of the event, as it is shown.
 * @pushed: whether the reader can compare it with an integer or a text of this type.
 * @of, @at: the class whose events all have the field at this place; NULL: not known yet.
 */
struct query_column {
	char *name, *field;
	enum query_cell_type type;
	enum query_role role;
	bool pushed;
	const void *of;
	uint32_t at;
};

/** Fill a table in memory. Return: 0, or the code in @err. */
typedef int (*query_fill_fn)(struct query *query, struct query_rows *rows, struct err *err);

/**
 * struct query_table
 * @name: of the table. @event: of the events; NULL: of all. @fill: NULL: it is one of events.
 * @rows: in memory; NULL: not yet. @missing: how its events are recorded; NULL: the trace has some.
 */
struct query_table {
	struct query_table *next;
	struct query *query;
	char *name;
	const char *event;
	struct query_column *columns;
	uint32_t nr_columns;
	query_fill_fn fill;
	const char *missing;
	struct query_rows *rows;
};

/** A comparison that SQLite makes, with the value that it hands over; it checks each again.
 *  @op: SQLITE_INDEX_CONSTRAINT_*. */
struct query_compare {
	uint32_t column;
	unsigned char op;
	struct query_cell cell;
};

/**
 * struct query - the reading of one trace. Used by one thread.
 * @tables: in the order of .tables. @reads: of the whole trace.
 * @lost, @problems: according to the readings so far.
 * @empty: a table that was used, of which the trace has no events; NULL: none.
 * @symbols: NULL: no function was named yet.
 * @interrupted: set by a signal handler. @declaring: a table is being declared to SQLite.
 * @stores: the statements are our own. @groups: tables of results (groups.h); @nr_groups: so far,
 *      of @grouped events.
 */
struct query {
	const struct sqlite *sql;
	sqlite3 *db;
	const char *path;
	struct query_table *tables, **last;
	struct query_memory memory;
	uint64_t reads, lost, problems;
	const struct query_table *empty;
	struct symbols *symbols;
	volatile int interrupted;
	bool declaring, stores;
	struct query_table *groups;
	uint64_t nr_groups, grouped;
	struct err err; /* of the last failure in a table */
	char *place;	/* of the last error in a statement: its line, and a mark below; or NULL */
};

/** query_table_add() - a table without columns; owned by the query. */
struct query_table *query_table_add(struct query *query, const char *name);
/** @name, @field: copied; @field may be NULL. */
struct query_column *query_table_column(struct query_table *table, const char *name,
					enum query_cell_type type, enum query_role role,
					const char *field);
void query_table_free(struct query_table *table);
/** query_table_register() - make one more table known to SQLite. Return: 0 or an error of it. */
int query_table_register(struct query *query, struct query_table *table) MUST_CHECK;
/** query_tables_register() - make the tables known to SQLite. Return: 0, or the code in @err. */
int query_tables_register(struct query *query, struct err *err) MUST_CHECK;
/** A reading of a table of events. */
struct query_cursor;

/** query_scan_new() - @used: bits of the columns that are read, as SQLite has them. @compares:
 *  leave out events for which they don't hold, as far as the reader can; all are to be checked.
 *  Return: NULL with query->err set. */
struct query_cursor *query_scan_new(struct query_table *table, uint64_t used,
				    const struct query_compare *compares, uint32_t nr);
/** The next event, without values. Return: SQLITE_ROW, SQLITE_DONE or an error of SQLite. */
int query_scan_next(struct query_cursor *scan) MUST_CHECK;
/** The event; the same one in all calls. */
const struct event *query_scan_event(const struct query_cursor *scan);
/** Decode the event, all of it or some values. Return: as event_decode() and event_pick(). */
int query_scan_decode(struct query_cursor *scan) MUST_CHECK;
int query_scan_pick(struct query_cursor *scan, const struct plan_pick *pick,
		    struct value *values) MUST_CHECK;
void query_scan_free(struct query_cursor *scan);
/** Take note of a view that was read. */
void query_note_view(struct query *query, struct view *view);

#endif
