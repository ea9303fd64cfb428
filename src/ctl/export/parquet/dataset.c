/* SPDX-License-Identifier: GPL-2.0-only */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "compress.h"
#include "file.h"
#include "schema.h"
#include "path.h"

#define MEMORY (UINT64_C(128) << 20) /* for rows of all files */
#define PARTS_MOST 4096u
#define GROUPS_BYTES_MOST (1u << 20) /* for descriptions of the groups of a file */

/** struct dataset_part - a file that is being written. @path: of its directory. @bytes: of its rows
 *  that are counted. */
struct dataset_part {
	struct idmap_node node; /* by the hash of its path */
	struct dataset_part *next;
	char *path;
	struct parquet *file;
	size_t bytes;
};

/** struct datasets - @generation: changes when a part ends. @bytes: of rows in memory. @number: of
 *  the next file that is not the first of its directory. */
struct datasets {
	int dir_fd;
	struct compressor *compressor;
	struct idmap by_path;
	struct dataset_part *parts;
	uint32_t nr_parts;
	uint64_t generation, bytes, number;
};

struct datasets *datasets_new(int dir_fd)
{
	struct datasets *datasets = xalloc(sizeof(*datasets));

	datasets->dir_fd = dir_fd;
	datasets->compressor = compressor_new();
	datasets->generation = 1;
	idmap_init(&datasets->by_path);
	return datasets;
}

static void dataset_part_free(struct datasets *datasets, struct dataset_part *part)
{
	idmap_remove(&part->node);
	datasets->bytes -= part->bytes;
	datasets->nr_parts--;
	datasets->generation++;
	parquet_free(part->file);
	free(part->path);
	free(part);
}

void datasets_free(struct datasets *datasets)
{
	struct dataset_part *part;

	if (!datasets)
		return;
	while ((part = datasets->parts)) {
		datasets->parts = part->next;
		dataset_part_free(datasets, part);
	}
	idmap_fini(&datasets->by_path);
	compressor_free(datasets->compressor);
	free(datasets);
}

/* --- ending files --------------------------------------------------------------------------- */

/* Return: 0; negative errno. */
static int dataset_part_end(struct datasets *datasets, struct dataset_part **at)
{
	struct dataset_part *part = *at;
	int error = parquet_end(part->file);

	*at = part->next;
	dataset_part_free(datasets, part);
	return error;
}

int datasets_end(struct datasets *datasets)
{
	int error = 0;

	while (datasets->parts && !error)
		error = dataset_part_end(datasets, &datasets->parts);
	return error;
}

/* Write the rows of the file that has most of them. */
static int datasets_make_room(struct datasets *datasets)
{
	struct dataset_part **largest = &datasets->parts;
	int error;

	for (struct dataset_part **at = largest; *at; at = &(*at)->next)
		if ((*at)->bytes > (*largest)->bytes)
			largest = at;
	error = parquet_flush((*largest)->file);
	datasets->bytes -= (*largest)->bytes;
	(*largest)->bytes = 0;
	if (!error && parquet_group_bytes((*largest)->file) > GROUPS_BYTES_MOST)
		error = dataset_part_end(datasets, largest);
	return error;
}

/* --- files ---------------------------------------------------------------------------------- */

/* Return: 0; -1 with errno set. */
static int datasets_make_dirs(int dir_fd, char *path)
{
	for (char *slash = strchr(path, '/');; slash = strchr(slash + 1, '/')) {
		int made;

		if (slash)
			*slash = '\0';
		made = mkdirat(dir_fd, path, 0777);
		if (slash)
			*slash = '/';
		if (made < 0 && errno != EEXIST)
			return -1;
		if (!slash)
			return 0;
	}
}

/* A name in a directory; allocated. */
static char *datasets_name(struct datasets *datasets, const char *path)
{
	char *name = xasprintf("%s/part.parquet", path);

	if (faccessat(datasets->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		free(name);
		name = xasprintf("%s/part-%" PRIu64 ".parquet", path, ++datasets->number);
	}
	return name;
}

static struct dataset_part *datasets_find(const struct datasets *datasets, const char *path)
{
	struct idmap_node *node = idmap_find(&datasets->by_path, idmap_hash_text(path));

	for (; node; node = idmap_next(&datasets->by_path, node)) {
		struct dataset_part *part = container_of(node, struct dataset_part, node);

		if (strcmp(part->path, path) == 0)
			return part;
	}
	return NULL;
}

/* @path: allocated; owned by the part. Return: NULL with errno set. */
static struct dataset_part *datasets_add(struct datasets *datasets, char *path,
					 const struct schema *schema)
{
	char *name AUTO_FREE = NULL;
	struct dataset_part *part;

	if (datasets_make_dirs(datasets->dir_fd, path) != 0)
		return NULL;
	name = datasets_name(datasets, path);
	part = xalloc(sizeof(*part));
	part->path = path;
	part->file = parquet_new(datasets->dir_fd, name, schema->columns, schema->nr_columns,
				 datasets->compressor);
	part->next = datasets->parts;
	datasets->parts = part;
	datasets->nr_parts++;
	idmap_add(&datasets->by_path, &part->node, idmap_hash_text(path));
	return part;
}

/* Return: NULL with errno set. */
static struct dataset_part *datasets_part(struct datasets *datasets,
					  const struct dataset_place *place, long long hour)
{
	char *dataset AUTO_FREE =
		place->directory ? xstrdup(place->directory) : path_dataset(place->schema->name);
	char *path = path_part(dataset, place->host, hour);
	struct dataset_part *part = datasets_find(datasets, path);
	int error;

	if (part) {
		free(path);
		return part;
	}
	error = datasets->nr_parts < PARTS_MOST ? 0 : datasets_end(datasets);
	if (!error)
		part = datasets_add(datasets, path, place->schema);
	if (error)
		errno = -error;
	if (!part)
		free(path);
	return part;
}

struct parquet *datasets_file(struct datasets *datasets, struct dataset_place *place, int64_t ns)
{
	long long hour = path_hour(ns);

	if (place->generation != datasets->generation || place->hour != hour) {
		place->part = datasets_part(datasets, place, hour);
		place->hour = hour;
		place->generation = place->part ? datasets->generation : 0;
	}
	return place->part ? place->part->file : NULL;
}

int datasets_row(struct datasets *datasets, struct dataset_place *place)
{
	struct dataset_part *part = place->part;
	int error = parquet_row(part->file);

	datasets->bytes += parquet_row_bytes(part->file) - part->bytes;
	part->bytes = parquet_row_bytes(part->file);
	if (!error && datasets->bytes > MEMORY)
		return datasets_make_room(datasets);
	return error;
}
