/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dataset.h - the files of an export: DATASET/host=HOST/hour=YYYYMMDDHH/part.parquet below a
 * directory, which engines read as one table for each dataset. Any number of datasets, hosts and
 * hours is written in bounded memory: see PARTS_MOST and MEMORY in dataset.c; for this a file may
 * end early, and others are beside it then, part-N.parquet. Used by one thread.
 */
#ifndef CTL_EXPORT_PARQUET_DATASET_H
#define CTL_EXPORT_PARQUET_DATASET_H

#include <stdint.h>

#include "base/macros.h"

struct datasets;
struct schema;
struct parquet;

/** @dir_fd: of the directory; outlives them. */
struct datasets *datasets_new(int dir_fd);
void datasets_free(struct datasets *datasets);

/**
 * struct dataset_place - the file of rows that have a schema and a host. It is looked up again when
 * the hour changes or a file has ended. The caller sets the first three members; the rest is zero.
 * @host: NULL: unknown. @directory: of the dataset; NULL: it is named as the events of the schema.
 */
struct dataset_place {
	const struct schema *schema;
	const char *host, *directory;
	struct dataset_part *part;
	long long hour;
	uint64_t generation;
};

/** datasets_file() - the file for the row of a time; the row is to be put into it, and
 *  datasets_row() called then. Return: NULL: a directory can't be made, with errno set. */
struct parquet *datasets_file(struct datasets *datasets, struct dataset_place *place, int64_t ns);
/** The row of datasets_file() is complete. Return: 0; negative errno. */
int datasets_row(struct datasets *datasets, struct dataset_place *place) MUST_CHECK;
/** End all files. Return: likewise. */
int datasets_end(struct datasets *datasets) MUST_CHECK;

#endif
