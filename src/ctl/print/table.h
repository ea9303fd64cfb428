/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - rows of cells in aligned columns. Owned by the printer that fills
 * it; a cell is formatted when it is added.
 */
#ifndef CTL_PRINT_TABLE_H
#define CTL_PRINT_TABLE_H

#include <stdio.h>

#include "base/macros.h"

#define TABLE_MAX_COLUMNS 8

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
/** Print with two blanks before each column, and empty the table. On a terminal the last column is
 *  cut to its width. */
void table_print(FILE *out, struct table *table);

#endif
