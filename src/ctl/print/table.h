/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - rows of cells in aligned columns. Owned by the printer that fills
 * it; a cell is formatted when it is added.
 */
#ifndef CTL_PRINT_TABLE_H
#define CTL_PRINT_TABLE_H

#include <json-c/json.h>
#include <stdio.h>

#include "base/macros.h"

#define TABLE_MAX_COLUMNS 64

/**
 * struct table - to be initialised with zeros, except @columns.
 * @columns: a letter for each: 'l' left, 'r' right.
 */
struct table {
	const char *columns;
	char **cells; /* row by row */
	size_t nr_cells;
};

/** Add the next cell. */
void table_cell(struct table *table, const char *fmt, ...) PRINTF(2, 3);
/** Add a cell with members of a record; see text_form(). */
void table_form(struct table *table, struct json_object *record, const char *form);
/**
 * table_records() - print a table: the heads, and a row for each element of an array.
 * @align: the columns, as in struct table. @cells: the head and the form of each.
 */
void table_records(FILE *out, const char *align, const char *const (*cells)[2],
		   struct json_object *array);
/** Print with two blanks before each column, and empty the table. On a terminal the last column is
 *  cut to its width. */
void table_print(FILE *out, struct table *table);

#endif
