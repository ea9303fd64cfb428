/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/chunk_stream.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/append.h"
#include "trace/crc32c.h"
#include "trace/index.h"
#include "trace/streamlist.h"

void chunk_stream_init(struct chunk_stream *file, const struct stream_config *config, uint32_t cpu)
{
	*file = (struct chunk_stream){ .config = config, .cpu = cpu, .fd = -1, .index_fd = -1 };
}

/* --- files ------------------------------------------------------------------ */

void chunk_stream_close(struct chunk_stream *file)
{
	file->fd = close_fd(file->fd);
	file->index_fd = close_fd(file->index_fd);
	file->bytes = file->index_bytes = 0;
	file->dirty = false;
}

/* CHANNEL_CPU, or CHANNEL_CPU_N where the size of files is limited. */
int chunk_stream_names(const struct chunk_stream *s, uint64_t n, struct chunk_stream_names *ret)
{
	const struct stream_config *c = s->config;
	int len;

	if (c->tracefile_count)
		n %= c->tracefile_count;
	if (c->tracefile_size)
		len = snprintf(ret->stream, sizeof(ret->stream), "%s_%u_%llu", c->channel, s->cpu,
			       (unsigned long long)n);
	else
		len = snprintf(ret->stream, sizeof(ret->stream), "%s_%u", c->channel, s->cpu);
	if (len > NAME_MAX - (int)strlen(".idx"))
		return -ENAMETOOLONG;
	snprintf(ret->index, sizeof(ret->index), "%s.idx", ret->stream);
	return 0;
}

/* --- the trace's list of streams ------------------------------------------------ */

static bool makes_room(const struct stream_config *c)
{
	return c->tracefile_size && c->tracefile_count;
}

static int chunk_stream_note_name(const struct chunk_stream *s, struct chunk_stream_names *ret)
{
	const struct stream_config *c = s->config;
	int len;

	if (!makes_room(c))
		return chunk_stream_names(s, s->number - 1, ret);
	if (s->number > 1)
		return -EEXIST;
	len = snprintf(ret->stream, sizeof(ret->stream), "%s_%u_%c", c->channel, s->cpu,
		       STREAMLIST_ALL);
	return len >= (int)sizeof(ret->stream) ? -ENAMETOOLONG : 0;
}

/* With its first file, a stream loses the packet that counts the events of earlier archives. */
static size_t put_before(const struct chunk_stream *s, const char *name, char *buf, size_t len)
{
	struct packet_header first;
	uint64_t stored;

	if (!makes_room(s->config) || !chunk_stream_first(s, &first) || packet_body_bytes(&first))
		return 0;
	stored = first.events_recorded - first.lost_output;
	if (!first.packet_seq_num && !stored)
		return 0;
	return (size_t)snprintf(buf, len, "%c%c%llu %llu %s%c", STREAMLIST_BEGIN, STREAMLIST_BEFORE,
				(unsigned long long)stored,
				(unsigned long long)first.events_discarded, name, STREAMLIST_END);
}

static int open_list(const struct chunk_trace *trace)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(trace->fd, STREAMLIST_FILE, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	chunk_trace_note(trace);
	return openat(trace->fd, STREAMLIST_FILE, flags | O_CREAT, 0640);
}

/* A spool's files are gone when they have been sent. */
void chunk_stream_note(const struct chunk_stream *s)
{
	const struct stream_config *c = s->config;
	struct chunk_stream_names names;
	char entry[2 * NAME_MAX + 96];
	AUTO_FD int fd = -1;
	size_t len;

	if (c->unlisted || s->fd < 0 || !s->bytes || chunk_stream_note_name(s, &names) < 0)
		return;
	fd = open_list(c->trace);
	len = put_before(s, names.stream, entry, sizeof(entry));
	len += (size_t)snprintf(entry + len, sizeof(entry) - len, "%c%llu %s%c", STREAMLIST_BEGIN,
				makes_room(c) ? 0 : (unsigned long long)s->bytes, names.stream,
				STREAMLIST_END);
	if (fd < 0 || write(fd, entry, len) != (ssize_t)len)
		return;
	c->disk->used += (uint64_t)len;
	if (disk_syncs(c->disk))
		(void)!disk_sync_data(fd);
}

void chunk_stream_turn(struct chunk_stream *s)
{
	chunk_stream_note(s);
	chunk_stream_close(s);
	s->number = 0;
}

/* --- files ----------------------------------------------------------------------- */

static int remove_file(struct disk *disk, int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || unlinkat(dir_fd, name, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	disk->used -= MIN(disk->used, (uint64_t)st.st_size);
	return 0;
}

static bool replaces_file(const struct chunk_stream *s)
{
	const struct stream_config *c = s->config;

	return c->tracefile_size && c->tracefile_count && s->number >= c->tracefile_count;
}

bool chunk_stream_is_next(const struct chunk_stream *s, uint64_t bytes, bool *ret_replaces)
{
	const struct stream_config *c = s->config;

	*ret_replaces = replaces_file(s);
	return s->fd < 0 || (c->tracefile_size && s->bytes && s->bytes + bytes > c->tracefile_size);
}

/* The oldest of a stream's own files makes room: unlinked, so that a
 * reader can finish. */
static int chunk_stream_ensure_room(const struct chunk_stream *s,
				    const struct chunk_stream_names *names)
{
	const struct stream_config *c = s->config;
	int ret;

	if (!replaces_file(s))
		return 0;
	ret = remove_file(c->disk, c->trace->index_fd, names->index);
	return ret < 0 ? ret : remove_file(c->disk, c->trace->fd, names->stream);
}

static int chunk_stream_sync_names(const struct chunk_trace *trace)
{
	int ret = disk_sync_dir(trace->fd);

	return ret < 0 ? ret : disk_sync_dir(trace->index_fd);
}

static int file_create(struct chunk_stream *file, const struct chunk_trace *trace,
		       const struct chunk_stream_names *names)
{
	struct index_header header = index_header_make();
	int ret;

	file->fd = chunk_create_file(trace->fd, names->stream);
	if (file->fd < 0)
		return file->fd;
	file->index_fd = chunk_create_file(trace->index_fd, names->index);
	ret = file->index_fd;
	if (ret >= 0)
		ret = append_bytes(file->index_fd, &header, sizeof(header), 0);
	if (ret >= 0 && disk_syncs(trace->disk))
		ret = chunk_stream_sync_names(trace);
	if (ret >= 0) {
		trace->disk->used += sizeof(header);
		file->index_bytes = sizeof(header);
		file->bytes = 0;
		return 0;
	}
	/* both or none: the next attempt makes them anew */
	if (file->index_fd >= 0)
		unlinkat(trace->index_fd, names->index, 0);
	unlinkat(trace->fd, names->stream, 0);
	chunk_stream_close(file);
	return ret;
}

/* See to it that a file is open that may take @bytes more. */
static int file_for(struct chunk_stream *s, uint64_t bytes)
{
	const struct stream_config *c = s->config;
	struct chunk_stream_names names;
	bool replaces;
	int ret;

	if (!chunk_stream_is_next(s, bytes, &replaces))
		return 0;
	ret = chunk_stream_sync(s);
	if (ret < 0)
		return ret;
	chunk_stream_note(s);
	chunk_stream_close(s);
	ret = chunk_stream_names(s, s->number, &names);
	if (ret == 0)
		ret = chunk_stream_ensure_room(s, &names);
	if (ret == 0)
		ret = file_create(s, c->trace, &names);
	if (ret == 0)
		s->number++;
	return ret;
}

static int chunk_stream_add_index(struct chunk_stream *file, const struct packet_header *packet)
{
	struct index_entry entry = index_entry_make(file->bytes, packet);
	int ret = append_bytes(file->index_fd, &entry, sizeof(entry), file->index_bytes);

	if (ret == 0)
		file->index_bytes += sizeof(entry);
	else if (ftruncate(file->index_fd, (off_t)file->index_bytes) < 0)
		return ret; /* the next entry is written over it */
	return ret;
}

/* --- packets ---------------------------------------------------------------- */

int chunk_stream_sync(struct chunk_stream *s)
{
	int ret;

	if (!s->dirty || !disk_syncs(s->config->disk))
		return 0;
	ret = disk_sync_data(s->fd);
	if (ret == 0)
		ret = disk_sync_data(s->index_fd);
	s->dirty = ret != 0;
	return ret;
}

/* The packet at the end of the file gets its entry: on the disk it comes behind it. */
static int chunk_stream_add_entry(struct chunk_stream *s, const struct packet_header *header)
{
	bool at_once = s->config->disk->sync == SYNC_PACKET;
	int ret = at_once ? disk_sync_data(s->fd) : 0;

	if (ret == 0)
		ret = chunk_stream_add_index(s, header);
	if (ret == 0 && at_once) {
		ret = disk_sync_data(s->index_fd);
		if (ret < 0) /* written again with the packet */
			s->index_bytes -= sizeof(struct index_entry);
	}
	return ret;
}

int chunk_stream_undo(struct chunk_stream *s)
{
	return ftruncate(s->fd, (off_t)s->bytes) < 0 ? -errno : 0;
}

/* The data at the end of the file is a packet if its index entry is written. */
static int count_packet(struct chunk_stream *s, const struct packet_header *header)
{
	uint64_t bytes = header->packet_size / 8;
	bool first = !s->bytes;
	int ret = chunk_stream_add_entry(s, header);

	if (ret < 0) { /* no packet without its entry */
		int undone = chunk_stream_undo(s);

		return undone < 0 ? undone : ret;
	}
	s->dirty = s->config->disk->sync == SYNC_PERIOD;
	s->bytes += bytes;
	s->config->disk->used += bytes + sizeof(struct index_entry);
	if (first)
		chunk_stream_note(s);
	return 0;
}

/* A file that may take it, on a disk that may. */
static int make_ready(struct chunk_stream *s, const struct packet_header *header)
{
	uint64_t bytes = header->packet_size / 8;
	int ret = file_for(s, bytes);

	if (ret < 0)
		return ret;
	return disk_room(s->config->disk, s->fd, bytes + sizeof(struct index_entry));
}

static struct append_packet as_append(const struct packet_header *header, const void *body,
				      uint64_t body_bytes)
{
	return (struct append_packet){
		.head = header,
		.head_bytes = sizeof(*header),
		.body = body,
		.body_bytes = body_bytes,
		.content_at = offsetof(struct packet_header, content_size),
		.content_bytes = sizeof(header->content_size),
	};
}

static int append_whole(struct chunk_stream *s, const struct append_packet *as,
			const struct splice_source *source)
{
	struct append_packet packet = *as;
	int ret = make_ready(s, packet.head);

	packet.source = source;
	packet.disk = s->config->disk;
	if (ret == 0)
		ret = append_packet(s->fd, s->bytes, &packet);
	return ret < 0 ? ret : count_packet(s, packet.head);
}

int chunk_stream_append(struct chunk_stream *s, const struct packet_header *header,
			const void *body, uint64_t body_bytes, const struct splice_source *source)
{
	struct append_packet packet = as_append(header, body, body_bytes);

	return append_whole(s, &packet, source);
}

int chunk_stream_append_sum(struct chunk_stream *s, struct packet_header *header, const void *body,
			    uint64_t body_bytes, const struct splice_source *source)
{
	struct append_packet packet = as_append(header, body, body_bytes);

	packet.sum_at = offsetof(struct packet_header, crc32c);
	return append_whole(s, &packet, source);
}

int chunk_stream_begin(struct chunk_stream *s, const struct packet_header *header)
{
	struct append_packet packet = as_append(header, NULL, packet_body_bytes(header));
	int ret = make_ready(s, header);

	return ret < 0 ? ret : append_begin(s->fd, s->bytes, &packet);
}

int chunk_stream_body(struct chunk_stream *s, uint64_t at, const void *data, size_t len)
{
	return append_bytes(s->fd, data, len, s->bytes + sizeof(struct packet_header) + at);
}

int chunk_stream_sum(struct chunk_stream *s, const struct packet_header *header)
{
	uint32_t crc32c = header->crc32c;

	return append_bytes(s->fd, &crc32c, sizeof(crc32c),
			    s->bytes + offsetof(struct packet_header, crc32c));
}

int chunk_stream_finish(struct chunk_stream *s, const struct packet_header *header)
{
	struct append_packet packet = as_append(header, NULL, 0);
	int ret = append_finish(s->fd, s->bytes, &packet);

	return ret < 0 ? ret : count_packet(s, header);
}

/* --- continuing ------------------------------------------------------------------
 * The files of a writer that has died are authoritative, not the ring: a consumer may have died
 * after it wrote a packet and before it released the space. The search begins at the last index
 * entry; packets after it are found by their headers and get an index entry, and an incomplete rest
 * is cut off. Position and counters of the stream are those of the last complete packet. */

/* Return: 1; 0: the file ends before; negative errno. */
static int chunk_stream_read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	ssize_t n = pread(fd, buf, len, (off_t)offset);

	return n < 0 ? -errno : n == (ssize_t)len;
}

/* Is there a whole packet of the stream at @at? A torn one has a content size of its own (see
 * append.h), or does not fit. Return: 1; 0: no; negative errno: it can't be read. */
static int packet_at(const struct chunk_stream *s, uint64_t at, uint64_t end,
		     struct packet_header *ret)
{
	const struct packet_stream stream = stream_config_packets(s->config, s->cpu);
	int got = at <= end ? chunk_stream_read_at(s->fd, ret, sizeof(*ret), at) : 0;

	return got > 0 ? packet_check(ret, &stream, end - at) == PACKET_FITS : got;
}

static bool chunk_stream_is_successor(const struct packet_header *next,
				      const struct packet_header *last)
{
	return next->packet_seq_num == last->packet_seq_num + 1 &&
	       next->stream_pos ==
		       last->stream_pos + last->packet_size / 8 - sizeof(struct packet_header);
}

/* --- continuing one file ------------------------------------------------------------------- */

static int chunk_stream_open_files(struct chunk_stream *s, uint64_t number)
{
	const struct chunk_trace *trace = s->config->trace;
	struct chunk_stream_names names;
	int ret = chunk_stream_names(s, number, &names);

	if (ret < 0)
		return ret;
	s->fd = chunk_open_file(trace->fd, names.stream);
	if (s->fd < 0)
		return s->fd;
	s->index_fd = chunk_open_file(trace->index_fd, names.index);
	return s->index_fd < 0 ? s->index_fd : 0;
}

/* Entries of an index with an unknown header are ignored. */
static int is_index(int fd)
{
	struct index_header header, ours = index_header_make();
	int got = chunk_stream_read_at(fd, &header, sizeof(header), 0);

	return got > 0 ? memcmp(&header, &ours, sizeof(ours)) == 0 : got;
}

/* The last entry of a whole packet; entries behind it don't count.
 * Return: 1: there is one, and the file's position is behind it; 0: there is none, and the position
 * is the begin; negative errno. */
static int chunk_stream_find_entry(struct chunk_stream *s, uint64_t end, struct packet_header *ret)
{
	int got = is_index(s->index_fd);
	uint64_t nr = got > 0 ? index_entries(fd_bytes(s->index_fd)) : 0;

	for (; got >= 0 && nr > 0; nr--) {
		struct index_entry entry;

		got = chunk_stream_read_at(s->index_fd, &entry, sizeof(entry),
					   index_offset(nr - 1));
		if (got <= 0)
			continue;
		s->bytes = be64toh(entry.offset);
		got = packet_at(s, s->bytes, end, ret);
		if (got > 0 && ret->packet_seq_num == be64toh(entry.packet_seq_num)) {
			struct index_entry right = index_entry_make(s->bytes, ret);
			int err;

			s->bytes += ret->packet_size / 8;
			s->index_bytes = index_offset(nr);
			if (memcmp(&entry, &right, sizeof(right)) == 0)
				return 1;
			err = append_bytes(s->index_fd, &right, sizeof(right),
					   index_offset(nr - 1));
			return err < 0 ? err : 1;
		}
	}
	s->bytes = 0;
	s->index_bytes = index_offset(0);
	return MIN(got, 0);
}

static int repair_index(int fd)
{
	struct index_header header = index_header_make();
	int is = is_index(fd);

	return is ? MIN(is, 0) : append_bytes(fd, &header, sizeof(header), 0);
}

/* To the end of the last whole packet before @end. Return: 0, -ENODATA: there is none; ... */
static int chunk_stream_walk(struct chunk_stream *s, uint64_t end, struct packet_header *ret)
{
	int found = chunk_stream_find_entry(s, end, ret);
	struct packet_header next;
	int err = MIN(found, 0), more = 0;

	while (err == 0 && (more = packet_at(s, s->bytes, end, &next)) > 0 &&
	       (!found || chunk_stream_is_successor(&next, ret))) {
		err = found ? 0 : repair_index(s->index_fd);
		if (err == 0)
			err = chunk_stream_add_index(s, &next);
		if (err == 0)
			s->bytes += next.packet_size / 8;
		*ret = next;
		found = 1;
	}
	if (err == 0)
		err = MIN(more, 0);
	return err == 0 && !found ? -ENODATA : err;
}

#define CHECK_BYTES (256u << 10) /* of a body, at once */

/* Whether @last, at the end of the walk, has another checksum than its contents. Return: 1; 0: no;
 * negative errno: it can't be read. */
static int is_damaged(const struct chunk_stream *s, const struct packet_header *last)
{
	uint64_t left = packet_body_bytes(last);
	AUTO_FREE uint8_t *buf = xalloc(CHECK_BYTES);
	uint32_t crc = packet_checksum(last, NULL, 0);

	while (left) {
		ssize_t n = pread(s->fd, buf, MIN(left, CHECK_BYTES), (off_t)(s->bytes - left));

		if (n <= 0)
			return n < 0 ? -errno : 1;
		crc = crc32c(crc, buf, (size_t)n);
		left -= (uint64_t)n;
	}
	return crc != last->crc32c;
}

/* To the end of the last packet that is whole, and not damaged if the file is old. */
static int chunk_stream_find_last(struct chunk_stream *s, struct packet_header *ret)
{
	int err, damaged = 0;
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return -errno;
	err = chunk_stream_walk(s, (uint64_t)st.st_size, ret);
	if (stat_mtime_ns(&st) >= s->config->doubted_ns)
		return err;
	while (err == 0 && (damaged = is_damaged(s, ret)) > 0) {
		log_warn("%s_%u: its last packet is damaged, and is removed", s->config->channel,
			 s->cpu);
		err = chunk_stream_walk(s, s->bytes - ret->packet_size / 8, ret);
	}
	return err < 0 ? err : MIN(damaged, 0);
}

/* A file that is whole keeps the time at which it was written. */
static int cut_to(int fd, uint64_t end, uint64_t bytes)
{
	return end != bytes && ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
}

static int cut_tails(struct chunk_stream *s, uint64_t *cut)
{
	uint64_t end = fd_bytes(s->fd);
	int ret = cut_to(s->fd, end, s->bytes);

	if (ret == 0)
		ret = cut_to(s->index_fd, fd_bytes(s->index_fd), s->index_bytes);
	if (ret < 0)
		return ret;
	*cut += end - MIN(end, s->bytes);
	return 0;
}

/* A file without a whole packet is made anew when there is one for it. */
static int remove_files(struct chunk_stream *s, uint64_t number, uint64_t *cut)
{
	const struct chunk_trace *trace = s->config->trace;
	struct chunk_stream_names names;
	int ret = chunk_stream_names(s, number, &names);

	*cut += s->fd < 0 ? 0 : fd_bytes(s->fd);
	chunk_stream_close(s);
	if (ret < 0)
		return ret;
	if (unlinkat(trace->index_fd, names.index, 0) < 0 && errno != ENOENT)
		return -errno;
	if (unlinkat(trace->fd, names.stream, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* --- which file -------------------------------------------------------------------- */

bool chunk_stream_number_of(const struct chunk_stream *s, const char *name, uint64_t *ret)
{
	struct chunk_stream_names names;
	const char *last = strrchr(name, '_');
	char *end;

	if (!last || last[1] < '0' || last[1] > '9')
		return false;
	*ret = strtoull(last + 1, &end, 10);
	return !*end && chunk_stream_names(s, *ret, &names) == 0 && strcmp(names.stream, name) == 0;
}

/* Find the file with the newest packets. Newer ones have none: they are removed, so that their
 * names are free. Return: 1; 0: there is none; negative errno: one can't be read, and stays. */
static int newest_file(struct chunk_stream *s, uint64_t *ret_number, uint64_t *cut)
{
	AUTO_DIR DIR *dir = dir_open(s->config->trace->fd, ".");
	struct packet_header first;
	uint64_t number, seq = 0;
	struct dirent *entry;
	int found = 0;

	if (!dir)
		return -errno;
	for (errno = 0; (entry = dir_next(dir)); errno = 0) {
		int got;

		if (!chunk_stream_number_of(s, entry->d_name, &number))
			continue;
		got = chunk_stream_open_files(s, number);
		if (got == 0)
			got = packet_at(s, 0, fd_bytes(s->fd), &first);
		if (got > 0 && (!found || first.packet_seq_num >= seq)) {
			*ret_number = number;
			seq = first.packet_seq_num;
			found = 1;
		} else if (got == 0 || got == -ENOENT) {
			got = remove_files(s, number, cut);
		}
		chunk_stream_close(s);
		if (got < 0)
			return got;
	}
	return errno ? -errno : found;
}

/* --- continuing the stream ------------------------------------------------------------------- */

int chunk_stream_continue(struct chunk_stream *s, struct packet_header *ret, uint64_t *cut)
{
	bool limited = s->config->tracefile_size != 0;
	uint64_t number = 0;
	int err;

	for (;;) {
		int found = limited ? newest_file(s, &number, cut) : 1;

		if (found <= 0)
			return found;
		err = chunk_stream_open_files(s, number);
		if (err == 0)
			err = chunk_stream_find_last(s, ret);
		if (err != -ENOENT && err != -ENODATA)
			break;
		err = remove_files(s, number, cut);
		if (err < 0 || !limited)
			return err;
	}
	if (err == 0)
		err = cut_tails(s, cut);
	/* the writer was perhaps killed before it listed the first file */
	if (err == 0 && !s->config->unlisted && !chunk_has(s->config->trace->fd, STREAMLIST_FILE))
		chunk_stream_note(s);
	/* beyond the first round, so that the oldest file makes room */
	s->number = number + 1 + s->config->tracefile_count;
	return err < 0 ? err : 1;
}

int chunk_stream_continue_moved(const struct chunk_stream *s, struct packet_header *ret,
				uint64_t *cut)
{
	struct chunk_trace trace = *s->config->trace;
	struct stream_config config = *s->config;
	struct chunk_stream moved;
	int found;

	if (trace.moved.fd < 0)
		return 0;
	trace.fd = trace.moved.fd;
	trace.index_fd = trace.moved.index_fd;
	config.trace = &trace;
	config.unlisted = true;
	chunk_stream_init(&moved, &config, s->cpu);
	found = chunk_stream_continue(&moved, ret, cut);
	chunk_stream_close(&moved);
	return found;
}

bool chunk_stream_first(const struct chunk_stream *s, struct packet_header *ret)
{
	struct chunk_stream first;
	bool found;

	chunk_stream_init(&first, s->config, s->cpu);
	found = chunk_stream_open_files(&first, 0) == 0 &&
		packet_at(&first, 0, fd_bytes(first.fd), ret) > 0;
	chunk_stream_close(&first);
	return found;
}
