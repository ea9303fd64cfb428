/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - writes a Parquet file (parquet.apache.org): rows in groups, which are compressed columns
 * with their minimum and maximum. A group is written when it has PARQUET_GROUP_ROWS rows or much
 * data; the file is open only then, so that any number of files can be written at a time. Used by
 * one thread.
 */
#ifndef CTL_EXPORT_PARQUET_FILE_H
#define CTL_EXPORT_PARQUET_FILE_H

#include <stdint.h>

#include "base/macros.h"
#include "column.h"

#define PARQUET_GROUP_ROWS (128u << 10)
#define PARQUET_TEXT_BYTES_MOST (64u << 20) /* of one cell */

struct compressor;
struct parquet;

/**
 * parquet_new() - @path: below @dir_fd, which outlives the file; it is made with the first group.
 * @columns: copied. @compressor: outlives the file; NULL: nothing is compressed.
 */
struct parquet *parquet_new(int dir_fd, const char *path, const struct parquet_column *columns,
			    uint32_t nr_columns, struct compressor *compressor);
/** parquet_free() - without parquet_end(), the file is incomplete. */
void parquet_free(struct parquet *file);

/** Set a cell of the present row, once; a cell that is not set is null. */
void parquet_integer(struct parquet *file, uint32_t column, uint64_t value);
void parquet_double(struct parquet *file, uint32_t column, double value);
void parquet_text(struct parquet *file, uint32_t column, const void *text, size_t len);

/** The present row is complete. Return: 0; negative errno: it can't be written. */
int parquet_row(struct parquet *file) MUST_CHECK;
/** Write the rows so far. Return: likewise. */
int parquet_flush(struct parquet *file) MUST_CHECK;
/** Write the rows, and the end of the file. Return: likewise. */
int parquet_end(struct parquet *file) MUST_CHECK;

/** parquet_row_bytes() - in memory, of rows; parquet_group_bytes(): of descriptions of groups. */
size_t parquet_row_bytes(const struct parquet *file);
size_t parquet_group_bytes(const struct parquet *file);

#endif
