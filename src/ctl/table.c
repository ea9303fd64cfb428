/* SPDX-License-Identifier: GPL-2.0-only */
#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

/* Columns that a terminal needs: characters, not bytes, and not those of colours. */
static size_t width_of(const char *cell)
{
	size_t n = 0;

	for (; *cell; cell++)
		if (*cell == '\033')
			cell += strcspn(cell, "m");
		else
			n += (*cell & 0xc0) != 0x80;
	return n;
}

void table_cell(struct table *table, const char *fmt, ...)
{
	va_list args;
	char *cell;

	va_start(args, fmt);
	if (vasprintf(&cell, fmt, args) < 0)
		cell = xstrdup("?");
	va_end(args);
	table->cells = xrealloc(table->cells, (table->nr_cells + 1) * sizeof(*table->cells));
	table->cells[table->nr_cells++] = cell;
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

static void print_cell(FILE *out, const char *cell, char align, size_t width, int last)
{
	size_t blanks = width - width_of(cell);

	pad(out, 2 + (align == 'r' ? blanks : 0));
	fputs(cell, out);
	if (align != 'r' && !last)
		pad(out, blanks);
}

void table_print(FILE *out, struct table *table)
{
	size_t width[TABLE_MAX_COLUMNS] = { 0 }, nr = strlen(table->columns);

	for (size_t i = 0; i < table->nr_cells; i++)
		width[i % nr] = MAX(width[i % nr], width_of(table->cells[i]));
	for (size_t i = 0; i < table->nr_cells; i++) {
		print_cell(out, table->cells[i], table->columns[i % nr], width[i % nr],
			   i % nr == nr - 1);
		if (i % nr == nr - 1)
			fputc('\n', out);
	}
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->nr_cells = 0;
}
