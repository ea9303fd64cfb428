/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a consumer that died, as its successor finds them: with any contents,
 * it keeps all bytes up to the last complete packet behind the last entry of the index,
 * and each of these packets has its entry; then it appends a complete packet that follows.
 * A reader of our own checks this (packet_walk.h).
 *
 * An input: one byte (1: files of limited size, 2: records are waiting in the ring),
 * then up to four files in turn, stream, its index, stream, index, each behind
 * three bytes of length.
 */
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "consumerd/worker/ringset.h"
#include "lib/packet_walk.h"
#include "must_hold.h"

#define MAX_FILES 4
#define MAX_FILES_KEPT 3 /* by the stream */
#define RING_BYTES 8192u
#define RECORDED 64u /* bytes, of zeros */

static char dir[64];
static struct disk disk; /* without limits */
static struct chunk_trace trace = {
	.fd = -1, .index_fd = -1, .metadata_fd = -1, .uuid = "0123456789abcde", .disk = &disk
};
static struct relay_conn_config no_relay;
static const struct sink_config sink_config = { .has_dir = true, .relay = &no_relay };
static struct sink *sink;
static struct stats_box box;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_all(int fd)
{
	DIR *d = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;

	MUST_HOLD(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
	closedir(d);
}

static void remove_dir(void)
{
	remove_all(trace.index_fd);
	unlinkat(trace.fd, "index", AT_REMOVEDIR);
	remove_all(trace.fd);
	rmdir(dir);
}

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "%s/files-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	MUST_HOLD(mkdtemp(dir));
	trace.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST_HOLD(trace.fd >= 0 && mkdirat(trace.fd, "index", 0700) == 0);
	trace.index_fd = openat(trace.fd, "index", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST_HOLD(trace.index_fd >= 0);
	atexit(remove_dir);
}

static void put_file(int at, const char *name, const uint8_t *data, size_t len)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST_HOLD(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void put_files(const uint8_t *data, size_t size, bool limited)
{
	for (unsigned int i = 0; i < 2 * MAX_FILES && size > 3; i++) {
		size_t len = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
		char name[32];

		data += 3;
		size -= 3;
		len = MIN(len, size);
		snprintf(name, sizeof(name), limited ? "c_0_%u%s" : "c_0%.0u%s", i / 2,
			 i % 2 ? ".idx" : "");
		if (limited || i < 2)
			put_file(i % 2 ? trace.index_fd : trace.fd, name, data, len);
		data += len;
		size -= len;
	}
}

/* --- checks of the files afterwards ------------------------------------- */

/** A file of the stream, and its index. */
struct pair {
	struct chunk_stream_names names;
	struct contents stream, index;
};

static struct contents load(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	struct contents c = { NULL, 0 };

	if (fd >= 0)
		c = walk_load(fd);
	close_fd(fd);
	return c;
}

static void load_pair(const struct chunk_stream *file, uint64_t number, struct pair *ret)
{
	MUST_HOLD(chunk_stream_names(file, number, &ret->names) == 0);
	ret->stream = load(trace.fd, ret->names.stream);
	ret->index = load(trace.index_fd, ret->names.index);
}

static void free_pair(struct pair *pair)
{
	free(pair->stream.at);
	free(pair->index.at);
}

static const struct walk_stream stream_is = { trace.uuid, 0, 0 };

/* Where to begin: at the last entry that describes a complete packet. Return: whether there
 * is one; @ret_nr entries before it are believed. */
static bool find_start(const struct pair *was, struct walk_packet *ret, size_t *ret_nr)
{
	size_t nr = walk_is_index(&was->index) ? was->index.len - WALK_INDEX_HEAD : 0;

	for (nr /= WALK_ENTRY; nr > 0; nr--) {
		const uint8_t *entry = was->index.at + WALK_INDEX_HEAD + (nr - 1) * WALK_ENTRY;

		*ret_nr = nr - 1;
		if (walk_at(&stream_is, &was->stream, walk_be64(entry), ret) &&
		    ret->seq == walk_be64(entry + 64))
			return true;
	}
	*ret_nr = 0;
	return walk_at(&stream_is, &was->stream, 0, ret);
}

static void same_begin(const struct contents *a, const struct contents *b, size_t len)
{
	MUST_HOLD(a->len >= len && b->len >= len && (!len || memcmp(a->at, b->at, len) == 0));
}

/* Compare a file of an earlier consumer with the adopted one: it is the same up to the last
 * whole packet, which is its last, and the index has all packets.
 * Return: that packet. */
static struct walk_packet check_adopted(const struct pair *was, const struct pair *is)
{
	struct walk_packet last, next;
	size_t nr;

	MUST_HOLD(find_start(was, &last, &nr));
	MUST_HOLD(walk_is_index(&is->index));
	if (nr)
		same_begin(&is->index, &was->index, WALK_INDEX_HEAD + nr * WALK_ENTRY);
	MUST_HOLD(walk_entry_is(&stream_is, &is->index, nr++, &last));
	while (walk_at(&stream_is, &was->stream, last.at + last.bytes, &next) &&
	       walk_follows(&next, &last)) {
		last = next;
		MUST_HOLD(walk_entry_is(&stream_is, &is->index, nr++, &last));
	}
	MUST_HOLD(is->index.len == WALK_INDEX_HEAD + nr * WALK_ENTRY);
	MUST_HOLD(is->stream.len == last.at + last.bytes);
	same_begin(&is->stream, &was->stream, is->stream.len);
	return last;
}

/* One packet more, of later records: at the end of @was, or in a file of its own. */
static void check_added(const struct pair *was, const struct pair *is,
			const struct walk_packet *last)
{
	static const uint8_t recorded[RECORDED];
	size_t at = was ? was->stream.len : 0;
	size_t nr = was ? (was->index.len - WALK_INDEX_HEAD) / WALK_ENTRY : 0;
	struct walk_packet p;

	if (was) {
		same_begin(&is->stream, &was->stream, at);
		same_begin(&is->index, &was->index, was->index.len);
	}
	MUST_HOLD(walk_at(&stream_is, &is->stream, at, &p) && at + p.bytes == is->stream.len);
	MUST_HOLD(walk_entry_is(&stream_is, &is->index, nr, &p));
	MUST_HOLD(is->index.len == WALK_INDEX_HEAD + (nr + 1) * WALK_ENTRY);
	walk_judge(&is->stream, &p);
	MUST_HOLD(p.bytes == WALK_HEAD + RECORDED);
	MUST_HOLD(memcmp(is->stream.at + at + WALK_HEAD, recorded, RECORDED) == 0);
	if (!last)
		return;
	MUST_HOLD(walk_follows(&p, last) && p.begin == last->end);
	MUST_HOLD(p.recorded - last->recorded == 2);
}

/* --- one life -------------------------------------------------------------------- */

static struct ringset_spec make_spec(bool limited)
{
	if (!sink)
		sink = sink_new(&sink_config, NULL);
	memset(&box, 0, sizeof(box));
	return (struct ringset_spec){
		.desc = { .nr_rings = 1,
			  .num_subbuf = 2,
			  .subbuf_size = RING_BYTES / 2,
			  .clock = LTT_CLOCK_MONOTONIC },
		.channel = (char *)"c",
		.stream_class = 0,
		.tracefile_size = limited ? RING_BYTES : 0,
		.tracefile_count = limited ? MAX_FILES_KEPT : 0,
		.sink = sink,
		.boxes = &box,
	};
}

static void make_ring(struct ringset_spec *spec, struct ringmem_fds *fds)
{
	struct err err = { 0 };
	struct ringset *set;

	MUST_HOLD(ringmem_check(&spec->desc, &err) == 0);
	MUST_HOLD(ringset_new(spec, &trace, &set, fds, &err) == 0);
	(void)!ringset_free(set);
}

static void load_all(const struct ringset_spec *spec, struct pair ret[MAX_FILES_KEPT])
{
	const struct stream_config config = { .channel = spec->channel,
					      .tracefile_size = spec->tracefile_size,
					      .tracefile_count = spec->tracefile_count };
	struct chunk_stream file;

	chunk_stream_init(&file, &config, 0);
	for (size_t i = 0; i < MAX_FILES_KEPT; i++)
		load_pair(&file, i, &ret[i]);
}

/* The producer has gone on, as far as it could know. */
static void record(const struct ringmem_fds *fds, const struct stream *s)
{
	struct ltt_ring_prod *prod =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds->data, 0);

	MUST_HOLD(prod != MAP_FAILED);
	prod->pub = (s->reader.pos + RECORDED) & LTT_POS_MASK;
	prod->last_ts = s->reader.last_ts + 1;
	prod->count[0] = prod->count[1] = s->reader.count + 2;
	munmap(prod, 4096);
}

/* @old: where the adopted file was, unless there is none. */
static void check_cut(struct stream *s, const struct pair *old, const struct walk_packet *last)
{
	const struct chunk_stream *file = file_sink_file(s->out);
	uint64_t number = file->number ? file->number - 1 : 0;
	struct pair is;
	bool same;

	load_pair(file, number, &is);
	same = old && strcmp(is.names.stream, old->names.stream) == 0;
	MUST_HOLD(is.stream.len == file->bytes && is.index.len == file->index_bytes);
	check_added(same ? old : NULL, &is, last);
	free_pair(&is);
}

/* @was: the files before, by their number. */
static void go_on(struct ringset *set, const struct ringmem_fds *fds, const struct pair *was,
		  bool more)
{
	struct stream *s = &set->streams[0];
	const struct chunk_stream *file = file_sink_file(s->out);
	uint64_t number = file->number ? file->number - 1 : 0;
	bool any = file->fd >= 0;
	struct walk_packet last;
	struct pair is;

	MUST_HOLD(s->reader.released == s->reader.pos);
	if (any) {
		load_pair(file, number, &is);
		MUST_HOLD(is.stream.len == file->bytes && is.index.len == file->index_bytes);
		last = check_adopted(&was[number % MAX_FILES_KEPT], &is);
		MUST_HOLD(s->packets == last.seq + 1);
	}
	if (more) {
		record(fds, s);
		if (stream_cut(s, STREAM_TAKE) > 0)
			check_cut(s, any ? &is : NULL, any ? &last : NULL);
	}
	if (any)
		free_pair(&is);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool limited = size && data[0] & 1, more = size && data[0] & 2;
	struct ringset_spec spec = make_spec(limited);
	struct ringmem_fds fds;
	struct err err = { 0 };
	struct pair was[MAX_FILES_KEPT];
	struct ringset *set;
	uint64_t cut = 0;

	if (trace.fd < 0)
		make_dir();
	if (!size)
		return 0;
	make_ring(&spec, &fds);
	put_files(data + 1, size - 1, limited);
	spec = make_spec(limited);
	MUST_HOLD(ringmem_check(&spec.desc, &err) == 0);
	load_all(&spec, was);
	if (ringset_adopt(&spec, &trace, &fds, &set, &cut, &err) == 0) {
		go_on(set, &fds, was, more);
		(void)!ringset_free(set);
	}
	for (size_t i = 0; i < MAX_FILES_KEPT; i++)
		free_pair(&was[i]);
	close(fds.data);
	close(fds.ctl);
	close(fds.ctl_rw);
	remove_all(trace.index_fd);
	remove_all(trace.fd);
	return 0;
}
