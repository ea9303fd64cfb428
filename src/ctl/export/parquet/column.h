/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * column.h - one column of a Parquet file: the cells of the rows that are not written yet, and
 * their pages. A text is stored once, in a dictionary, until that is large; later texts are stored
 * as they are. Owned by a file (file.h).
 */
#ifndef CTL_EXPORT_PARQUET_COLUMN_H
#define CTL_EXPORT_PARQUET_COLUMN_H

#include <stdbool.h>

#include "show/pen.h"

struct compressor;

/** enum parquet_kind - of the cells of a column. Those of integers are INT64. */
enum parquet_kind { PARQUET_SIGNED, PARQUET_UNSIGNED, PARQUET_DOUBLE, PARQUET_TEXT };

/** struct parquet_column - @required: each row has a cell; else it may be null. */
struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	bool required;
};

/**
 * struct column_texts - a dictionary. @entries: as its page has them. @offsets: of these.
 * @indices: of the cells. @slots: a hash table of 1 + index. @last: index of the last cell.
 * @complete: it takes no more entries. @closed: the cells from row @rows on are in no dictionary.
 */
struct column_texts {
	struct pen entries, offsets, indices;
	uint32_t *slots;
	uint32_t nr_slots, nr, last, rows;
	bool complete, closed;
};

/** struct column - @present: a bit for each row up to the last one with a cell. @values: plain. */
struct column {
	struct parquet_column declared;
	struct pen present, values;
	struct column_texts texts;
	uint32_t nr_cells;
};

void column_init(struct column *column, const struct parquet_column *declared);
void column_fini(struct column *column);

/** column_number(), column_text() - set the cell of the row behind the last complete one; it can be
 *  set once. @bits: of an integer or a double. Bytes of a text that are no UTF-8 become U+FFFD.
 *  Return: bytes that it takes in memory. */
size_t column_number(struct column *column, uint32_t row, uint64_t bits);
size_t column_text(struct column *column, uint32_t row, const void *text, size_t len);

/**
 * column_write() - append the pages of all @rows rows, one or more, to @pen. The column is empty
 * afterwards.
 * @offset: of the first page in the file. @compressor: NULL: pages are not compressed.
 * @meta: receives the struct ColumnChunk. Return: bytes before compression.
 */
uint64_t column_write(struct column *column, uint32_t rows, uint64_t offset,
		      struct compressor *compressor, struct pen *pen, struct pen *meta);

#endif
