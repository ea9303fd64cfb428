/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groups.h - statements of one simple form, whose events are counted in a loop of our own, which is
 * several times faster than that of SQLite:
 *
 *     SELECT ITEM [AS NAME], ... FROM TABLE [WHERE COLUMN OPERATOR CONSTANT AND ...]
 *     [GROUP BY COLUMN, ...] [ORDER BY ITEM|NAME|NUMBER [ASC|DESC], ...] [LIMIT NUMBER]
 *
 * TABLE has events, and an item is a column of the groups, count(*), or one of the functions count,
 * sum, min, max, p50, p90, p99 and p999 of a column. The groups become a table in memory, which
 * SQLite sorts and shows. The result is the same; any other statement is SQLite's.
 */
#ifndef CTL_QUERY_GROUPS_H
#define CTL_QUERY_GROUPS_H

#include "table.h"

/**
 * query_groups() - read the trace for a statement of this form.
 * @text: statements. @ret_behind: set behind the first one.
 * Return: the statement that shows the groups, allocated; NULL: SQLite is to run the first one, or
 * @ret_rc, SQLITE_OK before, is an error.
 */
char *query_groups(struct query *query, const char *text, const char **ret_behind, int *ret_rc);

/** Free the rows of the last groups. */
void query_groups_done(struct query *query);

#endif
