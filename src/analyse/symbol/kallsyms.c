/* SPDX-License-Identifier: GPL-2.0-only */
#include "kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/host.h"

#define FUNCTION_BYTES_MOST (1u << 20) /* where no symbol follows, as at the end of a module */

struct kallsyms_row {
	uint64_t address;
	const char *name;   /* NULL: no function */
	const char *module; /* NULL: the kernel itself */
};

/** @text: with the words of all rows. */
struct kallsyms {
	char *text;
	struct kallsyms_row *rows;
	size_t nr;
	bool hidden;
};

void kallsyms_free(struct kallsyms *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->text);
	free(table);
}

/* ADDRESS KIND NAME, and <tab>[MODULE]; a name has no blank. */
static bool kallsyms_take_line(struct kallsyms *table, char *line)
{
	struct kallsyms_row *row = &table->rows[table->nr];
	char *name, *tab, kind;

	if (!isxdigit((unsigned char)*line))
		return false;
	row->address = strtoull(line, &name, 16);
	if (name - line > 16 || name[0] != ' ' || !isalpha((unsigned char)name[1]) ||
	    name[2] != ' ' || !isgraph((unsigned char)name[3]))
		return false;
	if (table->nr && row->address < row[-1].address)
		return false;
	kind = name[1];
	name += 3;
	tab = strchr(name, '\t');
	if (tab && (tab[1] != '[' || tab[strlen(tab) - 1] != ']'))
		return false;
	if (tab) {
		tab[strlen(tab) - 1] = '\0';
		*tab = '\0';
		row->module = tab + 2;
	}
	for (const char *at = name; *at; at++)
		if (!isgraph((unsigned char)*at))
			return false;
	row->name = strchr(KALLSYMS_FUNCTIONS, kind) ? name : NULL;
	table->nr++;
	return true;
}

/* Each ends with a newline. */
static bool kallsyms_take_lines(struct kallsyms *table, size_t len)
{
	char *line = table->text + strlen(KALLSYMS_MAGIC), *end = table->text + len, *next;

	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			return false;
		*next++ = '\0';
		if (strlen(line) + 1 != (size_t)(next - line) || !kallsyms_take_line(table, line))
			return false;
	}
	return true;
}

int kallsyms_parse(char *text, size_t len, struct kallsyms **ret)
{
	const size_t magic = strlen(KALLSYMS_MAGIC), hidden = strlen(KALLSYMS_HIDDEN);
	struct kallsyms *table = xalloc(sizeof(*table));
	size_t lines = 0;
	int error = 0;

	table->text = text;
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (len > KALLSYMS_BYTES_MOST || lines > KALLSYMS_LINES_MOST)
		error = -EFBIG;
	else if (len < magic || memcmp(text, KALLSYMS_MAGIC, magic) != 0)
		error = -EPROTO;
	else if (len == magic + hidden && memcmp(text + magic, KALLSYMS_HIDDEN, hidden) == 0)
		table->hidden = true;
	else {
		table->rows = xalloc((lines + 1) * sizeof(*table->rows));
		if (!kallsyms_take_lines(table, len))
			error = -EPROTO;
	}
	if (error)
		kallsyms_free(table);
	else
		*ret = table;
	return error;
}

bool kallsyms_are_hidden(const struct kallsyms *table)
{
	return table->hidden;
}

/* Of several names of one address the first one, as the kernel does. */
bool kallsyms_find(const struct kallsyms *table, uint64_t address, struct symbol *ret)
{
	size_t low = 0, high = table->nr;
	const struct kallsyms_row *row;

	while (low < high) { /* the first one behind the address */
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	row = &table->rows[low - 1];
	for (const struct kallsyms_row *other = row;
	     other >= table->rows && other->address == row->address; other--)
		if (other->name || !row->name)
			row = other;
	if (!row->name || address - row->address >= FUNCTION_BYTES_MOST)
		return false;
	*ret = (struct symbol){ .function = row->name,
				.module = row->module,
				.offset = address - row->address };
	return true;
}
