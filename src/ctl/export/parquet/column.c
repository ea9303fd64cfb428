/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of enumerations and of members are those of parquet.thrift, of the format's
 * specification (parquet.apache.org). */
#include "column.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/text.h"
#include "compress.h"
#include "format.h"
#include "thrift.h"

#define DICTIONARY_BYTES (1u << 20)
#define DICTIONARY_ENTRIES (1u << 15)
#define PROBES 64u /* after these a dictionary is complete: texts may be chosen to collide */
#define RANGE_TEXT_BYTES 64u /* longer texts have no minimum and maximum */

enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DICTIONARY = 8 };
enum { CODEC_NONE = 0, CODEC_ZSTD = 6 };

void column_init(struct column *column, const struct parquet_column *declared)
{
	*column = (struct column){ .declared = *declared };
}

void column_fini(struct column *column)
{
	pen_fini(&column->present);
	pen_fini(&column->values);
	pen_fini(&column->texts.entries);
	pen_fini(&column->texts.offsets);
	pen_fini(&column->texts.indices);
	free(column->texts.slots);
}

static void column_put32(struct pen *pen, uint32_t value)
{
	value = htole32(value);
	pen_bytes(pen, (const char *)&value, 4);
}

static uint32_t column_get32(const struct pen *pen, size_t offset)
{
	uint32_t value;

	memcpy(&value, pen->buf + offset, 4);
	return le32toh(value);
}

/* --- cells ---------------------------------------------------------------------------------- */

/* Return: whether the row had no cell yet. */
static bool column_set_present(struct column *column, uint32_t row)
{
	struct pen *present = &column->present;
	char bit = (char)(1u << row % 8);

	while (present->used <= row / 8)
		pen_char(present, 0);
	if (present->buf[row / 8] & bit)
		return false;
	present->buf[row / 8] |= bit;
	column->nr_cells++;
	return true;
}

size_t column_number(struct column *column, uint32_t row, uint64_t bits)
{
	if (!column_set_present(column, row))
		return 0;
	bits = htole64(bits);
	pen_bytes(&column->values, (const char *)&bits, 8);
	return 8;
}

static uint32_t texts_hash(const uint8_t *text, size_t len)
{
	uint64_t hash = len, word;

	for (; len; text += MIN(len, 8), len -= MIN(len, 8)) {
		word = 0;
		memcpy(&word, text, MIN(len, 8));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

static const uint8_t *texts_entry(const struct column_texts *texts, uint32_t index, size_t *ret_len)
{
	uint32_t offset = column_get32(&texts->offsets, 4 * (size_t)index);

	*ret_len = column_get32(&texts->entries, offset);
	return (const uint8_t *)texts->entries.buf + offset + 4;
}

static bool texts_is(const struct column_texts *texts, uint32_t index, const uint8_t *text,
		     size_t len)
{
	size_t entry_len;
	const uint8_t *entry = texts_entry(texts, index, &entry_len);

	return entry_len == len && memcmp(entry, text, len) == 0;
}

/* Return: the slot of the text, or an empty one; NULL: there is none within some probes. */
static uint32_t *texts_slot(const struct column_texts *texts, const uint8_t *text, size_t len)
{
	uint32_t at = texts_hash(text, len);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t *slot = &texts->slots[(at + i) & (texts->nr_slots - 1)];

		if (!*slot || texts_is(texts, *slot - 1, text, len))
			return slot;
	}
	return NULL;
}

static void texts_grow(struct column_texts *texts)
{
	texts->nr_slots = MAX(2 * texts->nr_slots, PROBES);
	free(texts->slots);
	texts->slots = xalloc(texts->nr_slots * sizeof(*texts->slots));
	for (uint32_t i = 0; i < texts->nr; i++) {
		size_t len;
		const uint8_t *text = texts_entry(texts, i, &len);
		uint32_t *slot = texts_slot(texts, text, len);

		if (slot)
			*slot = i + 1;
		else
			texts->complete = true;
	}
}

/* Return: bytes that are added. */
static size_t texts_add(struct column_texts *texts, const uint8_t *text, size_t len)
{
	uint32_t *slot;

	if (2 * texts->nr >= texts->nr_slots)
		texts_grow(texts);
	slot = texts_slot(texts, text, len);
	if (slot && *slot) {
		texts->last = *slot - 1;
		return 0;
	}
	texts->last = texts->nr++;
	if (slot)
		*slot = texts->nr;
	column_put32(&texts->offsets, (uint32_t)texts->entries.used);
	column_put32(&texts->entries, (uint32_t)len);
	pen_bytes(&texts->entries, (const char *)text, len);
	texts->complete |=
		!slot || texts->nr == DICTIONARY_ENTRIES || texts->entries.used >= DICTIONARY_BYTES;
	return 16 + len;
}

/* Close it at a row with which a byte of present rows begins, as a page does. */
static void texts_close(struct column *column, uint32_t row)
{
	if (!column->texts.complete || column->texts.closed ||
	    (column->present.used > row / 8 && column->present.buf[row / 8]))
		return;
	column->texts.closed = true;
	column->texts.rows = row & ~7u;
}

static size_t column_add_text(struct column *column, uint32_t row, const uint8_t *text, size_t len)
{
	struct column_texts *texts = &column->texts;
	size_t added = 4;

	texts_close(column, row);
	if (!column_set_present(column, row))
		return 0;
	if (texts->closed) {
		column_put32(&column->values, (uint32_t)len);
		pen_bytes(&column->values, (const char *)text, len);
		return added + len;
	}
	if (!texts->nr || !texts_is(texts, texts->last, text, len))
		added += texts_add(texts, text, len);
	column_put32(&texts->indices, texts->last);
	return added;
}

size_t column_text(struct column *column, uint32_t row, const void *text, size_t len)
{
	struct pen valid = { 0 };
	const uint8_t *at = text;
	size_t added;

	if (text_is_utf8(at, len))
		return column_add_text(column, row, at, len);
	for (size_t left = len, n; left; at += n, left -= n) {
		uint32_t c;

		n = escape_decode(at, left, &c);
		if (n)
			pen_bytes(&valid, (const char *)at, n);
		else
			pen_text(&valid, "\xef\xbf\xbd");
		n += !n;
	}
	added = column_add_text(column, row, (const uint8_t *)valid.buf, valid.used);
	pen_fini(&valid);
	return added;
}

/* --- pages ---------------------------------------------------------------------------------- */

/** struct column_chunk - the pages that are being written. @encodings: bits of those used. */
struct column_chunk {
	struct compressor *compressor;
	struct pen *out;
	uint64_t bytes; /* before compression */
	uint32_t encodings;
};

static void chunk_add(struct column_chunk *chunk, int type, const struct pen *page, uint32_t nr,
		      int encoding)
{
	struct pen packed = { 0 };
	struct thrift header = thrift_element(chunk->out), part;
	const struct pen *stored = page;
	size_t before = chunk->out->used;

	if (chunk->compressor) {
		compressor_add(chunk->compressor, &packed, page->buf, page->used);
		stored = &packed;
	}
	thrift_i32(&header, 1, type);
	thrift_i32(&header, 2, (int32_t)page->used);
	thrift_i32(&header, 3, (int32_t)stored->used);
	part = thrift_struct(&header, type == PAGE_DATA ? 5 : 7);
	thrift_i32(&part, 1, (int32_t)nr);
	thrift_i32(&part, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&part, 3, ENCODING_RLE);
		thrift_i32(&part, 4, ENCODING_RLE);
	}
	thrift_stop(&part);
	thrift_stop(&header);
	chunk->bytes += chunk->out->used - before + page->used;
	chunk->encodings |= 1u << encoding;
	pen_bytes(chunk->out, stored->buf, stored->used);
	pen_fini(&packed);
}

static uint32_t column_count_present(const struct column *column, uint32_t from, uint32_t to)
{
	uint32_t nr = 0;

	for (size_t i = from / 8; i < (to + 7) / 8; i++)
		nr += (uint32_t)__builtin_popcount((uint8_t)column->present.buf[i]);
	return nr;
}

/* Which of the rows have a cell: one run if all or none have, else a bit each. */
static void column_levels(const struct column *column, uint32_t from, uint32_t to, struct pen *page)
{
	uint32_t present = column_count_present(column, from, to);
	size_t begin = page->used;
	uint32_t len;

	if (column->declared.required)
		return;
	column_put32(page, 0);
	if (!present || present == to - from) {
		thrift_unsigned(page, (uint64_t)(to - from) << 1);
		pen_char(page, present != 0);
	} else {
		thrift_unsigned(page, (uint64_t)(to - from + 7) / 8 << 1 | 1);
		pen_bytes(page, column->present.buf + from / 8, (to - from + 7) / 8);
	}
	len = htole32((uint32_t)(page->used - begin - 4));
	memcpy(page->buf + begin, &len, 4);
}

/* Indices of @bits bits each, in one run. */
static void texts_pack(const struct column_texts *texts, struct pen *page)
{
	uint32_t nr = (uint32_t)(texts->indices.used / 4);
	unsigned int bits = texts->nr > 1 ? 32 - (unsigned int)__builtin_clz(texts->nr - 1) : 1;
	unsigned int filled = 0;
	uint64_t word = 0;

	pen_char(page, (char)bits);
	if (texts->nr == 1) {
		thrift_unsigned(page, (uint64_t)nr << 1);
		pen_char(page, 0);
		return;
	}
	thrift_unsigned(page, (uint64_t)(nr + 7) / 8 << 1 | 1);
	for (uint32_t i = 0; i < (nr + 7) / 8 * 8; i++) {
		word |= (uint64_t)(i < nr ? column_get32(&texts->indices, 4 * (size_t)i) : 0)
			<< filled;
		for (filled += bits; filled >= 8; filled -= 8, word >>= 8)
			pen_char(page, (char)word);
	}
}

static void column_add_plain(const struct column *column, uint32_t from, uint32_t to,
			     struct column_chunk *chunk)
{
	struct pen page = { 0 };

	column_levels(column, from, to, &page);
	pen_bytes(&page, column->values.buf, column->values.used);
	chunk_add(chunk, PAGE_DATA, &page, to - from, ENCODING_PLAIN);
	pen_fini(&page);
}

/* Return: where the first data page begins. */
static size_t column_add_pages(const struct column *column, uint32_t rows,
			       struct column_chunk *chunk)
{
	const struct column_texts *texts = &column->texts;
	uint32_t indexed = texts->closed ? texts->rows : rows;
	struct pen page = { 0 };
	size_t data = chunk->out->used;

	if (!texts->nr) {
		column_add_plain(column, 0, rows, chunk);
		return data;
	}
	chunk_add(chunk, PAGE_DICTIONARY, &texts->entries, texts->nr, ENCODING_PLAIN);
	data = chunk->out->used;
	column_levels(column, 0, indexed, &page);
	texts_pack(texts, &page);
	chunk_add(chunk, PAGE_DATA, &page, indexed, ENCODING_DICTIONARY);
	pen_fini(&page);
	if (texts->closed)
		column_add_plain(column, indexed, rows, chunk);
	return data;
}

/* --- minimum and maximum -------------------------------------------------------------------- */

struct column_range {
	const char *least, *most;
	size_t least_len, most_len;
	bool any;
};

static int column_compare_texts(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, MIN(a_len, b_len));

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static void range_take_texts(struct column_range *range, const struct pen *texts)
{
	for (size_t at = 0, len; at < texts->used; at += 4 + len) {
		const char *text = texts->buf + at + 4;

		len = column_get32(texts, at);
		if (!range->any ||
		    column_compare_texts(text, len, range->least, range->least_len) < 0) {
			range->least = text;
			range->least_len = len;
		}
		if (!range->any ||
		    column_compare_texts(text, len, range->most, range->most_len) > 0) {
			range->most = text;
			range->most_len = len;
		}
		range->any = true;
	}
}

static double column_double(const char *cell)
{
	uint64_t bits;
	double value;

	memcpy(&bits, cell, 8);
	bits = le64toh(bits);
	memcpy(&value, &bits, 8);
	return value;
}

static bool column_is_less(enum parquet_kind kind, const char *a, const char *b)
{
	uint64_t x, y;

	if (kind == PARQUET_DOUBLE)
		return column_double(a) < column_double(b);
	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	x = le64toh(x);
	y = le64toh(y);
	return kind == PARQUET_UNSIGNED ? x < y : (int64_t)x < (int64_t)y;
}

/* A range of doubles has both zeros, and no NaN. */
static void range_take_numbers(struct column_range *range, const struct column *column)
{
	static const char zeros[2][8] = { { 0 }, { 0, 0, 0, 0, 0, 0, 0, (char)0x80 } };
	enum parquet_kind kind = column->declared.kind;

	for (size_t i = 0; i < column->values.used; i += 8) {
		const char *cell = column->values.buf + i;
		double value = kind == PARQUET_DOUBLE ? column_double(cell) : 1;

		if (value != value)
			continue;
		if (!range->any || column_is_less(kind, cell, range->least))
			range->least = value == 0 ? zeros[1] : cell;
		if (!range->any || column_is_less(kind, range->most, cell))
			range->most = value == 0 ? zeros[0] : cell;
		range->any = true;
	}
	range->least_len = range->most_len = 8;
}

static void column_statistics(const struct column *column, uint32_t rows, struct thrift *meta)
{
	struct column_range range = { 0 };
	struct thrift statistics = thrift_struct(meta, 12);

	if (column->declared.kind == PARQUET_TEXT) {
		range_take_texts(&range, &column->texts.entries);
		range_take_texts(&range, &column->values);
	} else {
		range_take_numbers(&range, column);
	}
	thrift_i64(&statistics, 3, rows - column->nr_cells);
	if (range.any && MAX(range.least_len, range.most_len) <= RANGE_TEXT_BYTES) {
		thrift_binary(&statistics, 5, range.most, range.most_len);
		thrift_binary(&statistics, 6, range.least, range.least_len);
	}
	thrift_stop(&statistics);
}

/* --- chunks --------------------------------------------------------------------------------- */

static void chunk_describe(const struct column *column, const struct column_chunk *chunk,
			   uint32_t rows, uint64_t offset, uint64_t data_offset, uint64_t len,
			   struct pen *out)
{
	struct thrift place = thrift_element(out), meta;

	thrift_i64(&place, 2, (int64_t)offset);
	meta = thrift_struct(&place, 3);
	thrift_i32(&meta, 1, parquet_physical(column->declared.kind));
	thrift_list(&meta, 2, THRIFT_I32, 1 + (size_t)__builtin_popcount(chunk->encodings));
	thrift_element_i32(&meta, ENCODING_RLE); /* of the levels */
	for (int encoding = 0; encoding <= ENCODING_DICTIONARY; encoding++)
		if (chunk->encodings >> encoding & 1)
			thrift_element_i32(&meta, encoding);
	thrift_list(&meta, 3, THRIFT_BINARY, 1);
	thrift_element_text(&meta, column->declared.name);
	thrift_i32(&meta, 4, chunk->compressor ? CODEC_ZSTD : CODEC_NONE);
	thrift_i64(&meta, 5, rows);
	thrift_i64(&meta, 6, (int64_t)chunk->bytes);
	thrift_i64(&meta, 7, (int64_t)len);
	thrift_i64(&meta, 9, (int64_t)data_offset);
	if (data_offset != offset)
		thrift_i64(&meta, 11, (int64_t)offset);
	column_statistics(column, rows, &meta);
	thrift_stop(&meta);
	thrift_stop(&place);
}

uint64_t column_write(struct column *column, uint32_t rows, uint64_t offset,
		      struct compressor *compressor, struct pen *pen, struct pen *meta)
{
	struct parquet_column declared = column->declared;
	struct column_chunk chunk = { .compressor = compressor, .out = pen };
	size_t begin = pen->used, data;

	while (column->present.used < (rows + 7) / 8)
		pen_char(&column->present, 0);
	data = column_add_pages(column, rows, &chunk);
	chunk_describe(column, &chunk, rows, offset, offset + data - begin, pen->used - begin,
		       meta);
	column_fini(column);
	column_init(column, &declared);
	return chunk.bytes;
}
