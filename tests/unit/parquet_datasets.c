/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of more datasets and hours than there are files at a time, and of more data than there is
 * memory for, are all in files, with few open at a time. An hour that comes back after its file has
 * ended has another file beside it.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"
#include "ctl/export/parquet/dataset.h"
#include "ctl/export/parquet/file.h"
#include "ctl/export/parquet/path.h"
#include "ctl/export/parquet/schema.h"

#define HOURS 5000
#define DATASETS 8
#define TEXT_BYTES_EACH 20480u
#define DATASET_BYTES (24u << 20) /* eight of these are more than the memory for rows */
#define MEMORY_KIB (320 << 10)

static const struct parquet_column columns[] = { { "ts", PARQUET_SIGNED, true },
						 { "text", PARQUET_TEXT, false } };
static uint64_t nr_files, nr_beside;

static int count_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type != FTW_F)
		return 0;
	nr_files++;
	nr_beside += strncmp(path + ftw->base, "part-", 5) == 0;
	CHECK_IS(st->st_size, >, 12);
	return 0;
}

static void count_files(void)
{
	nr_files = nr_beside = 0;
	CHECK_IS(nftw("out", count_file, 8, FTW_PHYS), ==, 0);
}

static struct datasets *open_out(int *ret_fd)
{
	struct datasets *datasets;

	dir_remove(AT_FDCWD, "out");
	CHECK_IS(mkdir("out", 0777), ==, 0);
	*ret_fd = open("out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	datasets = datasets_new(*ret_fd);
	CHECK(datasets);
	return datasets;
}

static void put(struct datasets *datasets, struct dataset_place *place, long long hour,
		const char *text, size_t len)
{
	struct parquet *file = datasets_file(datasets, place, hour * PATH_HOUR_NS);

	CHECK(file);
	parquet_integer(file, 0, (uint64_t)hour);
	parquet_text(file, 1, text, len);
	CHECK_IS(datasets_row(datasets, place), ==, 0);
}

static const struct schema schema = { .name = "a:b",
				      .columns = (struct parquet_column *)columns,
				      .nr_columns = 2 };

static void check_hours(void)
{
	struct dataset_place place = { .schema = &schema, .host = "h/" };
	struct rlimit few = { 30, 30 };
	struct stat st;
	int fd;
	struct datasets *datasets = open_out(&fd);

	CHECK_IS(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
	for (int hour = -100; hour < HOURS - 100; hour++)
		put(datasets, &place, hour, "x", 1);
	put(datasets, &place, -100, "y", 1);
	put(datasets, &place, -100, "z", 1);
	CHECK_IS(datasets_end(datasets), ==, 0);
	datasets_free(datasets);
	close(fd);
	count_files();
	CHECK_IS(nr_files, ==, HOURS + 1);
	CHECK_IS(nr_beside, ==, 1);
	CHECK_IS(stat("out/a%3Ab/host=h%2F/hour=1970010100/part.parquet", &st), ==, 0);
	CHECK_IS(stat("out/a%3Ab/host=h%2F/hour=1969122720/part-1.parquet", &st), ==, 0);
}

static void check_memory(void)
{
	struct dataset_place places[DATASETS];
	static char text[TEXT_BYTES_EACH];
	static const char names[DATASETS][2] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct rusage usage;
	int fd;
	struct datasets *datasets = open_out(&fd);

	for (int i = 0; i < DATASETS; i++)
		places[i] = (struct dataset_place){ .schema = &schema, .directory = names[i] };
	for (uint32_t row = 0; row < DATASET_BYTES / TEXT_BYTES_EACH; row++)
		for (int i = 0; i < DATASETS; i++) {
			snprintf(text, sizeof(text), "%*u", (int)sizeof(text) - 1, row * DATASETS);
			put(datasets, &places[i], 0, text, sizeof(text) - 1);
		}
	CHECK_IS(datasets_end(datasets), ==, 0);
	datasets_free(datasets);
	close(fd);
	count_files();
	CHECK_IS(nr_files, ==, DATASETS);
	CHECK_IS(getrusage(RUSAGE_SELF, &usage), ==, 0);
#ifndef __SANITIZE_ADDRESS__
	CHECK_IS(usage.ru_maxrss, <, MEMORY_KIB);
#endif
}

static void check_names(void)
{
	static const char *const pairs[][2] = {
		{ "", "%" },
		{ "losses", "%6Cosses" },
		{ "sampling", "%73ampling" },
		{ "losses2", "losses2" },
		{ "..", "%2E." },
		{ "_x", "%5Fx" },
		{ "web:a_b-c.d", "web%3Aa_b-c.d" },
		{ "a/b=c%d\xff*", "a%2Fb%3Dc%25d%FF%2A" },
	};
	char name[300] = { 0 };
	char *one, *other;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		one = path_dataset(pairs[i][0]);
		CHECK_IS(strcmp(one, pairs[i][1]), ==, 0);
		free(one);
	}
	memset(name, 'n', sizeof(name) - 1);
	one = path_dataset(name);
	name[298] = 'm';
	other = path_dataset(name);
	CHECK(strlen(one) < 240 && strcmp(one, other) != 0);
	free(one);
	free(other);
}

int main(void)
{
	check_names();
	check_memory();
	check_hours();
	dir_remove(AT_FDCWD, "out");
	return 0;
}
