/* SPDX-License-Identifier: GPL-2.0-only */
#include "file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "compress.h"
#include "format.h"
#include "thrift.h"

#define GROUP_BYTES (32u << 20)
#define MAGIC "PAR1"

enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_64 = 14 };
enum { REPETITION_REQUIRED = 0, REPETITION_OPTIONAL = 1 };

/**
 * struct parquet
 * @rows: of the present group, @bytes of them in memory. @written: of earlier groups.
 * @size: of the file. @groups: the descriptions of its groups. @error: the first; negative errno.
 */
struct parquet {
	int dir_fd, error;
	char *path;
	struct compressor *compressor;
	uint32_t nr_columns, rows, nr_groups;
	size_t bytes;
	uint64_t written, size;
	struct pen groups;
	struct column columns[];
};

struct parquet *parquet_new(int dir_fd, const char *path, const struct parquet_column *columns,
			    uint32_t nr_columns, struct compressor *compressor)
{
	struct parquet *file = xalloc(sizeof(*file) + nr_columns * sizeof(file->columns[0]));

	file->dir_fd = dir_fd;
	file->path = xstrdup(path);
	file->compressor = compressor;
	file->nr_columns = nr_columns;
	for (uint32_t i = 0; i < nr_columns; i++) {
		column_init(&file->columns[i], &columns[i]);
		file->columns[i].declared.name = xstrdup(columns[i].name);
	}
	return file;
}

void parquet_free(struct parquet *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; i < file->nr_columns; i++) {
		free((char *)file->columns[i].declared.name);
		column_fini(&file->columns[i]);
	}
	pen_fini(&file->groups);
	free(file->path);
	free(file);
}

size_t parquet_row_bytes(const struct parquet *file)
{
	return file->bytes;
}

size_t parquet_group_bytes(const struct parquet *file)
{
	return file->groups.used;
}

/* --- rows ----------------------------------------------------------------------------------- */

void parquet_integer(struct parquet *file, uint32_t column, uint64_t value)
{
	file->bytes += column_number(&file->columns[column], file->rows, value);
}

void parquet_double(struct parquet *file, uint32_t column, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, 8);
	parquet_integer(file, column, bits);
}

void parquet_text(struct parquet *file, uint32_t column, const void *text, size_t len)
{
	if (len <= PARQUET_TEXT_BYTES_MOST)
		file->bytes += column_text(&file->columns[column], file->rows, text, len);
	else if (!file->error)
		file->error = -EFBIG;
}

int parquet_row(struct parquet *file)
{
	file->rows++;
	if (file->rows == PARQUET_GROUP_ROWS || file->bytes >= GROUP_BYTES)
		return parquet_flush(file);
	return file->error;
}

/* --- writing -------------------------------------------------------------------------------- */

static int parquet_write_bytes(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += MAX(n, 0);
		len -= (size_t)MAX(n, 0);
	}
	return 0;
}

static void parquet_append(struct parquet *file, const struct pen *pen)
{
	int flags =
		O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (file->size ? 0 : O_CREAT | O_EXCL);
	int fd AUTO_FD = -1;

	if (file->error)
		return;
	fd = openat(file->dir_fd, file->path, flags, 0666);
	file->error = fd < 0 ? -errno : parquet_write_bytes(fd, pen->buf, pen->used);
	file->size += pen->used;
}

int parquet_flush(struct parquet *file)
{
	struct thrift group = thrift_element(&file->groups);
	struct pen out = { 0 };
	uint64_t bytes = 0;

	if (!file->rows)
		return file->error;
	if (!file->size)
		pen_text(&out, MAGIC);
	thrift_list(&group, 1, THRIFT_STRUCT, file->nr_columns);
	for (uint32_t i = 0; i < file->nr_columns; i++)
		bytes += column_write(&file->columns[i], file->rows, file->size + out.used,
				      file->compressor, &out, &file->groups);
	thrift_i64(&group, 2, (int64_t)bytes);
	thrift_i64(&group, 3, file->rows);
	thrift_stop(&group);
	parquet_append(file, &out);
	pen_fini(&out);
	file->nr_groups++;
	file->written += file->rows;
	file->rows = 0;
	file->bytes = 0;
	return file->error;
}

static void parquet_describe_root(struct pen *out, uint32_t nr_columns)
{
	struct thrift element = thrift_element(out);

	thrift_text(&element, 4, "schema");
	thrift_i32(&element, 5, (int32_t)nr_columns);
	thrift_stop(&element);
}

static void parquet_describe_column(struct pen *out, const struct parquet_column *column)
{
	struct thrift element = thrift_element(out), logical, kind;

	thrift_i32(&element, 1, parquet_physical(column->kind));
	thrift_i32(&element, 3, column->required ? REPETITION_REQUIRED : REPETITION_OPTIONAL);
	thrift_text(&element, 4, column->name);
	if (column->kind == PARQUET_TEXT) {
		thrift_i32(&element, 6, CONVERTED_UTF8);
		logical = thrift_struct(&element, 10);
		kind = thrift_struct(&logical, 1);
		thrift_stop(&kind);
		thrift_stop(&logical);
	} else if (column->kind == PARQUET_UNSIGNED) {
		thrift_i32(&element, 6, CONVERTED_UINT_64);
		logical = thrift_struct(&element, 10);
		kind = thrift_struct(&logical, 10);
		thrift_byte(&kind, 1, 64);
		thrift_bool(&kind, 2, false);
		thrift_stop(&kind);
		thrift_stop(&logical);
	}
	thrift_stop(&element);
}

/* Minima and maxima are those of the order that the type defines. */
static void parquet_describe_order(struct pen *out)
{
	struct thrift order = thrift_element(out);
	struct thrift by_type = thrift_struct(&order, 1);

	thrift_stop(&by_type);
	thrift_stop(&order);
}

static void parquet_describe(const struct parquet *file, struct pen *out)
{
	struct thrift footer = thrift_element(out);

	thrift_i32(&footer, 1, 2); /* of the format */
	thrift_list(&footer, 2, THRIFT_STRUCT, 1 + (size_t)file->nr_columns);
	parquet_describe_root(out, file->nr_columns);
	for (uint32_t i = 0; i < file->nr_columns; i++)
		parquet_describe_column(out, &file->columns[i].declared);
	thrift_i64(&footer, 3, (int64_t)file->written);
	thrift_list(&footer, 4, THRIFT_STRUCT, file->nr_groups);
	pen_bytes(out, file->groups.buf, file->groups.used);
	thrift_text(&footer, 6, "ltt-control");
	thrift_list(&footer, 7, THRIFT_STRUCT, file->nr_columns);
	for (uint32_t i = 0; i < file->nr_columns; i++)
		parquet_describe_order(out);
	thrift_stop(&footer);
}

int parquet_end(struct parquet *file)
{
	struct pen out = { 0 };
	uint32_t len;
	size_t begin;

	if (parquet_flush(file) != 0)
		return file->error;
	if (!file->size)
		pen_text(&out, MAGIC);
	begin = out.used;
	parquet_describe(file, &out);
	len = htole32((uint32_t)(out.used - begin));
	pen_bytes(&out, (const char *)&len, 4);
	pen_text(&out, MAGIC);
	parquet_append(file, &out);
	pen_fini(&out);
	return file->error;
}
