/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows.h - rows of a table in memory, in the order in which they were added, with a hash of one of
 * their columns. Bounded: see struct query_memory. Owned by a table or a cursor.
 */
#ifndef CTL_QUERY_ROWS_H
#define CTL_QUERY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum query_cell_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT };

/** struct query_cell - @text: of @len bytes, not terminated. */
struct query_cell {
	union {
		int64_t integer;
		double real;
		const char *text;
	};
	uint32_t len;
	uint8_t type;
};

/** struct query_memory - of all rows of a query, in bytes. */
struct query_memory {
	uint64_t used, most;
};

struct query_rows;

/** @nr_columns: of each row. @memory: outlives the rows. */
struct query_rows *query_rows_new(uint32_t nr_columns, struct query_memory *memory);
void query_rows_free(struct query_rows *rows);

/** Add a row; its texts are copied. Return: 0; -ENOMEM: there is no memory left. */
int query_rows_add(struct query_rows *rows, const struct query_cell *cells);
/** Sort by an integer column. */
void query_rows_sort(struct query_rows *rows, uint32_t column);
uint64_t query_rows_count(const struct query_rows *rows);
const struct query_cell *query_rows_at(const struct query_rows *rows, uint64_t row);

/**
 * query_rows_find() - the first row whose cell of @column may be equal to @cell; the rows of one
 * query have one such column.
 * @ret_row: the row. Return: 1; 0: there is none; -ENOMEM: no memory for the hash.
 */
int query_rows_find(struct query_rows *rows, uint32_t column, const struct query_cell *cell,
		    uint64_t *ret_row);
/** The next one behind @row. Return: false: there is none. */
bool query_rows_next(const struct query_rows *rows, uint64_t row, uint64_t *ret_row);
/** The first row from which on an integer column, by which they are sorted, is at least @value. */
uint64_t query_rows_from(const struct query_rows *rows, uint32_t column, int64_t value);

#endif
