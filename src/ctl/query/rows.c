/* SPDX-License-Identifier: GPL-2.0-only */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define TEXT_BLOCK (64u << 10) /* bytes of texts that are allocated at once */
#define NO_ROW UINT64_MAX

struct query_texts {
	struct query_texts *next;
	size_t used, size;
	char bytes[];
};

/**
 * struct query_rows
 * @hashed: column of the hash; UINT32_MAX: there is none. @first: the first row of each of 2^@bits
 * buckets; @behind: the next one of the same bucket.
 */
struct query_rows {
	struct query_memory *memory;
	uint64_t bytes;
	uint32_t nr_columns;
	struct query_cell *cells;
	uint64_t nr, size;
	struct query_texts *texts;
	uint32_t hashed;
	unsigned int bits;
	uint64_t *first, *behind;
};

struct query_rows *query_rows_new(uint32_t nr_columns, struct query_memory *memory)
{
	struct query_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->nr_columns = nr_columns;
	rows->memory = memory;
	rows->hashed = UINT32_MAX;
	return rows;
}

void query_rows_free(struct query_rows *rows)
{
	struct query_texts *texts;

	if (!rows)
		return;
	while ((texts = rows->texts)) {
		rows->texts = texts->next;
		free(texts);
	}
	rows->memory->used -= rows->bytes;
	free(rows->cells);
	free(rows->first);
	free(rows->behind);
	free(rows);
}

/* Return: false: the memory of the query is used up. */
static bool query_rows_charge(struct query_rows *rows, uint64_t bytes)
{
	if (rows->memory->used + bytes > rows->memory->most)
		return false;
	rows->memory->used += bytes;
	rows->bytes += bytes;
	return true;
}

static int query_rows_grow(struct query_rows *rows)
{
	uint64_t size = rows->size ? rows->size + rows->size / 2 : 256;
	uint64_t row = rows->nr_columns * sizeof(struct query_cell);
	void *cells;

	if (!query_rows_charge(rows, (size - rows->size) * row))
		return -ENOMEM;
	cells = realloc(rows->cells, size * row);
	if (!cells)
		return -ENOMEM;
	rows->cells = cells;
	rows->size = size;
	return 0;
}

/* A copy of a text. */
static const char *query_rows_text(struct query_rows *rows, const char *text, size_t len)
{
	struct query_texts *texts = rows->texts;
	size_t size = MAX(len, (size_t)TEXT_BLOCK);

	if (!texts || texts->size - texts->used < len) {
		texts = query_rows_charge(rows, size) ? malloc(sizeof(*texts) + size) : NULL;
		if (!texts)
			return NULL;
		*texts = (struct query_texts){ .next = rows->texts, .size = size };
		rows->texts = texts;
	}
	texts->used += len;
	return memcpy(texts->bytes + texts->used - len, text, len);
}

int query_rows_add(struct query_rows *rows, const struct query_cell *cells)
{
	struct query_cell *to;

	if (rows->nr == rows->size && query_rows_grow(rows) != 0)
		return -ENOMEM;
	to = rows->cells + rows->nr * rows->nr_columns;
	memcpy(to, cells, rows->nr_columns * sizeof(*to));
	for (uint32_t i = 0; i < rows->nr_columns; i++) {
		const struct query_cell *last = rows->nr ? &to[i] - rows->nr_columns : NULL;

		if (to[i].type != QUERY_TEXT)
			continue;
		if (last && last->type == QUERY_TEXT && last->len == to[i].len &&
		    memcmp(last->text, to[i].text, to[i].len) == 0)
			to[i].text = last->text; /* mostly names */
		else
			to[i].text = query_rows_text(rows, to[i].text, to[i].len);
		if (!to[i].text)
			return -ENOMEM;
	}
	rows->nr++;
	return 0;
}

uint64_t query_rows_count(const struct query_rows *rows)
{
	return rows->nr;
}

const struct query_cell *query_rows_at(const struct query_rows *rows, uint64_t row)
{
	return rows->cells + row * rows->nr_columns;
}

static int query_rows_compare(const void *a, const void *b, void *column)
{
	const struct query_cell *x = (const struct query_cell *)a + *(uint32_t *)column;
	const struct query_cell *y = (const struct query_cell *)b + *(uint32_t *)column;

	return x->integer < y->integer ? -1 : x->integer > y->integer;
}

void query_rows_sort(struct query_rows *rows, uint32_t column)
{
	if (rows->nr)
		qsort_r(rows->cells, rows->nr, rows->nr_columns * sizeof(*rows->cells),
			query_rows_compare, &column);
}

/* --- the hash ------------------------------------------------------------------------------ */

/* An integer and the same number as a real have one hash. */
static uint64_t query_cell_hash(const struct query_cell *cell)
{
	uint64_t hash = cell->type;

	if (cell->type == QUERY_REAL && cell->real >= -9e18 && cell->real <= 9e18)
		hash = (uint64_t)(int64_t)cell->real;
	else if (cell->type == QUERY_INTEGER)
		hash = (uint64_t)cell->integer;
	for (uint32_t i = 0; cell->type == QUERY_TEXT && i < cell->len; i++)
		hash = (hash ^ (uint8_t)cell->text[i]) * 0x100000001b3u;
	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static uint64_t query_rows_bucket(const struct query_rows *rows, const struct query_cell *cell)
{
	return query_cell_hash(cell) & ((UINT64_C(1) << rows->bits) - 1);
}

static int query_rows_hash(struct query_rows *rows, uint32_t column)
{
	uint64_t buckets;

	free(rows->first);
	free(rows->behind);
	rows->first = rows->behind = NULL;
	for (rows->bits = 4; UINT64_C(1) << rows->bits < rows->nr; rows->bits++)
		;
	buckets = UINT64_C(1) << rows->bits;
	if (rows->hashed == UINT32_MAX && !query_rows_charge(rows, (buckets + rows->nr) * 8))
		return -ENOMEM;
	rows->hashed = column;
	rows->first = malloc(buckets * sizeof(*rows->first));
	rows->behind = malloc((rows->nr + 1) * sizeof(*rows->behind));
	if (!rows->first || !rows->behind)
		return -ENOMEM;
	memset(rows->first, 0xff, buckets * sizeof(*rows->first));
	for (uint64_t i = rows->nr; i-- > 0;) { /* so that the first row is the first */
		uint64_t *bucket =
			&rows->first[query_rows_bucket(rows, query_rows_at(rows, i) + column)];

		rows->behind[i] = *bucket;
		*bucket = i;
	}
	return 0;
}

int query_rows_find(struct query_rows *rows, uint32_t column, const struct query_cell *cell,
		    uint64_t *ret_row)
{
	if (rows->hashed != column && query_rows_hash(rows, column) != 0)
		return -ENOMEM;
	*ret_row = rows->first[query_rows_bucket(rows, cell)];
	return *ret_row != NO_ROW;
}

bool query_rows_next(const struct query_rows *rows, uint64_t row, uint64_t *ret_row)
{
	*ret_row = rows->behind[row];
	return *ret_row != NO_ROW;
}

uint64_t query_rows_from(const struct query_rows *rows, uint32_t column, int64_t value)
{
	uint64_t low = 0, high = rows->nr;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (query_rows_at(rows, middle)[column].integer < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
