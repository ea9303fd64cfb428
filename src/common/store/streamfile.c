/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/streamfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/append.h"
#include "trace/index.h"
#include "trace/streamlist.h"

void stream_file_init(struct stream_file *file, const struct stream_config *config, uint32_t cpu)
{
	*file = (struct stream_file){ .config = config, .cpu = cpu, .fd = -1, .index_fd = -1 };
}

/* --- files ------------------------------------------------------------------ */

void stream_file_close(struct stream_file *file)
{
	file->fd = close_fd(file->fd);
	file->index_fd = close_fd(file->index_fd);
	file->bytes = file->index_bytes = 0;
	file->dirty = false;
}

/* CHANNEL_CPU, or CHANNEL_CPU_N where the size of files is limited. */
int stream_names(const struct stream_file *s, uint64_t n, struct stream_names *ret)
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

static int streamfile_note_name(const struct stream_file *s, struct stream_names *ret)
{
	const struct stream_config *c = s->config;
	int len;

	if (!makes_room(c))
		return stream_names(s, s->number - 1, ret);
	if (s->number > 1)
		return -EEXIST;
	len = snprintf(ret->stream, sizeof(ret->stream), "%s_%u_%c", c->channel, s->cpu,
		       STREAMLIST_ALL);
	return len >= (int)sizeof(ret->stream) ? -ENAMETOOLONG : 0;
}

static int open_list(const struct tracedir *trace)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(trace->fd, STREAMLIST_FILE, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	tracedir_note(trace);
	return openat(trace->fd, STREAMLIST_FILE, flags | O_CREAT, 0640);
}

/* A spool's files are gone when they have been sent. */
void stream_file_note(const struct stream_file *s)
{
	const struct stream_config *c = s->config;
	struct stream_names names;
	char entry[NAME_MAX + 32];
	AUTO_FD int fd = -1;
	int len;

	if (c->unlisted || s->fd < 0 || !s->bytes || streamfile_note_name(s, &names) < 0)
		return;
	fd = open_list(c->trace);
	len = snprintf(entry, sizeof(entry), "%c%llu %s%c", STREAMLIST_BEGIN,
		       makes_room(c) ? 0 : (unsigned long long)s->bytes, names.stream,
		       STREAMLIST_END);
	if (fd < 0 || write(fd, entry, (size_t)len) != len)
		return;
	c->disk->used += (uint64_t)len;
	if (disk_syncs(c->disk))
		(void)!disk_sync_data(fd);
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

static bool replaces_file(const struct stream_file *s)
{
	const struct stream_config *c = s->config;

	return c->tracefile_size && c->tracefile_count && s->number >= c->tracefile_count;
}

bool stream_file_is_next(const struct stream_file *s, uint64_t bytes, bool *ret_replaces)
{
	const struct stream_config *c = s->config;

	*ret_replaces = replaces_file(s);
	return s->fd < 0 || (c->tracefile_size && s->bytes && s->bytes + bytes > c->tracefile_size);
}

/* The oldest of a stream's own files makes room: unlinked, so that a
 * reader can finish. */
static int streamfile_ensure_room(const struct stream_file *s, const struct stream_names *names)
{
	const struct stream_config *c = s->config;
	int ret;

	if (!replaces_file(s))
		return 0;
	ret = remove_file(c->disk, c->trace->index_fd, names->index);
	return ret < 0 ? ret : remove_file(c->disk, c->trace->fd, names->stream);
}

static int streamfile_sync_names(const struct tracedir *trace)
{
	int ret = disk_sync_dir(trace->fd);

	return ret < 0 ? ret : disk_sync_dir(trace->index_fd);
}

static int file_create(struct stream_file *file, const struct tracedir *trace,
		       const struct stream_names *names)
{
	struct index_header header = index_header_make();
	int ret;

	file->fd = tracedir_create_file(trace->fd, names->stream);
	if (file->fd < 0)
		return file->fd;
	file->index_fd = tracedir_create_file(trace->index_fd, names->index);
	ret = file->index_fd;
	if (ret >= 0)
		ret = append_bytes(file->index_fd, &header, sizeof(header), 0);
	if (ret >= 0 && disk_syncs(trace->disk))
		ret = streamfile_sync_names(trace);
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
	stream_file_close(file);
	return ret;
}

/* See to it that a file is open that may take @bytes more. */
static int file_for(struct stream_file *s, uint64_t bytes)
{
	const struct stream_config *c = s->config;
	struct stream_names names;
	bool replaces;
	int ret;

	if (!stream_file_is_next(s, bytes, &replaces))
		return 0;
	ret = stream_file_sync(s);
	if (ret < 0)
		return ret;
	stream_file_note(s);
	stream_file_close(s);
	ret = stream_names(s, s->number, &names);
	if (ret == 0)
		ret = streamfile_ensure_room(s, &names);
	if (ret == 0)
		ret = file_create(s, c->trace, &names);
	if (ret == 0)
		s->number++;
	return ret;
}

int stream_file_add_index(struct stream_file *file, const struct packet_header *packet)
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

int stream_file_sync(struct stream_file *s)
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
static int streamfile_add_entry(struct stream_file *s, const struct packet_header *header)
{
	bool at_once = s->config->disk->sync == SYNC_PACKET;
	int ret = at_once ? disk_sync_data(s->fd) : 0;

	if (ret == 0)
		ret = stream_file_add_index(s, header);
	if (ret == 0 && at_once) {
		ret = disk_sync_data(s->index_fd);
		if (ret < 0) /* written again with the packet */
			s->index_bytes -= sizeof(struct index_entry);
	}
	return ret;
}

int stream_file_undo(struct stream_file *s)
{
	return ftruncate(s->fd, (off_t)s->bytes) < 0 ? -errno : 0;
}

/* The data at the end of the file is a packet if its index entry is written. */
static int count_packet(struct stream_file *s, const struct packet_header *header)
{
	uint64_t bytes = header->packet_size / 8;
	bool first = !s->bytes;
	int ret = streamfile_add_entry(s, header);

	if (ret < 0) { /* no packet without its entry */
		int undone = stream_file_undo(s);

		return undone < 0 ? undone : ret;
	}
	s->dirty = s->config->disk->sync == SYNC_PERIOD;
	s->bytes += bytes;
	s->config->disk->used += bytes + sizeof(struct index_entry);
	if (first)
		stream_file_note(s);
	return 0;
}

/* A file that may take it, on a disk that may. */
static int make_ready(struct stream_file *s, const struct packet_header *header)
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

int stream_file_add(struct stream_file *s, const struct packet_header *header, const void *body,
		    uint64_t body_bytes, const struct splice_source *source)
{
	struct append_packet packet = as_append(header, body, body_bytes);
	int ret = make_ready(s, header);

	packet.source = source;
	packet.disk = s->config->disk;
	if (ret == 0)
		ret = append_packet(s->fd, s->bytes, &packet);
	return ret < 0 ? ret : count_packet(s, header);
}

int stream_file_begin(struct stream_file *s, const struct packet_header *header)
{
	struct append_packet packet = as_append(header, NULL, packet_body_bytes(header));
	int ret = make_ready(s, header);

	return ret < 0 ? ret : append_begin(s->fd, s->bytes, &packet);
}

int stream_file_body(struct stream_file *s, uint64_t at, const void *data, size_t len)
{
	return append_bytes(s->fd, data, len, s->bytes + sizeof(struct packet_header) + at);
}

int stream_file_sum(struct stream_file *s, const struct packet_header *header)
{
	uint32_t crc32c = header->crc32c;

	return append_bytes(s->fd, &crc32c, sizeof(crc32c),
			    s->bytes + offsetof(struct packet_header, crc32c));
}

int stream_file_finish(struct stream_file *s, const struct packet_header *header)
{
	struct append_packet packet = as_append(header, NULL, 0);
	int ret = append_finish(s->fd, s->bytes, &packet);

	return ret < 0 ? ret : count_packet(s, header);
}
