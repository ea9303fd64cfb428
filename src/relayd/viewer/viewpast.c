/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewpast.c - finds the streams of a session that have ended. The directories and indexes of all
 * its traces are read, and of those that end after the time up to which the viewer has read
 * all, the headers of their files. The names of files are not unique: CHANNEL_CPU, or
 * CHANNEL_CPU_NUMBER where their size is limited, and a channel's name may end with a number, too.
 */
#include "viewpast.h"

#include <endian.h>
#include <string.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "trace/index.h"

/* Files between others that may be missing: each is tried by its name. */
#define MISSING_MOST 16u

/* A file of a stream. */
struct pastfile {
	char *name;
	char *channel; /* NULL: not known */
	bool is_ours;  /* its first packet is one of the trace */
	bool is_plain; /* its name can have no number behind the CPU's */
	uint32_t stream_class, instance;
	uint32_t cpu;
	bool numbered; /* its name has a number behind the CPU's */
	uint64_t number;
	uint64_t first_seq, end; /* its first packet, and the time at which its last one ends */
	uint64_t index_bytes;
};

struct pasttrace {
	struct chunk_trace dir;
	struct pastfile *files;
	size_t nr, room;
	struct live_trace *live; /* NULL: not added yet */
};

/* --- the files of a trace ------------------------------------------------------------------- */

static bool viewpast_read(int fd, void *buf, size_t len, uint64_t offset)
{
	return pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

/* Return: false: it has no packets. */
static bool read_index(const struct chunk_trace *dir, struct pastfile *file)
{
	AUTO_FREE char *name = xasprintf("%s.idx", file->name);
	struct index_header header, ours = index_header_make();
	struct index_entry first, last;
	AUTO_FD int fd = chunk_read_file(dir->index_fd, name);
	uint64_t bytes = fd_bytes(fd), nr = index_entries(bytes);

	if (!nr || !viewpast_read(fd, &header, sizeof(header), 0) ||
	    memcmp(&header, &ours, sizeof(ours)) != 0 ||
	    !viewpast_read(fd, &first, sizeof(first), index_offset(0)) ||
	    !viewpast_read(fd, &last, sizeof(last), index_offset(nr - 1)))
		return false;
	file->stream_class = (uint32_t)be64toh(first.stream_id);
	file->instance = (uint32_t)be64toh(first.stream_instance_id);
	file->first_seq = be64toh(first.packet_seq_num);
	file->end = be64toh(last.timestamp_end);
	file->index_bytes = bytes;
	return true;
}

static void add_file(struct pasttrace *trace, const struct pastfile *file)
{
	if (trace->nr == trace->room) {
		trace->room = MAX(2 * trace->room, (size_t)8);
		trace->files = xrealloc(trace->files, trace->room * sizeof(*file));
	}
	trace->files[trace->nr++] = *file;
}

/* Return: the time at which the last packet ends; 0: there is none. */
static uint64_t find_files(struct pasttrace *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->dir.fd, ".");
	struct dirent *entry;
	uint64_t end = 0;

	while ((entry = dir_next(dir))) {
		struct pastfile file = { .name = entry->d_name };

		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) ||
		    !read_index(&trace->dir, &file))
			continue;
		file.name = xstrdup(entry->d_name);
		add_file(trace, &file);
		end = MAX(end, file.end);
	}
	return end;
}

/* --- which stream a file belongs to --------------------------------------------------------- */

static bool find_cpu(const struct chunk_trace *dir, struct pastfile *file)
{
	struct packet_header h;
	AUTO_FD int fd = chunk_read_file(dir->fd, file->name);

	if (fd < 0 || !viewpast_read(fd, &h, sizeof(h), 0) || h.magic != PACKET_MAGIC ||
	    h.form != PACKET_FORM || memcmp(h.uuid, dir->uuid, sizeof(h.uuid)) != 0)
		return false;
	file->cpu = h.cpu_id;
	return true;
}

/* Whether @text ends with _NUMBER, which is cut off. */
static bool cut_number(char *text, uint64_t *ret)
{
	char *last = strrchr(text, '_');

	if (!last || last == text || parse_u64(last + 1, ret) < 0)
		return false;
	*last = '\0';
	return true;
}

/* @numbered: which of the two forms of names. Return: the channel, allocated; NULL: the name does
 * not have that form. */
static char *parse_name(const struct pastfile *file, bool numbered, uint64_t *ret_number)
{
	AUTO_FREE char *text = xstrdup(file->name);
	uint64_t cpu = 0;

	*ret_number = 0;
	if ((numbered && !cut_number(text, ret_number)) || !cut_number(text, &cpu) ||
	    cpu != file->cpu || *ret_number >= UINT32_MAX)
		return NULL;
	return TAKE(text);
}

static int compare_classes(const void *a, const void *b)
{
	const struct pastfile *x = a, *y = b;

	return (x->stream_class > y->stream_class) - (x->stream_class < y->stream_class);
}

/* All files of a channel have names of one form. CHANNEL_1_1 may have either on CPU 1: another file
 * of the channel that can only be of one form decides it; without one, the viewer's tunnel knows
 * the stream by either name. */
static void identify_channel(struct pastfile *files, size_t nr)
{
	bool plain = false;

	for (size_t i = 0; i < nr; i++)
		plain |= files[i].is_plain;
	for (size_t i = 0; i < nr; i++) {
		if (!files[i].is_ours)
			continue;
		files[i].channel = parse_name(&files[i], !plain, &files[i].number);
		files[i].numbered = !plain;
	}
}

static void identify_files(struct pasttrace *trace)
{
	struct pastfile *files = trace->files;

	for (size_t i = 0; i < trace->nr; i++) {
		AUTO_FREE char *channel = NULL;
		uint64_t ignored;

		files[i].is_ours = find_cpu(&trace->dir, &files[i]);
		if (!files[i].is_ours)
			continue;
		channel = parse_name(&files[i], true, &ignored);
		files[i].is_plain = !channel;
	}
	qsort(files, trace->nr, sizeof(*files), compare_classes);
	for (size_t i = 0, end; i < trace->nr; i = end) {
		for (end = i + 1; end < trace->nr && !compare_classes(&files[i], &files[end]);)
			end++;
		identify_channel(&files[i], end - i);
	}
}

/* --- streams -------------------------------------------------------------------------------- */

static int compare_streams(const void *a, const void *b)
{
	const struct pastfile *x = a, *y = b;

	if (!x->channel || !y->channel)
		return !!y->channel - !!x->channel;
	if (x->stream_class != y->stream_class)
		return compare_classes(x, y);
	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return strcmp(x->channel, y->channel);
}

static int compare_files(const void *a, const void *b)
{
	const struct pastfile *x = a, *y = b;
	int ret = compare_streams(a, b);

	return ret ? ret : (x->first_seq > y->first_seq) - (x->first_seq < y->first_seq);
}

/* @files: all files of the stream, the oldest first. Old ones may have been replaced by new ones,
 * whose numbers begin again from 0. */
static void add_stream(struct vsession *vsession, struct pasttrace *trace,
		       const struct pastfile *files, size_t nr_files)
{
	const struct pastfile *oldest = files, *newest = &files[nr_files - 1];
	struct live_stream *stream;
	struct live_past past;
	uint64_t nr = 1;

	for (size_t i = 0; i < nr_files; i++)
		nr = MAX(nr, files[i].number + 1);
	if (nr > 2 * nr_files + MISSING_MOST) {
		vsession->lacks_past = true;
		return;
	}
	past = (struct live_past){
		.config = { .trace = &trace->dir,
			    .channel = oldest->channel,
			    .stream_class = oldest->stream_class,
			    .first_instance = oldest->instance - oldest->cpu,
			    .tracefile_size = oldest->numbered,
			    .tracefile_count = oldest->numbered ? (uint32_t)nr : 0 },
		.cpu = oldest->cpu,
		.nr_files = (newest->number + nr - oldest->number) % nr + 1,
		.first_name = oldest->number,
		.index_bytes = newest->index_bytes,
	};
	if (live_add_past(vsession->session, &past, &trace->live, &stream) < 0)
		vsession->lacks_past = true;
	else if (stream)
		list_append(&vsession->past, &stream->node);
}

static void add_streams(struct vsession *vsession, struct pasttrace *trace)
{
	struct pastfile *files = trace->files;

	qsort(files, trace->nr, sizeof(*files), compare_files);
	for (size_t i = 0, end; i < trace->nr && files[i].channel; i = end) {
		for (end = i + 1; end < trace->nr && !compare_streams(&files[i], &files[end]);)
			end++;
		add_stream(vsession, trace, &files[i], end - i);
	}
}

/* --- traces --------------------------------------------------------------------------------- */

static bool read_metadata(struct chunk_trace *dir)
{
	struct metapacket head;

	dir->metadata_fd = chunk_read_file(dir->fd, "metadata");
	if (dir->metadata_fd < 0 || !chunk_read_metapacket(dir->metadata_fd, 0, &head) ||
	    !head.has_uuid)
		return false;
	memcpy(dir->uuid, head.uuid, sizeof(dir->uuid));
	dir->metadata_bytes = fd_bytes(dir->metadata_fd);
	return true;
}

static void visit_trace(struct vsession *vsession, int dir_fd, const char *path)
{
	AUTO_FD int index_fd = chunk_open_dir(dir_fd, "index");
	struct pasttrace trace = { .dir = { .path = (char *)path,
					    .fd = dir_fd,
					    .index_fd = index_fd,
					    .metadata_fd = -1 } };
	struct err err = { 0 };

	if (index_fd < 0 || chunk_check_path(path, &err))
		return;
	if (find_files(&trace) >= vsession->since && read_metadata(&trace.dir)) {
		identify_files(&trace);
		add_streams(vsession, &trace);
	}
	for (size_t i = 0; i < trace.nr; i++) {
		free(trace.files[i].name);
		free(trace.files[i].channel);
	}
	free(trace.files);
	close_fd(trace.dir.metadata_fd);
}

/* @path: of the directory @name, from the session's; "": it is that. */
static void visit(struct vsession *vsession, int at_fd, const char *name, const char *path,
		  unsigned int depth)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;

	if (dir && *path)
		visit_trace(vsession, dirfd(dir), path);
	while (depth < CHUNK_MAX_DEPTH && (entry = dir_next(dir))) {
		AUTO_FREE char *below = NULL;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "index") == 0 ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		below = xasprintf("%s%s%s", path, *path ? "/" : "", entry->d_name);
		visit(vsession, dirfd(dir), entry->d_name, below, depth + 1);
	}
}

bool viewpast_find(struct vsession *vsession)
{
	if (!vsession->seeks_past)
		return true;
	if (!live_is_settled(vsession->session))
		return false;
	vsession->seeks_past = false;
	vsession->lacks_past =
		vsession->session->dir_fd < 0 || live_lacks_traces(vsession->session);
	if (vsession->session->dir_fd >= 0)
		visit(vsession, vsession->session->dir_fd, ".", "", 0);
	return true;
}

bool viewpast_lacks(struct vsession *vsession)
{
	bool lacks = vsession->lacks_past;

	vsession->lacks_past = false;
	return lacks;
}

void viewpast_drop(struct vsession *vsession)
{
	struct live_stream *stream;

	while ((stream = list_first(&vsession->past, struct live_stream, node))) {
		list_remove(&stream->node);
		if (stream->trace->is_past)
			live_trace_done(stream->trace); /* with its other streams */
	}
}
