/* SPDX-License-Identifier: GPL-2.0-only */
#include "store.h"

#include <string.h>

#include "base/mem.h"

/* Return: 0, or the code in @err. @statement: made by sqlite3_mprintf(); freed. @ret: of its first
 * cell; or NULL. */
static int store_run(struct query *query, char *statement, int64_t *ret, struct err *err)
{
	const struct sqlite *sql = query->sql;
	sqlite3_stmt *stmt = NULL;
	int rc = statement ? sql->sqlite3_prepare_v2(query->db, statement, -1, &stmt, NULL) :
			     SQLITE_NOMEM;

	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sql->sqlite3_step(stmt);
		if (rc == SQLITE_ROW && ret)
			*ret = sql->sqlite3_column_int64(stmt, 0);
	}
	if (query->err.code)
		*err = query->err;
	else if (rc != SQLITE_DONE)
		err_set(err, ERR_OUTPUT, "the database can't be written: %s",
			statement ? sql->sqlite3_errmsg(query->db) : "no memory");
	sql->sqlite3_finalize(stmt);
	sql->sqlite3_free(statement);
	return err->code;
}

/* Events of one class have the same name. */
static bool store_is_key(const struct query_table *table, const char *column)
{
	return strcmp(column, "ts") == 0 || strcmp(column, "tid") == 0 ||
	       (!table->event && strcmp(column, "name") == 0);
}

static int store_table(struct query *query, const struct query_table *table, struct err *err)
{
	const struct sqlite *sql = query->sql;
	int64_t rows = 0;

	if (store_run(query,
		      sql->sqlite3_mprintf("CREATE TABLE out.\"%w\" AS SELECT * FROM main.\"%w\"",
					   table->name, table->name),
		      NULL, err) != 0 ||
	    store_run(query, sql->sqlite3_mprintf("SELECT count(*) FROM out.\"%w\"", table->name),
		      &rows, err) != 0)
		return err->code;
	if (!rows && table->event)
		return store_run(query, sql->sqlite3_mprintf("DROP TABLE out.\"%w\"", table->name),
				 NULL, err);
	for (uint32_t i = 0; i < table->nr_columns; i++) {
		const char *column = table->columns[i].name;

		if (store_is_key(table, column) &&
		    store_run(query,
			      sql->sqlite3_mprintf("CREATE INDEX out.\"%w.%w\" ON \"%w\" (\"%w\")",
						   table->name, column, table->name, column),
			      NULL, err) != 0)
			return err->code;
	}
	return 0;
}

/* Without a journal: a file that is not whole is not kept. */
static int store_attach(struct query *query, const char *path, struct err *err)
{
	const struct sqlite *sql = query->sql;

	if (store_run(query, sql->sqlite3_mprintf("ATTACH %Q AS out", path), NULL, err) != 0 ||
	    store_run(query, sql->sqlite3_mprintf("PRAGMA out.journal_mode = OFF"), NULL, err) != 0)
		return err->code;
	return store_run(query, sql->sqlite3_mprintf("PRAGMA out.synchronous = OFF"), NULL, err);
}

int query_store(struct query *query, const char *path, uint64_t *ret_events, struct err *err)
{
	const struct sqlite *sql = query->sql;
	int64_t events = 0;

	query->stores = true;
	if (store_attach(query, path, err) != 0)
		return err->code;
	for (const struct query_table *table = query->tables; table; table = table->next)
		if (store_table(query, table, err) != 0)
			return err->code;
	if (store_run(query, sql->sqlite3_mprintf("SELECT count(*) FROM out.events"), &events,
		      err) == 0)
		(void)!store_run(query, sql->sqlite3_mprintf("DETACH out"), NULL, err);
	query->stores = false;
	*ret_events = (uint64_t)events;
	return err->code;
}
