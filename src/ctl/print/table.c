/* SPDX-License-Identifier: GPL-2.0-only */
#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "function.h"
#include "show/screen.h"
#include "text.h"

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
	size_t blanks = width - MIN(screen_width(cell), width);

	pad(out, 2 + (align == 'r' ? blanks : 0));
	fputs(cell, out);
	if (align != 'r' && !last)
		pad(out, blanks);
}

#define LAST_LEAST 16u

/* The last column of text is cut to the columns that are left of a terminal. */
static void table_fit(FILE *out, struct table *table, const size_t *width, size_t nr)
{
	size_t used = 2 * nr, last = nr - 1;
	size_t columns = function_names_whole ? 0 : screen_columns(fileno(out));

	for (size_t i = 0; i < last; i++)
		used += width[i];
	if (!columns || table->columns[last] != 'l' || used + width[last] <= columns)
		return;
	columns = columns > used + LAST_LEAST ? columns - used : LAST_LEAST;
	for (size_t i = last; i < table->nr_cells; i += nr) {
		char *whole AUTO_FREE = table->cells[i];

		table->cells[i] = screen_cut(whole, (unsigned int)columns);
	}
}

void table_print(FILE *out, struct table *table)
{
	size_t width[TABLE_MAX_COLUMNS] = { 0 }, nr = strlen(table->columns);

	for (size_t i = 0; i < table->nr_cells; i++)
		width[i % nr] = MAX(width[i % nr], screen_width(table->cells[i]));
	table_fit(out, table, width, nr);
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

void table_form(struct table *table, struct json_object *record, const char *form)
{
	char *cell = NULL;
	size_t len;
	FILE *to = open_memstream(&cell, &len);

	text_form(to, record, form);
	fclose(to);
	table_cell(table, "%s", cell);
	free(cell);
}

void table_records(FILE *out, const char *align, const char *const (*cells)[2],
		   struct json_object *array)
{
	struct table table = { .columns = align };
	size_t nr = strlen(align);

	for (size_t i = 0; i < nr; i++)
		table_cell(&table, "%s", cells[i][0]);
	for (size_t i = 0; i < nr * json_object_array_length(array); i++)
		table_form(&table, json_object_array_get_idx(array, i / nr), cells[i % nr][1]);
	table_print(out, &table);
}
