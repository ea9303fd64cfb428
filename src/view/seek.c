/* SPDX-License-Identifier: GPL-2.0-only */
#include "seek.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"

#define INDEX_MAGIC 0xc1f1dcc1u
#define INDEX_HEADER 16u
#define INDEX_FIELDS 7u /* of 8 bytes: those of version 1.0 */

/* A part of the file is in memory: a search ends with entries that are close to each other. */
struct index_file {
	int fd;
	uint32_t entry_size;
	uint64_t nr;
	uint64_t begin;
	size_t len;
	uint8_t part[4096];
};

static bool index_load(struct index_file *index, uint64_t begin)
{
	ssize_t len = pread(index->fd, index->part, sizeof(index->part), (off_t)begin);

	index->begin = begin;
	index->len = len > 0 ? (size_t)len : 0;
	return len >= 0;
}

static int view_seek_index_open(int dir_fd, const char *name, struct index_file *ret)
{
	char path[512];
	uint32_t header[4];
	struct stat st;

	if (snprintf(path, sizeof(path), "index/%s.idx", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret->fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (ret->fd < 0)
		return -errno;
	if (fstat(ret->fd, &st) < 0 || !S_ISREG(st.st_mode) || !index_load(ret, 0) ||
	    ret->len < sizeof(header))
		return -EINVAL;
	memcpy(header, ret->part, sizeof(header));
	ret->entry_size = be32toh(header[3]);
	if (be32toh(header[0]) != INDEX_MAGIC || be32toh(header[1]) != 1 ||
	    ret->entry_size < INDEX_FIELDS * 8 || ret->entry_size > 4096)
		return -EINVAL;
	ret->nr = ((uint64_t)st.st_size - INDEX_HEADER) / ret->entry_size;
	return 0;
}

static int index_entry(struct index_file *index, uint64_t i, struct seek_entry *ret)
{
	uint64_t raw[INDEX_FIELDS], at = INDEX_HEADER + i * index->entry_size;

	if ((at < index->begin || at + sizeof(raw) > index->begin + index->len) &&
	    !index_load(index, at - MIN(at, sizeof(index->part) / 2)))
		return -EIO;
	if (at + sizeof(raw) > index->begin + index->len)
		return -EIO;
	memcpy(raw, index->part + (at - index->begin), sizeof(raw));
	*ret = (struct seek_entry){ .offset = be64toh(raw[0]),
				    .size = be64toh(raw[1]) / 8,
				    .begin = be64toh(raw[3]),
				    .end = be64toh(raw[4]) };
	return 0;
}

/* Binary search for the first entry that ends at @begin_ns or later; else the last entry, which is
 * read first, as many streams end before a window. */
static int index_search(struct index_file *index, const struct ctf_clock *clock, int64_t begin_ns,
			struct seek_entry *ret_entry)
{
	uint64_t lo = 0, hi = index->nr - 1;
	int r = index_entry(index, hi, ret_entry);

	if (r < 0 || clock_ns(clock, ret_entry->end) < begin_ns)
		return r;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		r = index_entry(index, mid, ret_entry);
		if (r < 0)
			return r;
		if (clock_ns(clock, ret_entry->end) < begin_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return index_entry(index, lo, ret_entry);
}

int seek_index(int dir_fd, const char *name, uint64_t file_size, const struct ctf_clock *clock,
	       int64_t begin_ns, struct seek_entry *ret_entry)
{
	struct index_file index;
	struct seek_entry entry;
	int r = view_seek_index_open(dir_fd, name, &index);

	if (!r && index.nr)
		r = index_search(&index, clock, begin_ns, &entry) ?: 1;
	close_fd(index.fd);
	if (r <= 0 || entry.offset >= file_size)
		return r == -ENOENT ? 0 : MIN(r, 0);
	*ret_entry = entry;
	return 1;
}
