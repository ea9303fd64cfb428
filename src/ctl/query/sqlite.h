/* SPDX-License-Identifier: GPL-2.0-only */
/* sqlite.h - SQLite's library, loaded when it is first used (base/lazy.h). */
#ifndef CTL_QUERY_SQLITE_H
#define CTL_QUERY_SQLITE_H

#include <sqlite3.h>

#include "base/err.h"
#include "base/lazy.h"

#define SQLITE_FUNCTIONS(X)           \
	X(sqlite3_open_v2)            \
	X(sqlite3_close_v2)           \
	X(sqlite3_errmsg)             \
	X(sqlite3_error_offset)       \
	X(sqlite3_free)               \
	X(sqlite3_malloc64)           \
	X(sqlite3_mprintf)            \
	X(sqlite3_set_authorizer)     \
	X(sqlite3_limit)              \
	X(sqlite3_interrupt)          \
	X(sqlite3_complete)           \
	X(sqlite3_create_module_v2)   \
	X(sqlite3_declare_vtab)       \
	X(sqlite3_vtab_collation)     \
	X(sqlite3_create_function_v2) \
	X(sqlite3_aggregate_context)  \
	X(sqlite3_user_data)          \
	X(sqlite3_prepare_v2)         \
	X(sqlite3_step)               \
	X(sqlite3_finalize)           \
	X(sqlite3_column_count)       \
	X(sqlite3_column_name)        \
	X(sqlite3_column_type)        \
	X(sqlite3_column_int64)       \
	X(sqlite3_column_double)      \
	X(sqlite3_column_text)        \
	X(sqlite3_column_bytes)       \
	X(sqlite3_value_type)         \
	X(sqlite3_value_int64)        \
	X(sqlite3_value_double)       \
	X(sqlite3_value_text)         \
	X(sqlite3_value_bytes)        \
	X(sqlite3_result_null)        \
	X(sqlite3_result_int64)       \
	X(sqlite3_result_double)      \
	X(sqlite3_result_text)        \
	X(sqlite3_result_error)

struct sqlite {
	SQLITE_FUNCTIONS(LAZY_POINTER)
};

/** Return: its functions; NULL: it can't be loaded, for the reason in @err. */
const struct sqlite *sqlite_load(struct err *err);

#endif
