/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "seek.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "read/clock/clock.h"

#define INDEX_MAGIC 0xc1f1dcc1u
#define INDEX_HEADER 16u
#define INDEX_FIELDS 7u /* of 8 bytes: those of version 1.0 */
#define INDEX_ENTRY 72u /* version 1.1: all of today */

/* A part of the file is in memory: a search ends with entries that are close to each other. */
struct index_file {
	int fd;
	uint64_t bytes;
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

static int view_seek_index_open(const struct seek *seek, struct index_file *ret)
{
	char path[512];
	struct stat st;

	if (snprintf(path, sizeof(path), "index/%s.idx", seek->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret->fd = openat(seek->dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (ret->fd < 0)
		return -errno;
	if (fstat(ret->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < INDEX_HEADER)
		return -EINVAL;
	ret->bytes = (uint64_t)st.st_size;
	/* its end, which is all of most */
	return index_load(ret, ret->bytes - MIN(ret->bytes, sizeof(ret->part))) ? 0 : -EIO;
}

static void index_set_entries(struct index_file *index, uint32_t size)
{
	index->entry_size = size;
	index->nr = (index->bytes - INDEX_HEADER) / size;
}

static int index_read_header(struct index_file *index)
{
	uint32_t header[4];

	if (!index->begin && index->len >= sizeof(header))
		memcpy(header, index->part, sizeof(header));
	else if (pread(index->fd, header, sizeof(header), 0) != sizeof(header))
		return -EINVAL;
	if (be32toh(header[0]) != INDEX_MAGIC || be32toh(header[1]) != 1 ||
	    be32toh(header[3]) < INDEX_FIELDS * 8 || be32toh(header[3]) > 4096)
		return -EINVAL;
	index_set_entries(index, be32toh(header[3]));
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
				    .end = be64toh(raw[4]),
				    .stream_id = be64toh(raw[6]) };
	return 0;
}

static bool is_before(const struct seek *seek, const struct seek_entry *entry)
{
	const struct ctf_stream_class *sc = trace_class_stream(seek->tc, entry->stream_id);
	const struct ctf_clock *clock = seek->clock ?: sc ? sc->clock : NULL;

	return sc && entry->end && clock_ns(clock, entry->end) < seek->begin_ns;
}

/* Whether the last entries, which are in memory, are those of packets up to the end of the file. If
 * the header is not in memory with them, their size is that of today: else they were not. */
static bool index_is_complete(struct index_file *index, const struct seek *seek,
			      struct seek_entry *ret_last)
{
	struct seek_entry before = { 0 };

	if (index->begin)
		index_set_entries(index, INDEX_ENTRY);
	else if (index_read_header(index) < 0)
		return false;
	if (!index->nr || index->bytes != INDEX_HEADER + index->nr * index->entry_size ||
	    index_entry(index, index->nr - 1, ret_last) < 0 ||
	    (index->nr > 1 && index_entry(index, index->nr - 2, &before) < 0))
		return false;
	return ret_last->offset + ret_last->size == seek->file_size &&
	       before.offset + before.size == ret_last->offset && before.end <= ret_last->begin &&
	       ret_last->begin <= ret_last->end;
}

/* Binary search for the first entry that does not end before the time; else the last entry. The
 * first step is to the first of those that are in memory with the last: most times are there. */
static int index_search(struct index_file *index, const struct seek *seek,
			struct seek_entry *ret_entry)
{
	uint64_t lo = 0, hi = index->nr - 1, mid;
	int r = index_entry(index, hi, ret_entry);

	if (r < 0 || is_before(seek, ret_entry))
		return r;
	mid = index->begin > INDEX_HEADER ?
		      (index->begin - INDEX_HEADER + index->entry_size - 1) / index->entry_size :
		      hi / 2;
	for (; lo < hi; mid = lo + (hi - lo) / 2) {
		r = index_entry(index, MIN(mid, hi - 1), ret_entry);
		if (r < 0)
			return r;
		if (is_before(seek, ret_entry))
			lo = MIN(mid, hi - 1) + 1;
		else
			hi = MIN(mid, hi - 1);
	}
	return index_entry(index, lo, ret_entry);
}

int seek_index(const struct seek *seek, struct seek_entry *ret_entry)
{
	struct index_file index;
	struct seek_entry entry = { 0 };
	int r = view_seek_index_open(seek, &index);

	if (!r && !index_is_complete(&index, seek, &entry))
		r = index_read_header(&index);
	else if (!r && is_before(seek, &entry))
		r = SEEK_BEHIND;
	if (!r && index.nr)
		r = index_search(&index, seek, &entry) ?: SEEK_FOUND;
	close_fd(index.fd);
	if (r <= 0 || entry.offset >= seek->file_size)
		return r == -ENOENT ? 0 : MIN(r, 0);
	*ret_entry = entry;
	return r;
}

int seek_last(int fd, struct seek_entry *ret_entry)
{
	struct index_file index = { .fd = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	index.bytes = MAX((uint64_t)st.st_size, (uint64_t)INDEX_HEADER);
	if (index_read_header(&index) < 0 || !index.nr)
		return 0;
	return index_entry(&index, index.nr - 1, ret_entry) == 0;
}
