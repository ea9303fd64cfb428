/* SPDX-License-Identifier: GPL-2.0-only */
#include "symtable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/str.h"
#include "objects.h"
#include "read/host.h"

struct symtable_file {
	uint8_t build_id[OBJECT_ID_MAX];
	uint32_t build_id_len;
};

struct symtable_row {
	struct idmap_node node;
	const struct symtable_file *file;
	uint64_t address;
	struct symbol symbol;
};

/** @text: with the words of all rows. */
struct symtable {
	char *text;
	struct symtable_file *files;
	struct symtable_row *rows;
	struct symbol_inline *inlined;
	uint32_t nr_files, nr_rows, nr_inlined;
	struct idmap map;
};

void symtable_free(struct symtable *table)
{
	if (!table)
		return;
	idmap_fini(&table->map);
	free(table->inlined);
	free(table->rows);
	free(table->files);
	free(table->text);
	free(table);
}

/* --- parsing ----------------------------------------------------------------------------- */

static int symtable_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 to 16 digits and then @behind. */
static bool symtable_number(const char **at, char behind, uint64_t *ret)
{
	unsigned int nr = 0;

	for (*ret = 0; symtable_digit(**at) >= 0; ++*at, nr++)
		*ret = *ret << 4 | (uint64_t)symtable_digit(**at);
	return nr > 0 && nr <= 16 && *(*at)++ == behind;
}

static bool symtable_take_file(struct symtable *table, const char *at)
{
	struct symtable_file *file = &table->files[table->nr_files++];
	size_t digits = strlen(at);

	if (digits == 0 || digits % 2 || digits / 2 > OBJECT_ID_MAX)
		return false;
	for (; *at; at += 2) {
		int high = symtable_digit(at[0]), low = symtable_digit(at[1]);

		if (high < 0 || low < 0)
			return false;
		file->build_id[file->build_id_len++] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static uint64_t symtable_hash(const struct symtable_file *file, uint64_t address)
{
	uint64_t hash = address;

	for (uint32_t i = 0; i < file->build_id_len; i++)
		hash = (hash ^ file->build_id[i]) * 0x100000001b3; /* FNV-1a */
	return hash;
}

/* LINE<tab>FUNCTION<tab>FILE */
static bool symtable_take_place(const char *at, struct symbol_inline *ret)
{
	uint64_t number;
	char *tab;

	if (!symtable_number(&at, '\t', &number) || number > UINT32_MAX)
		return false;
	tab = strchr(at, '\t');
	if (!tab || tab == at || strchr(tab + 1, '\t'))
		return false;
	*tab = '\0';
	ret->function = at;
	ret->file = tab[1] ? tab + 1 : NULL;
	ret->line = (uint32_t)number;
	return true;
}

static bool symtable_take_inlined(struct symtable *table, const char *line)
{
	struct symbol_inline *inlined = &table->inlined[table->nr_inlined];
	struct symbol *symbol;

	if (!table->nr_rows || !symtable_take_place(line, inlined))
		return false;
	symbol = &table->rows[table->nr_rows - 1].symbol;
	if (!symbol->nr_inlined++)
		symbol->inlined = inlined;
	table->nr_inlined++;
	return symbol->nr_inlined <= SYMBOL_INLINED_MOST;
}

static bool symtable_take_row(struct symtable *table, const char *line)
{
	struct symtable_row *row = &table->rows[table->nr_rows];
	struct symbol_inline place;

	if (!table->nr_files || !symtable_number(&line, ' ', &row->address) ||
	    !symtable_number(&line, ' ', &row->symbol.offset) ||
	    !symtable_take_place(line, &place))
		return false;
	row->symbol.function = place.function;
	row->symbol.file = place.file;
	row->symbol.line = place.line;
	row->file = &table->files[table->nr_files - 1];
	idmap_add(&table->map, &row->node, symtable_hash(row->file, row->address));
	table->nr_rows++;
	return true;
}

static bool symtable_take_line(struct symtable *table, const char *line)
{
	static const char file[] = "file ";

	if (strncmp(line, file, strlen(file)) == 0)
		return symtable_take_file(table, line + strlen(file));
	return line[0] == '+' ? symtable_take_inlined(table, line + 1) :
				symtable_take_row(table, line);
}

/* Each ends with a newline. */
static bool symtable_take_lines(struct symtable *table, size_t len)
{
	char *line = table->text + strlen(SYMTABLE_MAGIC), *end = table->text + len, *next;

	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			return false;
		*next++ = '\0';
		if (strlen(line) + 1 != (size_t)(next - line))
			return false;
		if (!symtable_take_line(table, line))
			return false;
	}
	return true;
}

int symtable_parse(const char *text, size_t len, struct symtable **ret)
{
	struct symtable *table;
	size_t lines = 0;

	if (len > SYMTABLE_BYTES_MOST)
		return -EFBIG;
	if (len < strlen(SYMTABLE_MAGIC) ||
	    memcmp(text, SYMTABLE_MAGIC, strlen(SYMTABLE_MAGIC)) != 0)
		return -EPROTO;
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (lines > SYMTABLE_LINES_MOST)
		return -EPROTO;
	table = xalloc(sizeof(*table));
	idmap_init(&table->map);
	table->text = xalloc(len + 1);
	memcpy(table->text, text, len);
	table->files = xalloc(lines * sizeof(*table->files));
	table->rows = xalloc(lines * sizeof(*table->rows));
	table->inlined = xalloc(lines * sizeof(*table->inlined));
	if (!symtable_take_lines(table, len)) {
		symtable_free(table);
		return -EPROTO;
	}
	*ret = table;
	return 0;
}

static int symtable_read_file(int fd, struct symtable **ret)
{
	char *text AUTO_FREE = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EPROTO;
	if (st.st_size > SYMTABLE_BYTES_MOST)
		return -EFBIG;
	text = xalloc((size_t)st.st_size + 1);
	n = read(fd, text, (size_t)st.st_size);
	return n < 0 ? -errno : symtable_parse(text, (size_t)n, ret);
}

/* A trace may have anything there: a link to another file, a FIFO. */
int symtable_read(const char *dir, struct symtable **ret)
{
	char *path AUTO_FREE = xasprintf("%s/" SYMTABLE_FILE, dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	int r;

	*ret = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	r = symtable_read_file(fd, ret);
	close(fd);
	return r;
}

/* --- finding ----------------------------------------------------------------------------- */

bool symtable_find(const struct symtable *table, const uint8_t *build_id, uint32_t build_id_len,
		   uint64_t address, struct symbol *ret)
{
	struct symtable_file wanted = { .build_id_len = build_id_len };
	struct idmap_node *node;

	if (!build_id_len || build_id_len > OBJECT_ID_MAX)
		return false;
	memcpy(wanted.build_id, build_id, build_id_len);
	node = idmap_find(&table->map, symtable_hash(&wanted, address));
	for (; node; node = idmap_next(&table->map, node)) {
		const struct symtable_row *row = container_of(node, struct symtable_row, node);

		if (row->address == address && row->file->build_id_len == build_id_len &&
		    memcmp(row->file->build_id, build_id, build_id_len) == 0) {
			*ret = row->symbol;
			return true;
		}
	}
	return false;
}
