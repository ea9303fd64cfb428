/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "ctl/symbol/symbols.h"
#include "events.h"
#include "functions.h"
#include "groups.h"
#include "show/show.h"
#include "tables.h"

#define SQL_BYTES_MOST (1 << 20) /* of a statement */
#define PLACE_BYTES 60u		 /* of a line, on both sides of an error */

/* --- rights of statements ---------------------------------------------------------------- */

/* Of pragmas, those that describe tables. */
static int query_authorize(void *priv, int action, const char *first, const char *second,
			   const char *database, const char *trigger)
{
	const struct query *query = priv;

	(void)second, (void)database, (void)trigger;
	if (query->declaring || query->stores)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_PRAGMA:
		return strcasecmp(first, "table_info") == 0 ||
				       strcasecmp(first, "table_list") == 0 ?
			       SQLITE_OK :
			       SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* --- opening ------------------------------------------------------------------------------- */

static int query_connect_db(struct query *query, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE; /* store.c attaches a file */

	if (query->sql->sqlite3_open_v2(":memory:", &query->db, flags, NULL) != SQLITE_OK)
		return err_set(err, ERR_NO_MEMORY, "SQLite can't be used: %s",
			       query->sql->sqlite3_errmsg(query->db));
	if (query_tables_register(query, err) != 0 || query_functions_register(query, err) != 0)
		return err->code;
	query->sql->sqlite3_limit(query->db, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MOST);
	query->sql->sqlite3_set_authorizer(query->db, query_authorize, query);
	return 0;
}

struct query *query_new(const char *path, uint64_t memory,
			void (*report)(void *priv, const char *sentence), void *priv,
			struct err *err)
{
	const struct sqlite *sql = sqlite_load(err);
	struct query *query;
	struct view *view;

	if (!sql || show_open(path, false, report, priv, &view, err) != 0)
		return NULL;
	query = xalloc(sizeof(*query));
	query->sql = sql;
	query->path = path;
	query->memory.most = memory;
	query->last = &query->tables;
	query_events_add(query, view);
	query_analyses_add(query, view);
	view_free(view);
	if (query_connect_db(query, err) == 0)
		return query;
	query_free(query);
	return NULL;
}

void query_free(struct query *query)
{
	struct query_table *table;

	if (!query)
		return;
	query->sql->sqlite3_close_v2(query->db);
	while ((table = query->tables)) {
		query->tables = table->next;
		query_table_free(table);
	}
	while ((table = query->groups)) {
		query->groups = table->next;
		query_table_free(table);
	}
	symbols_free(query->symbols);
	free(query->place);
	free(query);
}

/* --- names of events ----------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of a text, quoted name or comment that begins at @at; @at: there is none. */
static const char *query_behind_quoted(const char *at)
{
	const char *end = at;
	char quote = *at == '[' ? ']' : *at;

	if (*at == '\'' || *at == '"' || *at == '`' || *at == '[')
		end = strchr(at + 1, quote);
	else if (strncmp(at, "--", 2) == 0)
		end = strchr(at, '\n');
	else if (strncmp(at, "/*", 2) == 0)
		end = strstr(at + 2, "*/");
	else
		return at;
	return end ? end + 1 : at + strlen(at);
}

/* PROVIDER:NAME or PROVIDER.NAME, of a table "PROVIDER:NAME". Return: its length; 0: it is none. */
static size_t query_table_word(const struct query *query, const char *at,
			       const struct query_table **ret)
{
	size_t first = 0, len;

	while (is_word(at[first]))
		first++;
	if (!first || (at[first] != ':' && at[first] != '.') || !is_word(at[first + 1]))
		return 0;
	for (len = first + 1; is_word(at[len]); len++)
		;
	for (const struct query_table *table = query->tables; table; table = table->next)
		if (strlen(table->name) == len && strncasecmp(table->name, at, first) == 0 &&
		    table->name[first] == ':' &&
		    strncasecmp(table->name + first + 1, at + first + 1, len - first - 1) == 0) {
			*ret = table;
			return len;
		}
	return 0;
}

/* The statement with these names in quotes; allocated. */
static char *query_quote_names(const struct query *query, const char *text)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);
	char before = ' ';

	while (*text) {
		const struct query_table *table;
		const char *behind = query_behind_quoted(text);
		size_t len = is_word(before) || before == '.' || behind != text ?
				     0 :
				     query_table_word(query, text, &table);

		if (len)
			fprintf(out, "\"%s\"", table->name);
		else
			fwrite(text, 1, len = behind == text ? 1 : (size_t)(behind - text), out);
		text += len;
		before = text[-1];
	}
	fclose(out);
	return ret;
}

/* --- running ------------------------------------------------------------------------------- */

/* The table whose name is nearest to the one that SQLite does not know. */
static const char *query_nearest(const struct query *query, const char *message)
{
	const char *prefix = "no such table: ";
	const char *names[1024];
	size_t nr = 0;

	if (strncmp(message, prefix, strlen(prefix)) != 0)
		return NULL;
	for (const struct query_table *t = query->tables; t && nr < ARRAY_SIZE(names) - 1;
	     t = t->next)
		names[nr++] = t->name;
	names[nr] = NULL;
	return nearest_word(message + strlen(prefix), names);
}

static bool is_within_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* A part of a line that a terminal can show; allocated. */
static char *query_harmless(const char *from, const char *to)
{
	char *part AUTO_FREE = xasprintf("%.*s", (int)(to - from), from);

	for (char *at = part; *at; at++)
		*at = *at == '\t' ? ' ' : *at;
	return text_escape(part);
}

/* The line in which @at is, and a mark below that. */
static void query_set_place(struct query *query, const char *text, const char *at)
{
	const char *from = at, *to = at + strnlen(at, PLACE_BYTES);
	char *before AUTO_FREE = NULL, *behind AUTO_FREE = NULL;
	int width = 0;

	while (from > text && from[-1] != '\n' && (size_t)(at - from) < PLACE_BYTES)
		from--;
	while (from < at && is_within_character(*from))
		from++;
	to = memchr(at, '\n', (size_t)(to - at)) ? strchr(at, '\n') : to;
	while (to > at && is_within_character(*to))
		to--;
	before = query_harmless(from, at);
	behind = query_harmless(at, to);
	for (const char *c = before; *c; c++)
		width += !is_within_character(*c);
	free(query->place);
	query->place = xasprintf("  %s%s\n  %*s^\n", before, behind, width, "");
}

static unsigned int query_line(const char *text, const char *at)
{
	unsigned int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* @text: of all statements. @statement: the one that failed. */
static int query_refuse(struct query *query, int rc, const char *text, const char *statement,
			struct err *err)
{
	char place[32] = "";
	const char *message = query->sql->sqlite3_errmsg(query->db);
	const char *near = query_nearest(query, message);
	int at = query->sql->sqlite3_error_offset(query->db);

	if (query->interrupted || rc == SQLITE_INTERRUPT)
		return err_set(err, ERR_INTERRUPTED, "interrupted");
	if (query->err.code) {
		*err = query->err;
		query->err = (struct err){ 0 };
		return err->code;
	}
	if (rc == SQLITE_AUTH)
		return err_set(err, ERR_INVALID,
			       "this statement would do more than read the trace; only SELECT, "
			       "WITH and EXPLAIN are allowed");
	if (at >= 0) {
		query_set_place(query, text, statement + at);
		snprintf(place, sizeof(place), ", in line %u", query_line(text, statement + at));
	}
	return err_set(err, ERR_INVALID, "SQL: %s%s%s%s%s", message, place, near ? "; is \"" : "",
		       near ? near : "", near ? "\" meant?" : "");
}

static int query_run_statement(struct query *query, sqlite3_stmt *stmt,
			       const struct query_output *output)
{
	int rc;

	output->begin(output->priv, query, stmt);
	while ((rc = query->sql->sqlite3_step(stmt)) == SQLITE_ROW)
		output->row(output->priv, query, stmt);
	output->end(output->priv);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int query_run(struct query *query, const char *text, const struct query_output *output,
	      struct err *err)
{
	char *quoted AUTO_FREE = query_quote_names(query, text);
	const char *at = quoted;
	int rc = SQLITE_OK;

	query->interrupted = 0;
	query->err = (struct err){ 0 };
	while (rc == SQLITE_OK && *at) {
		sqlite3_stmt *stmt = NULL;
		const char *next = at;
		char *groups AUTO_FREE = query_groups(query, at, &next, &rc);

		if (rc == SQLITE_OK)
			rc = query->sql->sqlite3_prepare_v2(query->db, groups ? groups : at, -1,
							    &stmt, groups ? NULL : &next);
		if (rc == SQLITE_OK && stmt)
			rc = query_run_statement(query, stmt, output);
		if (rc != SQLITE_OK)
			query_refuse(query, rc, quoted, at, err);
		query->sql->sqlite3_finalize(stmt);
		query_groups_done(query);
		at = next;
	}
	return err->code;
}

/* --- tables -------------------------------------------------------------------------------- */

void query_print_tables(const struct query *query, FILE *out)
{
	for (const struct query_table *table = query->tables; table; table = table->next) {
		char *name AUTO_FREE = text_escape(table->name);

		if (!table->missing)
			fprintf(out, "%s\n", name);
	}
}

static void query_print_name(FILE *out, const char *before, const char *name, const char *behind)
{
	char *harmless AUTO_FREE = text_escape(name);

	fprintf(out, "%s\"%s\"%s%s", before, harmless, *behind == '(' ? "" : " ", behind);
}

bool query_print_schema(const struct query *query, const char *name, FILE *out)
{
	static const char *const types[] = {
		[QUERY_INTEGER] = "INTEGER", [QUERY_REAL] = "REAL", [QUERY_TEXT] = "TEXT"
	};
	bool found = false;

	for (const struct query_table *table = query->tables; table; table = table->next) {
		if (name ? strcasecmp(name, table->name) != 0 : table->missing != NULL)
			continue;
		found = true;
		query_print_name(out, "", table->name, "(");
		for (uint32_t i = 0; i < table->nr_columns; i++)
			query_print_name(out, i ? ", " : "", table->columns[i].name,
					 types[table->columns[i].type]);
		fputs(")\n", out);
	}
	return found;
}
