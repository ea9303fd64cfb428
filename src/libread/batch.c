/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* batch.c - columns of many events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reader.h"

#define COLUMNS_MOST 64u
#define ROWS_MOST (1u << 20)
#define FIELD_PREFIX "field."

enum batch_source {
	BATCH_FIELD, /* or a context */
	BATCH_TS,
	BATCH_NAME,
	BATCH_HOST,
	BATCH_CPU,
	BATCH_PID,
	BATCH_TID,
};

/** A column and its memory, of @rows values and @text_size bytes. */
struct batch_column {
	enum batch_source source;
	enum ltt_read_type type;
	char *name;
	const char *field;
	uint8_t *missing;
	int64_t *integers;
	double *reals;
	uint64_t *ends;
	char *text;
	size_t text_len, text_size;
};

struct batch {
	struct batch_column columns[COLUMNS_MOST];
	struct ltt_read_column shown[COLUMNS_MOST];
	size_t nr, rows;
};

/** Arguments of a call that is guarded. */
struct batch_call {
	struct ltt_read *reader;
	const char *const *names;
	const enum ltt_read_type *types;
	size_t nr;
};

void batch_free(struct batch *batch)
{
	for (size_t i = 0; batch && i < batch->nr; i++) {
		struct batch_column *column = &batch->columns[i];

		free(column->name);
		free(column->missing);
		free(column->integers);
		free(column->reals);
		free(column->ends);
		free(column->text);
	}
	free(batch);
}

/* --- choosing ------------------------------------------------------------------------------ */

static int batch_choose(void *priv)
{
	static const char *const sources[] = {
		[BATCH_TS] = "ts",   [BATCH_NAME] = "name", [BATCH_HOST] = "host",
		[BATCH_CPU] = "cpu", [BATCH_PID] = "pid",   [BATCH_TID] = "tid",
	};
	const struct batch_call *call = priv;
	struct batch *batch = xalloc(sizeof(*batch));

	batch_free(call->reader->batch);
	call->reader->batch = batch;
	for (size_t i = 0; i < call->nr; i++) {
		struct batch_column *column = &batch->columns[batch->nr++];
		bool is_field = strncmp(call->names[i], FIELD_PREFIX, strlen(FIELD_PREFIX)) == 0;

		column->name = xstrdup(call->names[i]);
		column->field = column->name + (is_field ? strlen(FIELD_PREFIX) : 0);
		column->type = call->types[i];
		for (size_t s = BATCH_TS; s < ARRAY_SIZE(sources); s++)
			if (strcmp(column->name, sources[s]) == 0)
				column->source = (enum batch_source)s;
	}
	return 0;
}

int ltt_read_columns(struct ltt_read *reader, const char *const *names,
		     const enum ltt_read_type *types, size_t nr)
{
	struct batch_call call = { reader, names, types, nr };

	if (reader->begun && !reader->broken)
		return reader_fail(reader, -EBUSY, "events have been read already");
	if (!nr || nr > COLUMNS_MOST)
		return reader_fail(reader, -EINVAL, "%zu columns: 1 to %u can be chosen", nr,
				   COLUMNS_MOST);
	for (size_t i = 0; i < nr; i++)
		if (types[i] != LTT_READ_INTEGER && types[i] != LTT_READ_REAL &&
		    types[i] != LTT_READ_TEXT)
			return reader_fail(reader, -EINVAL,
					   "column '%s': integer, real or text can be chosen",
					   names[i]);
	return reader_call(reader, batch_choose, &call);
}

/* --- filling ------------------------------------------------------------------------------- */

static void batch_make_room(struct batch *batch, size_t rows)
{
	for (size_t i = 0; i < batch->nr && rows > batch->rows; i++) {
		struct batch_column *column = &batch->columns[i];

		column->missing = xrealloc(column->missing, rows);
		if (column->type == LTT_READ_INTEGER)
			column->integers = xrealloc(column->integers, rows * sizeof(int64_t));
		else if (column->type == LTT_READ_REAL)
			column->reals = xrealloc(column->reals, rows * sizeof(double));
		else
			column->ends = xrealloc(column->ends, rows * sizeof(uint64_t));
	}
	batch->rows = MAX(batch->rows, rows);
}

static void batch_add_text(struct batch_column *column, const char *text, size_t len)
{
	if (column->text_size - column->text_len < len) {
		column->text_size = 2 * (column->text_len + len) + 4096;
		column->text = xrealloc(column->text, column->text_size);
	}
	memcpy(column->text + column->text_len, text, len);
	column->text_len += len;
}

static void batch_add_number(struct batch_column *column, const struct ltt_read_value *value)
{
	char number[32];
	int len;

	if (value->type == LTT_READ_REAL)
		len = snprintf(number, sizeof(number), "%.17g", value->d);
	else if (value->type == LTT_READ_UNSIGNED)
		len = snprintf(number, sizeof(number), "%" PRIu64, value->u);
	else
		len = snprintf(number, sizeof(number), "%" PRId64, value->i);
	batch_add_text(column, number, (size_t)len);
}

/* Return: whether the text is a value. */
static bool batch_put_text(struct batch_column *column, const struct ltt_read_value *value)
{
	if (value->type == LTT_READ_TEXT)
		batch_add_text(column, value->text, value->len);
	else if (value->label)
		batch_add_text(column, value->label, strlen(value->label));
	else if (value->type >= LTT_READ_INTEGER && value->type <= LTT_READ_REAL)
		batch_add_number(column, value);
	else
		return false;
	return true;
}

/* Return: whether this type holds the value. */
static bool batch_put(struct batch_column *column, size_t row, const struct ltt_read_value *value)
{
	bool is_integer = value->type == LTT_READ_INTEGER ||
			  (value->type == LTT_READ_UNSIGNED && value->u <= INT64_MAX);

	if (column->type == LTT_READ_TEXT)
		return batch_put_text(column, value);
	if (column->type == LTT_READ_INTEGER) {
		column->integers[row] = is_integer ? value->i : 0;
		return is_integer;
	}
	column->reals[row] = value->type == LTT_READ_REAL     ? value->d :
			     value->type == LTT_READ_UNSIGNED ? (double)value->u :
			     value->type == LTT_READ_INTEGER  ? (double)value->i :
								0;
	return value->type >= LTT_READ_INTEGER && value->type <= LTT_READ_REAL;
}

static struct ltt_read_value batch_value(const struct ltt_read *reader,
					 const struct batch_column *column)
{
	struct ltt_read_value value = { .type = LTT_READ_INTEGER };
	bool known = true;
	uint32_t cpu = 0;

	switch (column->source) {
	case BATCH_FIELD:
		known = ltt_read_field(reader, column->field, &value);
		break;
	case BATCH_TS:
		value.i = ltt_read_ns(reader);
		break;
	case BATCH_NAME:
	case BATCH_HOST:
		value.type = LTT_READ_TEXT;
		value.text = column->source == BATCH_NAME ? ltt_read_name(reader) :
							    ltt_read_host(reader);
		value.len = strlen(value.text);
		break;
	case BATCH_CPU:
		known = ltt_read_cpu(reader, &cpu);
		value.i = cpu;
		break;
	case BATCH_PID:
		known = ltt_read_pid(reader, &value.i);
		break;
	case BATCH_TID:
		known = ltt_read_tid(reader, &value.i);
		break;
	}
	if (!known)
		value = (struct ltt_read_value){ .type = LTT_READ_NONE };
	return value;
}

static void batch_add(struct ltt_read *reader, struct batch *batch, size_t row)
{
	for (size_t i = 0; i < batch->nr; i++) {
		struct batch_column *column = &batch->columns[i];
		const struct ltt_read_value value = batch_value(reader, column);

		column->missing[row] = !batch_put(column, row, &value);
		if (column->ends)
			column->ends[row] = column->text_len;
	}
}

static int batch_fill(void *priv)
{
	const struct batch_call *call = priv;
	struct batch *batch = call->reader->batch;
	size_t row = 0;
	int ret = 0;

	batch_make_room(batch, call->nr);
	for (size_t i = 0; i < batch->nr; i++)
		batch->columns[i].text_len = 0;
	while (row < call->nr && (ret = reader_step(call->reader)) > 0)
		batch_add(call->reader, batch, row++);
	for (size_t i = 0; i < batch->nr; i++) {
		const struct batch_column *column = &batch->columns[i];

		batch->shown[i] = (struct ltt_read_column){
			.type = column->type,
			.name = column->name,
			.missing = column->missing,
			.integers = column->integers,
			.reals = column->reals,
			.text = column->ends && !column->text ? "" : column->text,
			.ends = column->ends,
		};
	}
	return ret < 0 ? ret : (int)row;
}

int ltt_read_batch(struct ltt_read *reader, size_t most, const struct ltt_read_column **ret)
{
	struct batch_call call = { .reader = reader, .nr = most };
	int rows;

	if (!reader->batch && !reader->broken)
		return reader_fail(reader, -EINVAL, "no columns are chosen");
	if (!most || most > ROWS_MOST)
		return reader_fail(reader, -EINVAL, "%zu events: 1 to %u can be read at once", most,
				   ROWS_MOST);
	rows = reader_call(reader, batch_fill, &call);
	if (rows > 0)
		*ret = reader->batch->shown;
	return rows;
}
