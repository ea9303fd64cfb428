/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "read/source.h"
#include "store/append.h"
#include "store/chunk_stream.h"
#include "trace/packet.h"
#include "trace/streamlist.h"

#define MOST_METADATA (256u << 20) /* bytes of a trace's */
#define READ_BYTES (8u << 20)	   /* of one segment, at once, if they are of several parts */
#define ARCHIVES "archives"
#define UNNAMED \
	"unnamed" /* an archive of packets that were cleared, or whose archive had no name */

/** A trace of the session. */
struct fetch_trace {
	const char *path;
	const uint8_t *uuid;
	struct fetch_part *metadata; /* list, by the order of segments */
	uint32_t nr_metadata;
};

/** A piece of the session: an archive, or the current traces. */
struct fetch_chunk {
	char *name; /* of the archive; NULL: current */
	int fd;
	struct disk disk;
	struct chunk chunk;
	struct fetch_chunk *next;
};

/** The metadata of the trace that was needed last. */
struct fetch_metadata {
	const struct fetch_trace *of; /* NULL: of none */
	struct buf file;
	struct source *clocks; /* NULL: they are not needed, or not known */
};

/** Bytes of a segment that were read at once. */
struct fetch_bytes {
	const char *object;
	uint64_t at, len;
	uint8_t *data;
};

struct fetch {
	struct bucket *bucket;
	int fd;
	struct segment_footer *footers;
	uint32_t nr_footers;
	struct fetch_trace *traces;
	uint32_t nr_traces;
	struct fetch_part *packets, *turns, *files;
	uint32_t nr_packets, nr_turns, nr_files;
	struct fetch_chunk *chunks;
	struct fetch_counts *counts;
	const struct excerpt *excerpt;
	struct fetch_metadata metadata;
	struct fetch_bytes bytes;
};

/** A stream that is being written. */
struct fetch_stream {
	const struct fetch_part *first;
	uint64_t next; /* number of the next packet */
	const struct msg_seg_part *turn;
	bool is_open;
	char *channel;
	struct stream_config config;
	struct chunk_stream file;
};

/* --- parts --------------------------------------------------------------------------- */

static void push_part(struct fetch_part **list, uint32_t *nr, struct fetch_part part)
{
	if (*nr % 64 == 0)
		*list = xrealloc(*list, (*nr + 64) * sizeof(**list));
	(*list)[(*nr)++] = part;
}

static uint32_t find_trace(struct fetch *f, const struct msg_seg_trace *is)
{
	for (uint32_t i = 0; i < f->nr_traces; i++)
		if (strcmp(f->traces[i].path, is->path) == 0 &&
		    memcmp(f->traces[i].uuid, is->uuid.data, 16) == 0)
			return i;
	f->traces = xrealloc(f->traces, (f->nr_traces + 1) * sizeof(*f->traces));
	f->traces[f->nr_traces] = (struct fetch_trace){ is->path, is->uuid.data, NULL, 0 };
	return f->nr_traces++;
}

static void sort_part(struct fetch *f, const char *object, const struct segment_footer *footer,
		      const struct msg_seg_part *part)
{
	struct fetch_part own = { part, object, 0 };

	if (part->kind != SEGMENT_FILE)
		own.trace = find_trace(f, &footer->traces[part->trace]);
	if (part->kind == SEGMENT_PACKETS)
		push_part(&f->packets, &f->nr_packets, own);
	else if (part->kind == SEGMENT_TURN)
		push_part(&f->turns, &f->nr_turns, own);
	else if (part->kind == SEGMENT_FILE)
		push_part(&f->files, &f->nr_files, own);
	else
		push_part(&f->traces[own.trace].metadata, &f->traces[own.trace].nr_metadata, own);
}

static int compare_streams(const struct fetch_part *a, const struct fetch_part *b)
{
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	if (a->is->stream_class != b->is->stream_class)
		return a->is->stream_class < b->is->stream_class ? -1 : 1;
	if (a->is->instance != b->is->instance)
		return a->is->instance < b->is->instance ? -1 : 1;
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct fetch_part *x = a, *y = b;
	int ret = compare_streams(x, y);

	return ret ? ret : (x->is->first > y->is->first) - (x->is->first < y->is->first);
}

/* Of segments with one number, which are of several archivers, one has the end: in any order. */
static bool fetch_has_end(const struct segment_footer *footer, bool is_first, bool ended_before)
{
	bool same = !is_first && footer->is.number == footer[-1].is.number;

	return footer->is.ended || (same && ended_before);
}

static int fetch_footers(struct fetch *f, char *const *names, uint32_t nr, struct err *err)
{
	f->footers = xalloc((nr + 1ul) * sizeof(*f->footers));
	for (uint32_t i = 0; i < nr; i++) {
		struct segment_footer *footer = &f->footers[i];

		if (segment_read(f->bucket, names[i], footer, err))
			return err->code;
		f->nr_footers++;
		f->counts->ended = fetch_has_end(footer, i == 0, f->counts->ended);
		for (uint32_t j = 0; j < footer->nr_parts; j++)
			sort_part(f, names[i], footer, &footer->parts[j]);
	}
	if (f->nr_packets)
		qsort(f->packets, f->nr_packets, sizeof(*f->packets), compare_parts);
	if (f->nr_turns)
		qsort(f->turns, f->nr_turns, sizeof(*f->turns), compare_parts);
	return 0;
}

/* The turn after packet @seq; NULL: it is in the current traces. Of two at one place, one has a
 * name: that of the archive, which was found late. */
static const struct msg_seg_part *find_turn_after(const struct fetch *f,
						  const struct fetch_part *stream, uint64_t seq)
{
	const struct msg_seg_part *found = NULL;

	for (uint32_t i = 0; i < f->nr_turns; i++) {
		const struct msg_seg_part *turn = f->turns[i].is;

		if (compare_streams(&f->turns[i], stream) != 0 || turn->first <= seq)
			continue;
		if (!found || (turn->first == found->first && !*found->name))
			found = turn;
	}
	return found;
}

/* --- chunks and traces --------------------------------------------------------------- */

static int make_archive(struct fetch *f, const char *name, struct err *err)
{
	AUTO_FREE char *path = xasprintf(ARCHIVES "/%s", name);
	int fd;

	if (name_check(name)) {
		err_set(err, ERR_OUTPUT, "the archive's name '%.80s' %s", name, name_check(name));
		return -1;
	}
	fd = chunk_make_path(f->fd, path, false);
	if (fd < 0)
		err_errno(err, ERR_OUTPUT, -fd, "can't create %s", path);
	return fd;
}

/* @name: of the archive; NULL: the current traces. */
static struct fetch_chunk *find_chunk(struct fetch *f, const char *name, struct err *err)
{
	struct fetch_chunk *chunk;
	int fd;

	for (chunk = f->chunks; chunk; chunk = chunk->next)
		if (name == chunk->name || (name && chunk->name && strcmp(name, chunk->name) == 0))
			return chunk;
	fd = name ? make_archive(f, name, err) : fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		err_set(err, ERR_OUTPUT, "too many files are open");
		return NULL;
	}
	chunk = xalloc(sizeof(*chunk));
	chunk->name = name ? xstrdup(name) : NULL;
	chunk->fd = fd;
	chunk_init(&chunk->chunk, fd, &chunk->disk);
	chunk->next = f->chunks;
	f->chunks = chunk;
	return chunk;
}

static void forget_metadata(struct fetch *f)
{
	buf_fini(&f->metadata.file);
	source_free(f->metadata.clocks);
	f->metadata = (struct fetch_metadata){ 0 };
}

/* A piece of it in segment @part. Bytes before it that are in no segment are 0, as in a file. */
static int read_metadata_part(struct fetch *f, const struct fetch_part *part, struct err *err)
{
	struct buf *file = &f->metadata.file;
	uint64_t end = part->is->first + part->is->bytes;
	AUTO_FREE uint8_t *bytes = NULL;

	if (part->is->first > MOST_METADATA || end > MOST_METADATA)
		return err_set(err, ERR_OUTPUT, "%s has metadata that is too large", part->object);
	if (segment_read_part(f->bucket, part->object, part->is, &bytes, err))
		return err->code;
	if (end > file->len) {
		buf_reserve(file, end - file->len);
		memset(file->data + file->len, 0, end - file->len);
		file->len = end;
	}
	memcpy(file->data + part->is->first, bytes, part->is->bytes);
	return 0;
}

static int need_metadata(struct fetch *f, const struct fetch_trace *trace, struct err *err)
{
	if (f->metadata.of == trace)
		return 0;
	forget_metadata(f);
	for (uint32_t i = 0; i < trace->nr_metadata; i++)
		if (read_metadata_part(f, &trace->metadata[i], err))
			return err->code;
	if (f->metadata.file.len && (f->excerpt->has_begin || f->excerpt->has_end))
		f->metadata.clocks =
			excerpt_clocks(f->metadata.file.data, f->metadata.file.len);
	f->metadata.of = trace;
	return 0;
}

static int write_metadata(struct fetch *f, const struct fetch_trace *from, struct chunk_trace *to,
			  struct err *err)
{
	const struct buf *file = &f->metadata.file;
	int ret;

	if (need_metadata(f, from, err))
		return err->code;
	ret = file->len ? append_bytes(to->metadata_fd, file->data, file->len, 0) : 0;
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't write %s/metadata", to->path);
	to->metadata_bytes = file->len;
	return 0;
}

static int open_trace(struct fetch *f, uint32_t nr, struct fetch_chunk *chunk,
		      struct chunk_trace **ret, struct err *err)
{
	const struct fetch_trace *from = &f->traces[nr];
	const struct chunk_trace_spec spec = { .id = nr, .path = from->path, .uuid = from->uuid };

	*ret = chunk_find(&chunk->chunk, nr);
	if (*ret)
		return 0;
	if (chunk_check_path(from->path, err) || chunk_trace_open(&chunk->chunk, &spec, ret, err) ||
	    write_metadata(f, from, *ret, err))
		return err->code;
	chunk_trace_release(*ret);
	chunk_trace_note(*ret);
	return 0;
}

/* --- streams ------------------------------------------------------------------------- */

/* CHANNEL of CHANNEL_CPU or CHANNEL_CPU_NUMBER. */
static char *channel_of(const char *name, uint32_t cpu)
{
	AUTO_FREE char *tail = xasprintf("_%u", cpu);
	char *channel = xstrdup(name);

	for (int cut = 0; cut < 2; cut++) {
		char *last = strrchr(channel, '_');

		if (!last)
			break;
		if (strcmp(last, tail) == 0) {
			*last = '\0';
			return channel;
		}
		*last = '\0';
	}
	free(channel);
	return xstrdup(name);
}

static void close_stream(struct fetch_stream *stream)
{
	if (!stream->is_open)
		return;
	chunk_stream_note(&stream->file);
	chunk_stream_close(&stream->file);
	free(TAKE(stream->channel));
	stream->is_open = false;
}

/* The place of an unnamed turn among those of its stream, from 1 on. */
static unsigned int unnamed_number(const struct fetch *f, const struct fetch_part *stream,
				   uint64_t first)
{
	unsigned int nr = 0;

	for (uint32_t i = 0; i < f->nr_turns; i++)
		if (compare_streams(&f->turns[i], stream) == 0 && !*f->turns[i].is->name &&
		    f->turns[i].is->first <= first)
			nr++;
	return nr;
}

static int open_stream_file(struct fetch *f, struct fetch_stream *stream,
			    const struct packet_header *header, struct err *err)
{
	const struct msg_seg_part *turn = stream->turn, *is = stream->first->is;
	AUTO_FREE char *unnamed =
		turn && !*turn->name ?
			xasprintf(UNNAMED "-%u", unnamed_number(f, stream->first, turn->first)) :
			NULL;
	struct fetch_chunk *chunk = find_chunk(f, turn ? unnamed ?: turn->name : NULL, err);
	struct chunk_trace *trace;

	if (!chunk || open_trace(f, stream->first->trace, chunk, &trace, err))
		return err->code;
	stream->channel = channel_of(is->name, header->cpu_id);
	if (name_check_channel(stream->channel))
		return err_set(err, ERR_OUTPUT, "the channel's name '%.80s' %s", stream->channel,
			       name_check_channel(stream->channel));
	stream->config = (struct stream_config){ .trace = trace,
						 .disk = &chunk->disk,
						 .channel = stream->channel,
						 .stream_class = is->stream_class,
						 .first_instance = is->instance - header->cpu_id };
	chunk_stream_init(&stream->file, &stream->config, header->cpu_id);
	stream->is_open = true;
	return 0;
}

/* An archive may have grown after its first turn was recorded. */
static bool is_same_archive(const struct msg_seg_part *a, const struct msg_seg_part *b)
{
	return a == b || (a && b && *a->name && strcmp(a->name, b->name) == 0);
}

static int write_packet(struct fetch *f, struct fetch_stream *stream,
			const struct packet_header *header, const uint8_t *body, struct err *err)
{
	const struct msg_seg_part *turn;
	int ret;

	if (header->packet_seq_num < stream->next) {
		f->counts->copies++;
		return 0;
	}
	turn = find_turn_after(f, stream->first, header->packet_seq_num);
	if (stream->is_open && !is_same_archive(turn, stream->turn))
		close_stream(stream);
	stream->turn = turn;
	if (!stream->is_open && open_stream_file(f, stream, header, err))
		return err->code;
	ret = chunk_stream_append(&stream->file, header, body, packet_body_bytes(header), NULL);
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't write %s/%s_%u",
				 stream->config.trace->path, stream->channel, header->cpu_id);
	stream->next = header->packet_seq_num + 1;
	f->counts->packets++;
	f->counts->bytes += header->packet_size / 8;
	return 0;
}

/* The bytes of a part; those of parts behind it, to before @end, are read with it where they
 * follow. @ret: valid until the next call. */
static int read_part(struct fetch *f, const struct fetch_part *part, const struct fetch_part *end,
		     const uint8_t **ret, struct err *err)
{
	struct fetch_bytes *have = &f->bytes;
	uint64_t at = part->is->at, len = part->is->bytes;
	size_t got;

	if (have->object != part->object || at < have->at ||
	    at + len > have->at + have->len) {
		for (const struct fetch_part *next = part + 1;
		     next < end && next->object == part->object && next->is->at == at + len &&
		     len + next->is->bytes <= READ_BYTES;
		     next++)
			len += next->is->bytes;
		free(have->data);
		*have = (struct fetch_bytes){ 0 };
		if (bucket_get(f->bucket, part->object, (int64_t)at, len, &have->data, &got, err))
			return err->code;
		have->object = part->object;
		have->at = at;
		have->len = len;
	}
	*ret = have->data + (at - have->at);
	return segment_check_part(part->object, part->is, *ret, err);
}

static int write_part(struct fetch *f, struct fetch_stream *stream, const struct fetch_part *part,
		      const struct fetch_part *end, struct err *err)
{
	const struct packet_stream is = { f->traces[part->trace].uuid, part->is->stream_class,
					  part->is->instance, 0 };
	const uint8_t *bytes = NULL;
	struct packet_header header;

	if (read_part(f, part, end, &bytes, err))
		return err->code;
	for (uint64_t at = 0; at < part->is->bytes; at += header.packet_size / 8) {
		uint64_t room = part->is->bytes - at;

		if (room >= sizeof(header))
			memcpy(&header, bytes + at, sizeof(header));
		if (room < sizeof(header) || packet_check(&header, &is, room) != PACKET_FITS)
			return err_set(err, ERR_OUTPUT, "%s has an invalid packet", part->object);
		if (write_packet(f, stream, &header, bytes + at + sizeof(header), err))
			return err->code;
	}
	return 0;
}

/* Whether a part is the first one after a rotation. Its stream then needs the end of those before,
 * or would seem to lack it. */
static bool follows_turn(const struct fetch *f, const struct fetch_part *part)
{
	return !is_same_archive(find_turn_after(f, part, part[-1].is->last),
				find_turn_after(f, part, part->is->first));
}

/* @parts: of one stream. */
static int write_stream(struct fetch *f, const struct fetch_part *parts, uint32_t nr,
			struct err *err)
{
	struct fetch_stream stream = { .first = parts };
	uint32_t from = 0, to = nr;
	int ret = 0;

	if (!excerpt_is_all(f->excerpt)) {
		if (need_metadata(f, &f->traces[parts->trace], err))
			return err->code;
		excerpt_select(f->excerpt, f->metadata.clocks, parts, nr, f->counts->ended, &from,
			       &to);
		if (from && from < to && follows_turn(f, &parts[from]))
			from--;
	}
	for (uint32_t i = from; i < to && ret == 0; i++) {
		const struct msg_seg_part *is = parts[i].is;

		if (is->last >= stream.next)
			ret = write_part(f, &stream, &parts[i], parts + to, err);
		else
			f->counts->copies += is->last - is->first + 1;
	}
	close_stream(&stream);
	return ret;
}

static int write_streams(struct fetch *f, struct err *err)
{
	uint32_t nr;

	for (uint32_t i = 0; i < f->nr_packets; i += nr) {
		const struct fetch_part *parts = &f->packets[i];

		for (nr = 1; i + nr < f->nr_packets && compare_streams(parts, parts + nr) == 0;)
			nr++;
		if (write_stream(f, parts, nr, err))
			return err->code;
	}
	return 0;
}

/* --- other files, and traces without packets ----------------------------------------- */

/* The part with the bytes of a piece; NULL: its segment was removed. */
static const struct fetch_part *find_content(const struct fetch *f, const struct fetch_part *part)
{
	const struct msg_seg_part *is = part->is;

	if (is->bytes || !is->last)
		return part;
	for (uint32_t i = 0; i < f->nr_files && is->content.len; i++) {
		const struct msg_seg_part *other = f->files[i].is;

		if (other->bytes == is->last && other->content.len &&
		    memcmp(other->content.data, is->content.data, is->content.len) == 0)
			return &f->files[i];
	}
	return NULL;
}

/* @from: the part with its bytes. */
static int write_piece(struct fetch *f, const struct fetch_part *part,
		       const struct fetch_part *from, int dir, const char *name, struct err *err)
{
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	AUTO_FREE uint8_t *bytes = NULL;
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT },
					  { (time_t)(part->is->begin / 1000000000u),
					    (long)(part->is->begin % 1000000000u) } };
	int ret = fd < 0 ? -errno : 0;

	if (ret == 0 && segment_read_part(f->bucket, from->object, from->is, &bytes, err))
		return err->code;
	if (ret == 0)
		ret = append_bytes(fd, bytes, from->is->bytes, part->is->first);
	if (ret == 0 && (ftruncate(fd, (off_t)part->is->last) < 0 || futimens(fd, times) < 0))
		ret = -errno;
	return ret == 0 ? 0 : err_errno(err, ERR_OUTPUT, -ret, "can't write %s", part->is->name);
}

/* A path of valid names: ".kallsyms.zst" and the like are hidden. */
static bool file_path_is_valid(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *rest = copy, *name;

	while ((name = strsep(&rest, "/")))
		if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    strlen(name) > NAME_MAX_BYTES)
			return false;
	return strlen(path) < TRACELIST_PATH_MAX;
}

static int write_file(struct fetch *f, const struct fetch_part *part, struct err *err)
{
	const struct fetch_part *from = find_content(f, part);
	AUTO_FREE char *path = xstrdup(part->is->name);
	char *name = strrchr(path, '/');
	AUTO_FD int dir = -1;

	if (!from) {
		log_warn("%s: the segment with its content is not in the archive any more; it is "
			 "left out",
			 path);
		return 0;
	}
	if (!file_path_is_valid(path))
		return err_set(err, ERR_OUTPUT, "%s names a file '%.80s', which is no path",
			       part->object, path);
	if (name)
		*name++ = '\0';
	dir = name ? chunk_make_path(f->fd, path, false) : fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	if (dir < 0)
		return err_errno(err, ERR_OUTPUT, -dir, "can't create %s", path);
	return write_piece(f, part, from, dir, name ? name : path, err);
}

static int write_rest(struct fetch *f, struct err *err)
{
	for (uint32_t i = 0; i < f->nr_files; i++)
		if (write_file(f, &f->files[i], err))
			return err->code;
	for (uint32_t i = 0; i < f->nr_traces; i++) {
		struct fetch_chunk *chunk = NULL;
		struct chunk_trace *trace;
		bool found = false;

		for (struct fetch_chunk *c = f->chunks; c && !found; c = c->next)
			found = chunk_find(&c->chunk, i) != NULL;
		if (found)
			continue;
		chunk = find_chunk(f, NULL, err);
		if (!chunk || open_trace(f, i, chunk, &trace, err))
			return err->code;
	}
	return 0;
}

static void mark_as_ended(struct fetch *f)
{
	for (struct fetch_chunk *chunk = f->chunks; chunk; chunk = chunk->next)
		if (chunk->name || f->counts->ended)
			(void)!chunk_close(&chunk->chunk);
}

/* --- all of it ----------------------------------------------------------------------- */

static void fetch_fini(struct fetch *f)
{
	struct fetch_chunk *chunk;

	while ((chunk = f->chunks)) {
		f->chunks = chunk->next;
		chunk_fini(&chunk->chunk);
		close_fd(chunk->fd);
		free(chunk->name);
		free(chunk);
	}
	for (uint32_t i = 0; i < f->nr_footers; i++)
		segment_footer_fini(&f->footers[i]);
	for (uint32_t i = 0; i < f->nr_traces; i++)
		free(f->traces[i].metadata);
	forget_metadata(f);
	free(f->bytes.data);
	free(f->footers);
	free(f->traces);
	free(f->packets);
	free(f->turns);
	free(f->files);
}

int fetch_session(struct bucket *bucket, char *const *names, uint32_t nr,
		  const struct excerpt *excerpt, int fd, struct fetch_counts *ret, struct err *err)
{
	struct fetch f = { .bucket = bucket, .fd = fd, .counts = ret, .excerpt = excerpt };

	*ret = (struct fetch_counts){ 0 };
	if (!fetch_footers(&f, names, nr, err) && !write_streams(&f, err) && !write_rest(&f, err))
		mark_as_ended(&f);
	fetch_fini(&f);
	return err->code;
}
