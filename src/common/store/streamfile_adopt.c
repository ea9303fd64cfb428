/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streamfile_adopt.c - continues the files of a writer that has died. The files are authoritative,
 * not the ring: a consumer may have died after it wrote a packet and before it released the space.
 * The search begins at the last index entry; packets after it are found by their headers and get an
 * index entry, and an incomplete rest is cut off. Position and counters of the stream are those of
 * the last complete packet.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "store/append.h"
#include "store/streamfile.h"
#include "trace/index.h"

static bool streamfile_adopt_read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	return pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

static uint64_t streamfile_adopt_size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Is there a whole packet of the stream at @at? A torn one has a content size of its own (see
 * append.h), or does not fit. */
static bool packet_at(const struct stream_file *s, uint64_t at, uint64_t end,
		      struct packet_header *ret)
{
	const struct packet_stream stream = stream_config_packets(s->config, s->cpu);

	return at <= end && streamfile_adopt_read_at(s->fd, ret, sizeof(*ret), at) &&
	       packet_check(ret, &stream, end - at) == PACKET_FITS;
}

static bool streamfile_adopt_is_successor(const struct packet_header *next,
					  const struct packet_header *last)
{
	return next->packet_seq_num == last->packet_seq_num + 1 &&
	       next->stream_pos ==
		       last->stream_pos + last->packet_size / 8 - sizeof(struct packet_header);
}

/* --- one file ------------------------------------------------------------------- */

static int streamfile_adopt_open_files(struct stream_file *s, uint64_t number)
{
	const struct tracedir *trace = s->config->trace;
	struct stream_names names;
	int ret = stream_names(s, number, &names);

	if (ret < 0)
		return ret;
	s->fd = tracedir_open_file(trace->fd, names.stream);
	if (s->fd < 0)
		return s->fd;
	s->index_fd = tracedir_open_file(trace->index_fd, names.index);
	return s->index_fd < 0 ? s->index_fd : 0;
}

/* Entries of an index with an unknown header are ignored. */
static bool is_index(int fd)
{
	struct index_header header, ours = index_header_make();

	return streamfile_adopt_read_at(fd, &header, sizeof(header), 0) &&
	       memcmp(&header, &ours, sizeof(ours)) == 0;
}

/* The last entry of a whole packet; entries behind it don't count.
 * Return: whether there is one; file->bytes is where it begins. */
static bool streamfile_adopt_find_entry(struct stream_file *s, uint64_t end,
					struct packet_header *ret)
{
	uint64_t nr = is_index(s->index_fd) ? streamfile_adopt_size_of(s->index_fd) : 0;

	nr = nr < sizeof(struct index_header) ? 0 : nr - sizeof(struct index_header);
	for (nr /= sizeof(struct index_entry); nr > 0; nr--) {
		uint64_t at = sizeof(struct index_header) + (nr - 1) * sizeof(struct index_entry);
		struct index_entry entry;

		if (!streamfile_adopt_read_at(s->index_fd, &entry, sizeof(entry), at))
			continue;
		s->bytes = be64toh(entry.offset);
		s->index_bytes = at;
		if (packet_at(s, s->bytes, end, ret) &&
		    ret->packet_seq_num == be64toh(entry.packet_seq_num))
			return true;
	}
	s->bytes = 0;
	s->index_bytes = sizeof(struct index_header);
	return packet_at(s, 0, end, ret);
}

/* Step over @packet at file->bytes, which has its entry from now on. */
static int streamfile_adopt_step(struct stream_file *s, const struct packet_header *packet)
{
	int ret = stream_file_add_index(s, packet);

	if (ret == 0)
		s->bytes += packet->packet_size / 8;
	return ret;
}

static int repair_index(int fd)
{
	struct index_header header = index_header_make();

	return is_index(fd) ? 0 : append_bytes(fd, &header, sizeof(header), 0);
}

/* To the end of the last whole packet. Return: 0, -ENODATA: there is none; ... */
static int streamfile_adopt_walk(struct stream_file *s, struct packet_header *ret)
{
	uint64_t end = streamfile_adopt_size_of(s->fd);
	struct packet_header next;
	int err;

	if (!streamfile_adopt_find_entry(s, end, ret))
		return -ENODATA;
	err = repair_index(s->index_fd);
	if (err == 0)
		err = streamfile_adopt_step(s, ret);
	while (err == 0 && packet_at(s, s->bytes, end, &next) &&
	       streamfile_adopt_is_successor(&next, ret)) {
		*ret = next;
		err = streamfile_adopt_step(s, ret);
	}
	return err;
}

/* A file that is whole keeps the time at which it was written. */
static int cut_to(int fd, uint64_t end, uint64_t bytes)
{
	return end != bytes && ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
}

static int cut_tails(struct stream_file *s, uint64_t *cut)
{
	uint64_t end = streamfile_adopt_size_of(s->fd);
	int ret = cut_to(s->fd, end, s->bytes);

	if (ret == 0)
		ret = cut_to(s->index_fd, streamfile_adopt_size_of(s->index_fd), s->index_bytes);
	if (ret < 0)
		return ret;
	*cut += end - MIN(end, s->bytes);
	return 0;
}

/* A file without a whole packet is made anew when there is one for it. */
static int remove_files(struct stream_file *s, uint64_t number, uint64_t *cut)
{
	const struct tracedir *trace = s->config->trace;
	struct stream_names names;
	int ret = stream_names(s, number, &names);

	*cut += s->fd < 0 ? 0 : streamfile_adopt_size_of(s->fd);
	stream_file_close(s);
	if (ret < 0)
		return ret;
	if (unlinkat(trace->index_fd, names.index, 0) < 0 && errno != ENOENT)
		return -errno;
	if (unlinkat(trace->fd, names.stream, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* --- which file -------------------------------------------------------------------- */

/* Numbers of files whose size is limited: CHANNEL_CPU_N. */
static bool streamfile_adopt_number_of(const struct stream_file *s, const char *name, uint64_t *ret)
{
	struct stream_names names;
	const char *last = strrchr(name, '_');
	char *end;

	if (!last || last[1] < '0' || last[1] > '9')
		return false;
	*ret = strtoull(last + 1, &end, 10);
	return !*end && stream_names(s, *ret, &names) == 0 && strcmp(names.stream, name) == 0;
}

/* Return: the number of the file with the newest packets, or UINT64_MAX. Newer
 * ones have none: they are removed, so that their names are free. */
static uint64_t newest_file(struct stream_file *s, uint64_t *cut)
{
	AUTO_DIR DIR *dir = dir_open(s->config->trace->fd, ".");
	uint64_t number, newest = UINT64_MAX, seq = 0;
	struct packet_header first;
	struct dirent *entry;

	while ((entry = dir_next(dir))) {
		if (!streamfile_adopt_number_of(s, entry->d_name, &number))
			continue;
		if (streamfile_adopt_open_files(s, number) < 0 ||
		    !packet_at(s, 0, streamfile_adopt_size_of(s->fd), &first)) {
			(void)!remove_files(s, number, cut);
		} else if (newest == UINT64_MAX || first.packet_seq_num >= seq) {
			newest = number;
			seq = first.packet_seq_num;
		}
		stream_file_close(s);
	}
	return newest;
}

/* --- the stream ------------------------------------------------------------------- */

int stream_file_adopt(struct stream_file *s, struct packet_header *ret, uint64_t *cut)
{
	uint64_t number = s->config->tracefile_size ? newest_file(s, cut) : 0;
	int err;

	if (number == UINT64_MAX)
		return 0;
	err = streamfile_adopt_open_files(s, number);
	if (err == 0)
		err = streamfile_adopt_walk(s, ret);
	if (err == -ENOENT || err == -ENODATA) {
		err = remove_files(s, number, cut);
		return err;
	}
	if (err == 0)
		err = cut_tails(s, cut);
	/* beyond the first round, so that the oldest file makes room */
	s->number = number + 1 + s->config->tracefile_count;
	return err < 0 ? err : 1;
}
