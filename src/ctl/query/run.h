/* SPDX-License-Identifier: GPL-2.0-only */
/* run.h - statements of SQL on the tables of a trace (table.h). They can only read. */
#ifndef CTL_QUERY_RUN_H
#define CTL_QUERY_RUN_H

#include <stdio.h>

#include "table.h"

/**
 * Receivers of the result of a statement: its columns, then each row. @stmt: SQLite's functions
 * sqlite3_column_*() have its values.
 */
struct query_output {
	void (*begin)(void *priv, const struct query *query, sqlite3_stmt *stmt);
	void (*row)(void *priv, const struct query *query, sqlite3_stmt *stmt);
	void (*end)(void *priv);
	void *priv;
};

/** query_new() - @path: of the trace. @memory: bytes for rows that are kept. Return: NULL with @err
 *  set. @report: as view_open(). */
struct query *query_new(const char *path, uint64_t memory,
			void (*report)(void *priv, const char *sentence), void *priv,
			struct err *err);
void query_free(struct query *query);

/** Run statements, separated by `;`. Return: 0, or the code in @err; if the error has a place,
 *  query->place is set. */
int query_run(struct query *query, const char *text, const struct query_output *output,
	      struct err *err) MUST_CHECK;

/** Print the names of the tables, or a declaration of each; @name: NULL: of all. */
void query_print_tables(const struct query *query, FILE *out);
/** Return: false: there is no such table. */
bool query_print_schema(const struct query *query, const char *name, FILE *out);

#endif
