/* SPDX-License-Identifier: GPL-2.0-only */
#include "harvest.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/chunk.h"
#include "trace/kallsyms.h"
#include "trace/packet.h"
#include "trace/streamlist.h"

#define MAX_DEPTH 12 /* of a trace's directories */
#define ARCHIVES "archives"
#define PIECE_BYTES (4u << 20) /* of a file */
#define CONTENT_LEAST 256u     /* bytes of a file from which on a content is stored once */

/* Hidden files that are more than lists of other files. */
static const char *const kept_files[] = { KALLSYMS_FILE, ".symbols", CLEAREDLIST_FILE };

/** One directory. */
struct harvest_dir {
	int fd;
	char *path;    /* below the session's directory, with '/' at its end; or empty */
	char *trace;   /* below that of the session or archive */
	char *archive; /* its name; NULL: it is in none */
};

/** A file of a stream. */
struct stream_file {
	char *name;
	struct packet_header first;
};

/* --- segments ------------------------------------------------------------------------ */

/* Room in the segment for a part. */
static int harvest_room(struct harvest *h, uint64_t bytes, void **ret, struct err *err)
{
	if (!segment_is_empty(h->segment) && segment_bytes(h->segment) + bytes > h->most &&
	    h->full(h, err))
		return err->code;
	*ret = segment_room(h->segment, bytes);
	return 0;
}

/* Return: 0 or negative errno; -ENODATA: the file is shorter. */
static int read_all(int fd, void *to, uint64_t bytes, uint64_t at)
{
	for (uint64_t got = 0; got < bytes;) {
		ssize_t n = pread(fd, (uint8_t *)to + got, bytes - got, (off_t)(at + got));

		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		got += (uint64_t)n;
	}
	return 0;
}

static int unreadable(const struct harvest_dir *dir, const char *name, int error, struct err *err)
{
	return err_errno(err, ERR_OUTPUT, -error, "can't read %s%s", dir->path, name);
}

/* --- metadata ------------------------------------------------------------------------ */

/* The end of the last whole packet behind @at. */
static uint64_t metadata_end(int fd, uint64_t at)
{
	uint64_t size = fd_bytes(fd);
	struct metapacket head;

	while (at < size && chunk_read_metapacket(fd, at, &head) && head.bytes <= size - at &&
	       head.bytes == head.head_bytes + head.text_bytes)
		at += head.bytes;
	return at;
}

int harvest_metadata(struct harvest *h, struct err *err)
{
	struct catalog_trace *trace = h->trace;
	struct msg_seg_part part = { .kind = SEGMENT_METADATA, .name = "metadata" };
	int ret;

	if (!trace)
		return 0;
	part.first = trace->metadata;
	part.bytes = metadata_end(h->metadata_fd, part.first) - part.first;
	if (!part.bytes)
		return 0;
	part.trace = segment_trace(h->segment, trace->path, trace->uuid);
	ret = read_all(h->metadata_fd, segment_room(h->segment, part.bytes), part.bytes,
		       part.first);
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't read the metadata of %s",
				 trace->path);
	segment_add(h->segment, &part);
	trace->metadata += part.bytes;
	return 0;
}

/* --- streams ------------------------------------------------------------------------- */

static void add_turn(struct harvest *h, struct catalog_stream *stream, const char *archive,
		     uint64_t first)
{
	struct msg_seg_part part = { .kind = SEGMENT_TURN,
				     .name = archive,
				     .stream_class = stream->stream_class,
				     .instance = stream->instance,
				     .first = first };

	if (stream->turned >= first)
		return;
	part.trace = segment_trace(h->segment, stream->trace->path, stream->trace->uuid);
	(void)segment_room(h->segment, 0);
	segment_add(h->segment, &part);
	stream->turned = first;
}

static int add_packet(struct harvest *h, const struct harvest_dir *dir, int fd,
		      struct catalog_stream *stream, const char *name,
		      const struct packet_header *header, struct err *err)
{
	struct msg_seg_part part = {
		.kind = SEGMENT_PACKETS,
		.name = name,
		.stream_class = stream->stream_class,
		.instance = stream->instance,
		.bytes = header->packet_size / 8,
		.first = header->packet_seq_num,
		.last = header->packet_seq_num,
		.begin = header->timestamp_begin,
		.end = header->timestamp_end,
	};
	void *room;
	int ret;

	if (harvest_room(h, part.bytes, &room, err))
		return err->code;
	ret = read_all(fd, room, part.bytes, stream->at);
	if (ret < 0)
		return unreadable(dir, name, ret, err);
	part.trace = segment_trace(h->segment, stream->trace->path, stream->trace->uuid);
	segment_add(h->segment, &part);
	stream->next = header->packet_seq_num + 1;
	return 0;
}

/* Where a stream's file is to be read from. */
static void find_place(struct catalog_stream *stream, const struct stat *st)
{
	if (stream->device == st->st_dev && stream->inode == st->st_ino &&
	    stream->at <= (uint64_t)st->st_size)
		return;
	stream->device = st->st_dev;
	stream->inode = st->st_ino;
	stream->at = stream->file_next = 0;
}

static int read_packets(struct harvest *h, const struct harvest_dir *dir, int fd,
			struct catalog_stream *stream, const struct stream_file *file,
			uint64_t size, struct err *err)
{
	const struct packet_stream is = { stream->trace->uuid, stream->stream_class,
					  stream->instance, file->first.cpu_id };
	struct packet_header header;

	while (size - stream->at >= sizeof(header) &&
	       read_all(fd, &header, sizeof(header), stream->at) == 0 &&
	       packet_check(&header, &is, size - stream->at) == PACKET_FITS) {
		if (header.packet_seq_num >= stream->next &&
		    add_packet(h, dir, fd, stream, file->name, &header, err))
			return err->code;
		stream->at += header.packet_size / 8;
		stream->file_next = header.packet_seq_num + 1;
	}
	return 0;
}

/* With this packet a stream goes on after those of an archive. */
static bool is_opening(const struct packet_header *header)
{
	return header->packet_seq_num && packet_body_bytes(header) == 0 &&
	       header->timestamp_begin == header->timestamp_end;
}

static int read_archives(struct harvest *h, struct err *err);

/* A current file begins with @opening: the packets before it are in an archive, which is there
 * first. If there is none, it was cleared, or removed before it was read. */
static int find_turn(struct harvest *h, struct catalog_stream *stream,
		     const struct packet_header *opening, struct err *err)
{
	struct catalog_trace *trace = h->trace;
	int metadata_fd = h->metadata_fd;

	if (stream->turned >= opening->packet_seq_num)
		return 0;
	h->trace = NULL;
	if (read_archives(h, err))
		return err->code;
	h->trace = trace;
	h->metadata_fd = metadata_fd;
	if (stream->next)
		add_turn(h, stream, "", opening->packet_seq_num);
	return 0;
}

static int read_stream_file(struct harvest *h, const struct harvest_dir *dir,
			    const struct stream_file *file, struct err *err)
{
	struct catalog_stream *stream =
		catalog_stream(h->trace, file->first.stream_id, file->first.stream_instance_id);
	AUTO_FD int fd = chunk_read_file(dir->fd, file->name);
	struct stat st;

	if (fd == -ENOENT || (fd >= 0 && fstat(fd, &st) < 0))
		return 0; /* it made room for a newer one */
	if (fd < 0)
		return unreadable(dir, file->name, fd, err);
	if (!h->measure && !dir->archive && is_opening(&file->first) &&
	    find_turn(h, stream, &file->first, err))
		return err->code;
	find_place(stream, &st);
	if (h->measure) {
		*h->measure += (uint64_t)st.st_size - stream->at;
		return 0;
	}
	if (read_packets(h, dir, fd, stream, file, (uint64_t)st.st_size, err))
		return err->code;
	return 0;
}

/* --- other files --------------------------------------------------------------------- */

/* Each archive of a session has its own ".kallsyms.zst": a content that the archive has is not put
 * again. @room: of the segment, with the bytes of @part. @content: SEGMENT_CONTENT_BYTES. */
static void add_piece(struct harvest *h, struct msg_seg_part *part, const void *room,
		      uint8_t *content)
{
	uint64_t bytes = part->bytes;

	if (bytes == part->last && bytes >= CONTENT_LEAST &&
	    gnutls_hash_fast(GNUTLS_DIG_SHA256, room, bytes, content) == 0) {
		part->content = (struct blob){ content, SEGMENT_CONTENT_BYTES };
		if (catalog_has_content(h->catalog, content))
			part->bytes = 0;
		else
			catalog_add_content(h->catalog, content);
	}
	segment_add(h->segment, part);
	part->first += bytes;
}

static int read_pieces(struct harvest *h, const struct harvest_dir *dir, int fd, const char *name,
		       struct msg_seg_part *part, struct err *err)
{
	uint8_t content[SEGMENT_CONTENT_BYTES];

	do {
		void *room;
		int ret;

		part->bytes = MIN(part->last - part->first, PIECE_BYTES);
		if (harvest_room(h, part->bytes, &room, err))
			return err->code;
		ret = read_all(fd, room, part->bytes, part->first);
		if (ret == -ENODATA)
			return 0; /* it is being written anew: the next time */
		if (ret < 0)
			return unreadable(dir, name, ret, err);
		add_piece(h, part, room, content);
	} while (part->first < part->last);
	return 0;
}

static int read_file(struct harvest *h, const struct harvest_dir *dir, const char *name,
		     struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s%s", dir->path, name);
	AUTO_FD int fd = chunk_read_file(dir->fd, name);
	struct catalog_file *file = catalog_file(h->catalog, path);
	struct stat st;
	struct msg_seg_part part = { .kind = SEGMENT_FILE, .name = path };

	if (fd == -ENOENT || (fd >= 0 && fstat(fd, &st) < 0))
		return 0;
	if (fd < 0)
		return unreadable(dir, name, fd, err);
	part.begin = stat_mtime_ns(&st);
	part.last = (uint64_t)st.st_size;
	if (file->time_ns == part.begin && file->size == part.last)
		return 0;
	if (h->measure) {
		*h->measure += part.last;
		return 0;
	}
	if (read_pieces(h, dir, fd, name, &part, err))
		return err->code;
	if (part.first == part.last) {
		file = catalog_file(h->catalog, path);
		file->time_ns = part.begin;
		file->size = part.last;
	}
	return 0;
}

/* --- directories --------------------------------------------------------------------- */

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept_files); i++)
		if (strcmp(name, kept_files[i]) == 0)
			return true;
	return name[0] != '.';
}

static int by_number(const void *a, const void *b)
{
	const struct stream_file *x = a, *y = b;

	if (x->first.stream_id != y->first.stream_id)
		return x->first.stream_id < y->first.stream_id ? -1 : 1;
	if (x->first.stream_instance_id != y->first.stream_instance_id)
		return x->first.stream_instance_id < y->first.stream_instance_id ? -1 : 1;
	return (x->first.packet_seq_num > y->first.packet_seq_num) -
	       (x->first.packet_seq_num < y->first.packet_seq_num);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The number at the end of an archive's name: its place among the session's. */
static uint64_t archive_number(const char *name)
{
	const char *last = strrchr(name, '-');

	return last ? strtoull(last + 1, NULL, 10) : 0;
}

static int by_archive(const void *a, const void *b)
{
	uint64_t x = archive_number(*(char *const *)a), y = archive_number(*(char *const *)b);

	return x == y ? by_name(a, b) : x < y ? -1 : 1;
}

struct entries {
	char **files, **dirs;
	size_t nr_files, nr_dirs;
};

static void push_name(char ***names, size_t *nr, const char *name)
{
	if (*nr % 32 == 0)
		*names = xrealloc(*names, (*nr + 32) * sizeof(**names));
	(*names)[(*nr)++] = xstrdup(name);
}

static void entries_fini(struct entries *entries)
{
	for (size_t i = 0; i < entries->nr_files; i++)
		free(entries->files[i]);
	for (size_t i = 0; i < entries->nr_dirs; i++)
		free(entries->dirs[i]);
	free(entries->files);
	free(entries->dirs);
}

static struct entries read_entries(int fd)
{
	AUTO_DIR DIR *dir = dir_open(fd, ".");
	struct entries entries = { 0 };
	struct dirent *entry;
	struct stat st;

	while ((entry = dir_next(dir))) {
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode) && is_kept(entry->d_name))
			push_name(&entries.files, &entries.nr_files, entry->d_name);
		else if (S_ISDIR(st.st_mode) && entry->d_name[0] != '.')
			push_name(&entries.dirs, &entries.nr_dirs, entry->d_name);
	}
	if (entries.nr_dirs)
		qsort(entries.dirs, entries.nr_dirs, sizeof(char *), by_name);
	return entries;
}

/* Whether a directory is a trace of ours; its UUID. @ret_fd: its metadata. */
static bool is_our_trace(int fd, int *ret_fd, uint8_t ret_uuid[16])
{
	AUTO_FD int metadata = chunk_read_file(fd, "metadata");
	struct metapacket head;

	if (metadata < 0 || !chunk_read_metapacket(metadata, 0, &head) || !head.has_uuid)
		return false;
	memcpy(ret_uuid, head.uuid, sizeof(head.uuid));
	*ret_fd = TAKE_FD(metadata);
	return true;
}

/* Whether a file is of a stream of the trace, with a packet. */
static bool is_our_stream(const struct catalog_trace *trace, int dir_fd, const char *name,
			  struct packet_header *ret)
{
	AUTO_FD int fd = chunk_read_file(dir_fd, name);

	return fd >= 0 && read_all(fd, ret, sizeof(*ret), 0) == 0 && ret->magic == PACKET_MAGIC &&
	       ret->form == PACKET_FORM && memcmp(ret->uuid, trace->uuid, sizeof(ret->uuid)) == 0;
}

/* A stream without a whole packet yet: its file is empty until it has an index. */
static bool is_begun(int dir_fd, const char *name)
{
	AUTO_FREE char *index = xasprintf("index/%s.idx", name);
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !st.st_size ||
	       faccessat(dir_fd, index, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The streams of a trace in the order of their packets, then its other files.
 * @streams: room for all files. */
static int read_trace_files(struct harvest *h, const struct harvest_dir *dir,
			    const struct entries *entries, struct stream_file *streams,
			    struct err *err)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < entries->nr_files && ret == 0; i++) {
		char *name = entries->files[i];

		if (h->trace && strcmp(name, "metadata") == 0)
			continue;
		if (h->trace && is_our_stream(h->trace, dir->fd, name, &streams[nr].first))
			streams[nr++].name = name;
		else if (!h->trace || !is_begun(dir->fd, name))
			ret = read_file(h, dir, name, err);
	}
	if (nr)
		qsort(streams, nr, sizeof(*streams), by_number);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = read_stream_file(h, dir, &streams[i], err);
	/* all of a stream's files in the archive were read: what follows is behind it */
	for (size_t i = 0; i < nr && ret == 0 && dir->archive && !h->measure; i++) {
		struct catalog_stream *stream = catalog_stream(h->trace, streams[i].first.stream_id,
							       streams[i].first.stream_instance_id);

		add_turn(h, stream, dir->archive, stream->file_next);
	}
	return ret;
}

/* Whether a trace's metadata is there and has no text yet: its files are no plain ones. */
static bool is_unwritten(int fd)
{
	AUTO_FD int metadata = chunk_read_file(fd, "metadata");
	uint32_t first = 0;

	return metadata >= 0 && (read_all(metadata, &first, sizeof(first), 0) < 0 || !first);
}

static int read_files(struct harvest *h, const struct harvest_dir *dir,
		      const struct entries *entries, struct err *err)
{
	AUTO_FREE struct stream_file *streams = xalloc((entries->nr_files + 1) * sizeof(*streams));
	AUTO_FD int metadata_fd = -1;
	uint8_t uuid[16];
	int ret;

	if (is_unwritten(dir->fd))
		return 0;
	if (is_our_trace(dir->fd, &metadata_fd, uuid)) {
		h->trace = catalog_trace(h->catalog, dir->trace, uuid);
		h->metadata_fd = metadata_fd;
	}
	ret = read_trace_files(h, dir, entries, streams, err);
	if (ret == 0 && !h->measure)
		ret = harvest_metadata(h, err);
	h->trace = NULL;
	h->metadata_fd = -1;
	return ret;
}

static int read_dir(struct harvest *h, const struct harvest_dir *dir, int depth, struct err *err);

static int read_below(struct harvest *h, const struct harvest_dir *dir, const char *name, int depth,
		      struct err *err)
{
	AUTO_FD int fd = chunk_open_dir(dir->fd, name);
	AUTO_FREE char *path = xasprintf("%s%s/", dir->path, name);
	AUTO_FREE char *trace = xasprintf("%s%s%s", dir->trace, *dir->trace ? "/" : "", name);
	const struct harvest_dir below = { fd, path, trace, dir->archive };

	if (fd < 0)
		return fd == -ENOENT ? 0 : unreadable(dir, name, fd, err);
	return read_dir(h, &below, depth + 1, err);
}

static int read_dir(struct harvest *h, const struct harvest_dir *dir, int depth, struct err *err)
{
	struct entries entries = read_entries(dir->fd);
	int ret = depth > MAX_DEPTH ? 0 : read_files(h, dir, &entries, err);

	for (size_t i = 0; i < entries.nr_dirs && ret == 0 && depth <= MAX_DEPTH; i++)
		if (strcmp(entries.dirs[i], "index") != 0 &&
		    (depth > 0 || dir->archive || strcmp(entries.dirs[i], ARCHIVES) != 0))
			ret = read_below(h, dir, entries.dirs[i], depth, err);
	entries_fini(&entries);
	return ret;
}

static int read_archive(struct harvest *h, int at_fd, char *name, struct err *err)
{
	AUTO_FD int fd = chunk_open_dir(at_fd, name);
	AUTO_FREE char *path = xasprintf(ARCHIVES "/%s/", name);
	const struct harvest_dir dir = { fd, path, (char *)"", name };

	if (fd < 0 || catalog_has_archive(h->catalog, name))
		return 0; /* it was removed, or read */
	if (read_dir(h, &dir, 0, err))
		return err->code;
	if (!h->measure)
		catalog_add_archive(h->catalog, name);
	return 0;
}

static int read_archives(struct harvest *h, struct err *err)
{
	AUTO_FD int fd = chunk_open_dir(h->session_fd, ARCHIVES);
	const struct harvest_dir dir = { fd, (char *)ARCHIVES "/", (char *)"", NULL };
	struct entries entries;
	int ret = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : unreadable(&dir, "", fd, err);
	entries = read_entries(fd);
	if (entries.nr_dirs)
		qsort(entries.dirs, entries.nr_dirs, sizeof(char *), by_archive);
	for (size_t i = 0; i < entries.nr_dirs && ret == 0; i++)
		ret = read_archive(h, fd, entries.dirs[i], err);
	for (size_t i = 0; i < entries.nr_files && ret == 0; i++)
		ret = read_file(h, &dir, entries.files[i], err);
	entries_fini(&entries);
	return ret;
}

int harvest_session(struct harvest *h, int fd, struct err *err)
{
	const struct harvest_dir dir = { fd, (char *)"", (char *)"", NULL };

	h->session_fd = fd;
	if (read_archives(h, err))
		return err->code;
	return read_dir(h, &dir, 0, err);
}

uint64_t harvest_measure(struct catalog *catalog, int fd)
{
	uint64_t bytes = 0;
	struct harvest h = { .catalog = catalog, .measure = &bytes, .metadata_fd = -1 };
	struct err err = { 0 };

	(void)!harvest_session(&h, fd, &err);
	return bytes;
}

bool harvest_has_ended(int fd)
{
	AUTO_FREE char *list = NULL;
	const char *open = NULL, *ended = NULL;

	if (chunk_read_list(fd, &list) < 0)
		return false;
	for (const char *at = list; (at = strstr(at, "\n" TRACELIST_OPEN TRACELIST_END)); at++)
		open = at;
	for (const char *at = list; (at = strstr(at, "\n" TRACELIST_ENDED TRACELIST_END)); at++)
		ended = at;
	return ended && (!open || ended > open);
}
