/* SPDX-License-Identifier: GPL-2.0-only */
/* store.h - writes all tables of a trace to a database that other programs open. */
#ifndef CTL_QUERY_STORE_H
#define CTL_QUERY_STORE_H

#include "table.h"

/** query_store() - @path: of an empty file. @ret_events: rows of the table "events". Return: 0, or
 *  the code in @err. */
int query_store(struct query *query, const char *path, uint64_t *ret_events,
		struct err *err) MUST_CHECK;

#endif
