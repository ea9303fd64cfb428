/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/chunk_drain.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/mem.h"
#include "trace/index.h"

static void chunk_drain_count(struct chunk_drain *d, int64_t bytes)
{
	d->waiting += (uint64_t)bytes;
	__atomic_store_n(d->all_waiting, *d->all_waiting + (uint64_t)bytes, __ATOMIC_RELAXED);
}

void chunk_drain_add(struct chunk_drain *d, uint64_t bytes)
{
	chunk_drain_count(d, (int64_t)bytes);
}

void chunk_drain_init(struct chunk_drain *d, struct chunk_stream *stream, uint64_t *all_waiting)
{
	*d = (struct chunk_drain){ .stream = stream, .fd = -1, .all_waiting = all_waiting };
}

static uint64_t size_at(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* Go to the oldest file from @from on. Return: 0; or negative errno: it is not known. */
static int go_to_file(struct chunk_drain *d, uint64_t from, uint64_t *ret_bytes)
{
	int dir_fd = d->stream->config->trace->fd;
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	uint64_t number, bytes = 0;
	struct dirent *entry;

	if (!dir)
		return -errno;
	d->number = d->stream->number;
	while ((entry = dir_next(dir)))
		if (chunk_stream_number_of(d->stream, entry->d_name, &number) && number >= from) {
			d->number = MIN(d->number, number);
			bytes += size_at(dir_fd, entry->d_name);
		}
	*ret_bytes = bytes;
	return 0;
}

int chunk_drain_find(struct chunk_drain *d)
{
	uint64_t bytes = 0;
	int ret = go_to_file(d, 0, &bytes);

	chunk_drain_add(d, bytes);
	return ret;
}

/* Remove the file that was read, and go on with the next: there may be numbers without one. Return:
 * 0; or negative errno: the current one is such a number. */
static int leave_file(struct chunk_drain *d)
{
	const struct stream_config *config = d->stream->config;
	const struct chunk_trace *trace = config->trace;
	struct chunk_stream_names names;
	uint64_t bytes;

	d->fd = close_fd(d->fd);
	d->passed = 0;
	if (d->number + 1 == d->stream->number)
		chunk_stream_close(d->stream);
	if (chunk_stream_names(d->stream, d->number++, &names) < 0)
		return 0;
	bytes = size_at(trace->fd, names.stream) + size_at(trace->index_fd, names.index);
	unlinkat(trace->index_fd, names.index, 0);
	unlinkat(trace->fd, names.stream, 0);
	config->disk->used -= MIN(config->disk->used, bytes);
	if (d->number < d->stream->number &&
	    chunk_stream_names(d->stream, d->number, &names) == 0 &&
	    !chunk_has(trace->fd, names.stream))
		return go_to_file(d, d->number, &bytes);
	return 0;
}

/* Entries lie in the order of their packets. */
static bool find_entry(int fd, uint64_t offset, struct index_entry *ret)
{
	uint64_t at = sizeof(struct index_header);

	while (pread(fd, ret, sizeof(*ret), (off_t)at) == (ssize_t)sizeof(*ret)) {
		if (be64toh(ret->offset) >= offset)
			return be64toh(ret->offset) == offset;
		at += sizeof(*ret);
	}
	return false;
}

/* Whether the index has the length of the packet at @at, of which no more than @room bytes can be
 * there. @header: as it was read. */
static bool chunk_drain_is_damaged(const struct chunk_drain *d, const char *index, uint64_t at,
				   uint64_t room, struct packet_header *header)
{
	AUTO_FD int fd = chunk_open_file(d->stream->config->trace->index_fd, index);
	struct index_entry entry, own;
	uint64_t bytes;

	if (fd < 0 || !find_entry(fd, at, &entry))
		return false;
	bytes = be64toh(entry.packet_size) / 8;
	if (bytes < sizeof(*header) || bytes > room)
		return false;
	own = index_entry_make(at, header);
	if (memcmp(&own, &entry, sizeof(entry)) != 0)
		*header = (struct packet_header){ .packet_size = be64toh(entry.packet_size) };
	return true;
}

/* Return: CHUNK_DRAIN_PACKET; 0: there is none that is whole; negative errno. */
static int read_whole(const struct chunk_drain *d, uint64_t at, uint64_t room,
		      struct packet_header *ret, void **ret_body)
{
	const struct stream_config *config = d->stream->config;
	const struct packet_stream stream = stream_config_packets(config, d->stream->cpu);
	AUTO_FREE void *body = NULL;
	uint64_t len;

	if (pread(d->fd, ret, sizeof(*ret), (off_t)at) != (ssize_t)sizeof(*ret) ||
	    packet_check(ret, &stream, MIN(room, config->disk->max_size)) != PACKET_FITS)
		return 0;
	len = packet_body_bytes(ret);
	body = malloc(len + 1);
	if (!body)
		return -ENOMEM;
	if (pread(d->fd, body, len, (off_t)(at + sizeof(*ret))) != (ssize_t)len ||
	    packet_checksum(ret, body, len) != ret->crc32c)
		return 0;
	*ret_body = TAKE(body);
	return CHUNK_DRAIN_PACKET;
}

/* Return: as chunk_drain_next(); 0: the file has nothing more that makes sense. */
static int read_packet(struct chunk_drain *d, struct packet_header *ret, void **ret_body)
{
	uint64_t at = d->passed + d->sent, size;
	struct chunk_stream_names names;
	struct stat st;
	int result = chunk_stream_names(d->stream, d->number, &names);

	*ret = (struct packet_header){ 0 };
	if (result == 0 && d->fd < 0)
		result = d->fd = chunk_open_file(d->stream->config->trace->fd, names.stream);
	if (result < 0)
		return result == -ENOENT ? 0 : result;
	if (fstat(d->fd, &st) < 0)
		return -errno;
	size = (uint64_t)st.st_size;
	if (size <= at)
		return 0;
	result = read_whole(d, at, size - at, ret, ret_body);
	if (result == 0 && chunk_drain_is_damaged(d, names.index, at, size - at, ret))
		return CHUNK_DRAIN_DAMAGED;
	return result;
}

int chunk_drain_next(struct chunk_drain *d, struct packet_header *ret, void **ret_body)
{
	while (d->number < d->stream->number) {
		int result = read_packet(d, ret, ret_body);

		if (result != 0 || d->sent)
			return result;
		result = leave_file(d);
		if (result < 0)
			return result;
	}
	chunk_drain_count(d, -(int64_t)d->waiting);
	return 0;
}

void chunk_drain_pass(struct chunk_drain *d, uint64_t bytes)
{
	struct stat st;

	d->passed += bytes;
	chunk_drain_count(d, -(int64_t)MIN(bytes, d->waiting));
	if (fstat(d->fd, &st) == 0 && (uint64_t)st.st_size <= d->passed)
		(void)!leave_file(d); /* or with the next packet */
	if (d->number >= d->stream->number)
		chunk_drain_count(d, -(int64_t)d->waiting);
}

void chunk_drain_close(struct chunk_drain *d, bool remove)
{
	while (remove && d->number < d->stream->number && leave_file(d) == 0)
		;
	d->fd = close_fd(d->fd);
	chunk_drain_count(d, -(int64_t)d->waiting);
}
