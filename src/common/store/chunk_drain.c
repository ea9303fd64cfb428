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
	uint64_t *sum = &d->sums->waiting;

	d->waiting += (uint64_t)bytes;
	__atomic_store_n(sum, *sum + (uint64_t)bytes, __ATOMIC_RELAXED);
}

static void chunk_drain_count_kept(struct chunk_drain *d, int64_t bytes)
{
	uint64_t *sum = &d->sums->kept;

	d->kept += (uint64_t)bytes;
	__atomic_store_n(sum, *sum + (uint64_t)bytes, __ATOMIC_RELAXED);
}

void chunk_drain_add(struct chunk_drain *d, uint64_t bytes)
{
	chunk_drain_count(d, (int64_t)bytes);
}

void chunk_drain_init(struct chunk_drain *d, struct chunk_stream *stream,
		      struct chunk_drain_sums *sums)
{
	*d = (struct chunk_drain){ .stream = stream, .fd = -1, .sums = sums };
}

static uint64_t size_at(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* The oldest file from @from on; the stream's next number: there is none. @ret_bytes: in all from
 * there on. Return: 0; or negative errno: it is not known. */
static int find_file(const struct chunk_drain *d, uint64_t from, uint64_t *ret_number,
		     uint64_t *ret_bytes)
{
	int dir_fd = d->stream->config->trace->fd;
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	uint64_t number, bytes = 0;
	struct dirent *entry;

	if (!dir)
		return -errno;
	*ret_number = d->stream->number;
	while ((entry = dir_next(dir)))
		if (chunk_stream_number_of(d->stream, entry->d_name, &number) && number >= from) {
			*ret_number = MIN(*ret_number, number);
			bytes += size_at(dir_fd, entry->d_name);
		}
	*ret_bytes = bytes;
	return 0;
}

int chunk_drain_find(struct chunk_drain *d)
{
	uint64_t bytes = 0;
	int ret = find_file(d, 0, &d->number, &bytes);

	d->first = d->number;
	chunk_drain_add(d, bytes);
	return ret;
}

/* Return: bytes of the packets that were in it. */
static uint64_t drain_remove_file(const struct chunk_drain *d, uint64_t number)
{
	const struct stream_config *config = d->stream->config;
	const struct chunk_trace *trace = config->trace;
	struct chunk_stream_names names;
	uint64_t bytes, all;

	if (chunk_stream_names(d->stream, number, &names) < 0)
		return 0;
	bytes = size_at(trace->fd, names.stream);
	all = bytes + size_at(trace->index_fd, names.index);
	unlinkat(trace->index_fd, names.index, 0);
	unlinkat(trace->fd, names.stream, 0);
	config->disk->used -= MIN(config->disk->used, all);
	return bytes;
}

/* There may be numbers without a file. Return: 0; or negative errno: the number is such a one. */
static int drain_next_file(const struct chunk_drain *d, uint64_t *number)
{
	struct chunk_stream_names names;
	uint64_t bytes;

	++*number;
	if (*number < d->stream->number &&
	    chunk_stream_names(d->stream, *number, &names) == 0 &&
	    !chunk_has(d->stream->config->trace->fd, names.stream))
		return find_file(d, *number, number, &bytes);
	return 0;
}

/* Go on with the file after the one that was read, which is removed unless it is kept. Return: 0;
 * or negative errno: the current number has no file. */
static int leave_file(struct chunk_drain *d)
{
	int ret;

	d->fd = close_fd(d->fd);
	d->passed = 0;
	if (d->number + 1 == d->stream->number)
		chunk_stream_close(d->stream);
	if (!d->keeps)
		(void)drain_remove_file(d, d->number);
	ret = drain_next_file(d, &d->number);
	if (!d->keeps)
		d->first = d->number;
	return ret;
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

/* A kept file may grow, until it has its size or is released. */
static bool drain_may_grow(const struct chunk_drain *d)
{
	return d->keeps && d->number + 1 == d->stream->number;
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
		if (drain_may_grow(d) && fd_bytes(d->fd) <= d->passed)
			break;
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
	if (d->keeps)
		chunk_drain_count_kept(d, (int64_t)bytes);
	if (!drain_may_grow(d) && fstat(d->fd, &st) == 0 && (uint64_t)st.st_size <= d->passed)
		(void)!leave_file(d); /* or with the next packet */
	if (d->number >= d->stream->number)
		chunk_drain_count(d, -(int64_t)d->waiting);
}

/* --- kept files ------------------------------------------------------------------------------ */

/* Whether all packets of the file were passed on. */
static bool drain_has_passed(const struct chunk_drain *d, uint64_t number)
{
	return number < d->number ||
	       (number == d->number && !d->sent && d->fd >= 0 && fd_bytes(d->fd) <= d->passed);
}

/* The number of the last packet in a file, by its index. @ret: its header; unchanged if it is
 * damaged. Return: whether the index has it. */
static bool drain_find_last(const struct chunk_drain *d, uint64_t number, uint64_t *ret_seq,
			    struct packet_header *ret)
{
	const struct chunk_trace *trace = d->stream->config->trace;
	struct chunk_stream_names names;
	AUTO_FD int fd = -1, index_fd = -1;
	struct packet_header last;
	struct index_entry entry;
	uint64_t nr;

	if (chunk_stream_names(d->stream, number, &names) < 0)
		return false;
	index_fd = chunk_open_file(trace->index_fd, names.index);
	fd = chunk_open_file(trace->fd, names.stream);
	nr = index_fd < 0 ? 0 : index_entries(fd_bytes(index_fd));
	if (!nr || fd < 0 ||
	    pread(index_fd, &entry, sizeof(entry), (off_t)index_offset(nr - 1)) !=
		    (ssize_t)sizeof(entry))
		return false;
	*ret_seq = be64toh(entry.packet_seq_num);
	if (pread(fd, &last, sizeof(last), (off_t)be64toh(entry.offset)) ==
		    (ssize_t)sizeof(last) &&
	    last.packet_seq_num == *ret_seq)
		*ret = last;
	return true;
}

/* One without an index goes with the next. Return: whether any can go; the last of them, and its
 * last packet. */
static bool drain_find_released(const struct chunk_drain *d, uint64_t seq, uint64_t *ret_number,
				struct packet_header *ret_last)
{
	struct packet_header last = *ret_last;
	uint64_t number = d->first, its;
	bool any = false;

	while (number < d->stream->number && drain_has_passed(d, number)) {
		if (drain_find_last(d, number, &its, &last)) {
			if (its > seq)
				break;
			*ret_number = number;
			*ret_last = last;
			any = true;
		}
		if (drain_next_file(d, &number) < 0)
			break;
	}
	return any;
}

bool chunk_drain_release(struct chunk_drain *d, uint64_t seq, struct packet_header *ret_last)
{
	uint64_t until;

	if (!drain_find_released(d, seq, &until, ret_last))
		return false;
	if (until == d->number)
		(void)!leave_file(d);
	while (d->first <= until) {
		uint64_t bytes = drain_remove_file(d, d->first);

		chunk_drain_count_kept(d, -(int64_t)MIN(bytes, d->kept));
		if (drain_next_file(d, &d->first) < 0)
			break;
	}
	if (d->first == d->number && !d->passed)
		chunk_drain_count_kept(d, -(int64_t)d->kept);
	return true;
}

int chunk_drain_rewind(struct chunk_drain *d, uint64_t *ret)
{
	struct chunk_stream_names names;
	struct packet_header first;
	uint64_t bytes = 0;
	AUTO_FD int fd = -1;
	int error;

	d->fd = close_fd(d->fd);
	d->passed = d->sent = 0;
	error = find_file(d, 0, &d->number, &bytes);
	d->first = d->number;
	chunk_drain_count_kept(d, -(int64_t)d->kept);
	chunk_drain_count(d, (int64_t)(bytes - d->waiting));
	*ret = UINT64_MAX;
	if (error == 0 && d->number < d->stream->number &&
	    chunk_stream_names(d->stream, d->number, &names) == 0)
		fd = chunk_open_file(d->stream->config->trace->fd, names.stream);
	if (fd >= 0 && pread(fd, &first, sizeof(first), 0) == (ssize_t)sizeof(first))
		*ret = first.packet_seq_num;
	return error;
}

void chunk_drain_close(struct chunk_drain *d, bool remove)
{
	if (remove)
		d->keeps = false;
	while (remove && d->first < d->number) {
		(void)drain_remove_file(d, d->first);
		if (drain_next_file(d, &d->first) < 0)
			break;
	}
	while (remove && d->number < d->stream->number && leave_file(d) == 0)
		;
	d->fd = close_fd(d->fd);
	chunk_drain_count(d, -(int64_t)d->waiting);
	chunk_drain_count_kept(d, -(int64_t)d->kept);
}
