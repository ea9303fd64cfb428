/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 100,000 random values of each type, with and without nulls, are read back from a Parquet file by
 * a reader of our own (tests/lib/parquet.py), which also checks minima, maxima and counts: of texts
 * that fill a dictionary, and of few. Values that differ in a bit only, NaN, both zeros and bytes
 * that are no UTF-8 are among them. A full disk is reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "ctl/export/parquet/compress.h"
#include "ctl/export/parquet/file.h"

#define ROWS 300000u

static uint64_t state = 42;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t some_integer(void)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1 };
	uint64_t random = next_random();

	return random % 16 < 5 ? odd[random % 16] : next_random() >> random % 64;
}

static double some_double(void)
{
	static const double odd[] = { 0, -0.0, 1e308, -1e308, 5e-324 };
	uint64_t random = next_random(), bits = next_random();
	double value;

	memcpy(&value, &bits, 8);
	return random % 16 < 5 ? odd[random % 16] : value;
}

static void put_hex(FILE *rows, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(rows, "%02x", (uint8_t)text[i]);
}

/* Of @kinds different ones. */
static void put_text(struct parquet *file, uint32_t column, FILE *rows, uint64_t kinds)
{
	static const char invalid[] = "\xff"
				      "a\xc0\x80",
			  valid[] = "\xef\xbf\xbd"
				    "a\xef\xbf\xbd\xef\xbf\xbd";
	uint64_t kind = next_random() % kinds;
	char text[100];
	int len =
		snprintf(text, sizeof(text), "%*s%" PRIu64 "\xc3\xa4", (int)(kind % 70), "", kind);

	if (kind == 7) {
		parquet_text(file, column, invalid, sizeof(invalid) - 1);
		put_hex(rows, valid, sizeof(valid) - 1);
	} else {
		parquet_text(file, column, text, kind ? (size_t)len : 0);
		put_hex(rows, text, kind ? (size_t)len : 0);
	}
}

static void put_double(struct parquet *file, FILE *rows)
{
	double value = some_double();
	uint64_t bits;

	if (value != value)
		value = -1;
	memcpy(&bits, &value, 8);
	parquet_double(file, 3, value);
	fprintf(rows, "%016" PRIx64, bits);
}

static const struct parquet_column columns[] = {
	{ "ts", PARQUET_SIGNED, true },		 { "signed", PARQUET_SIGNED, false },
	{ "unsigned", PARQUET_UNSIGNED, false }, { "double", PARQUET_DOUBLE, false },
	{ "few", PARQUET_TEXT, false },		 { "many", PARQUET_TEXT, false },
	{ "none", PARQUET_TEXT, false },	 { "one", PARQUET_TEXT, true },
};

static void put_row(struct parquet *file, uint32_t row, uint64_t present, FILE *rows)
{
	uint64_t number = some_integer();

	parquet_integer(file, 0, row);
	fprintf(rows, "%u\t", row);
	if (present & 1) {
		parquet_integer(file, 1, number);
		fprintf(rows, "%" PRId64, (int64_t)number);
	}
	fputc('\t', rows);
	if (present & 2) {
		parquet_integer(file, 2, number);
		fprintf(rows, "%" PRIu64, number);
	}
	fputc('\t', rows);
	if (present & 4)
		put_double(file, rows);
	fputc('\t', rows);
	if (present & 8)
		put_text(file, 4, rows, 20);
	fputc('\t', rows);
	if (present & 16)
		put_text(file, 5, rows, 100000);
	fputs("\t\t", rows);
	parquet_text(file, 7, "one", 3);
	fputs("6f6e65\n", rows);
	CHECK_IS(parquet_row(file), ==, 0);
}

/* Groups where all, none and some of the cells are null. */
static void check_values(const char *name, uint32_t nr, struct compressor *compressor)
{
	struct parquet *file =
		parquet_new(AT_FDCWD, name, columns, ARRAY_SIZE(columns), compressor);
	FILE *rows = fopen("rows", "w");
	char command[400];

	CHECK(rows);
	for (uint32_t row = 0; row < nr; row++) {
		uint64_t present = row < nr / 3 ? UINT64_MAX : next_random();

		put_row(file, row,
			row > nr / 3 * 2 && row % 1000 ? present & next_random() : present, rows);
		if (next_random() % 50000 == 0)
			CHECK_IS(parquet_flush(file), ==, 0);
	}
	CHECK_IS(parquet_end(file), ==, 0);
	CHECK_IS(parquet_row_bytes(file), ==, 0);
	parquet_free(file);
	CHECK_IS(fclose(rows), ==, 0);
	snprintf(command, sizeof(command),
		 "python3 \"$TOP/tests/lib/parquet.py\" %s >got && cmp got rows", name);
	CHECK_IS(system(command), ==, 0);
}

static void check_full(void)
{
	struct parquet *file = parquet_new(AT_FDCWD, "/dev/full", columns, 1, NULL);

	parquet_integer(file, 0, 1);
	CHECK_IS(parquet_row(file), ==, 0);
	CHECK(parquet_end(file) < 0);
	CHECK(parquet_flush(file) < 0);
	parquet_free(file);
	file = parquet_new(AT_FDCWD, "no/such", columns, 1, NULL);
	CHECK_IS(parquet_end(file), ==, -ENOENT);
	parquet_free(file);
}

int main(void)
{
	struct compressor *compressor = compressor_new();

	CHECK(compressor);
	check_values("none.parquet", 0, compressor);
	check_values("one.parquet", 1, compressor);
	check_values("some.parquet", 1003, NULL);
	check_values("many.parquet", check_repeat(ROWS), compressor);
	check_full();
	compressor_free(compressor);
	return 0;
}
