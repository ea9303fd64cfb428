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

struct index_file {
	int fd;
	uint32_t entry_size;
	uint64_t nr;
};

static int view_seek_index_open(int dir_fd, const char *name, struct index_file *ret)
{
	char path[512];
	uint32_t header[4];
	struct stat st;
	int fd AUTO_FD = -1;

	if (snprintf(path, sizeof(path), "index/%s.idx", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, header, sizeof(header), 0) != sizeof(header))
		return -EINVAL;
	ret->entry_size = be32toh(header[3]);
	if (be32toh(header[0]) != INDEX_MAGIC || be32toh(header[1]) != 1 ||
	    ret->entry_size < INDEX_FIELDS * 8 || ret->entry_size > 4096)
		return -EINVAL;
	ret->nr = ((uint64_t)st.st_size - INDEX_HEADER) / ret->entry_size;
	ret->fd = TAKE_FD(fd);
	return 0;
}

static int index_entry(const struct index_file *index, uint64_t i, struct seek_entry *ret)
{
	uint64_t raw[INDEX_FIELDS];

	if (pread(index->fd, raw, sizeof(raw), INDEX_HEADER + i * index->entry_size) != sizeof(raw))
		return -EIO;
	*ret = (struct seek_entry){ .offset = be64toh(raw[0]),
				    .size = be64toh(raw[1]) / 8,
				    .begin = be64toh(raw[3]),
				    .end = be64toh(raw[4]) };
	return 0;
}

/* Binary search for the first entry that ends at @begin_ns or later. */
static int index_search(const struct index_file *index, const struct ctf_clock *clock,
			int64_t begin_ns, struct seek_entry *ret_entry)
{
	uint64_t lo = 0, hi = index->nr;
	struct seek_entry entry;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		int r = index_entry(index, mid, &entry);

		if (r < 0)
			return r;
		if (clock_ns(clock, entry.end) < begin_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < index->nr && index_entry(index, lo, ret_entry) == 0;
}

int seek_index(int dir_fd, const char *name, uint64_t file_size, const struct ctf_clock *clock,
	       int64_t begin_ns, struct seek_entry *ret_entry)
{
	struct index_file index = { .fd = -1 };
	struct seek_entry entry;
	int r = view_seek_index_open(dir_fd, name, &index);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = index_search(&index, clock, begin_ns, &entry);
	close_fd(index.fd);
	if (r <= 0 || entry.offset >= file_size)
		return MIN(r, 0);
	*ret_entry = entry;
	return 1;
}
