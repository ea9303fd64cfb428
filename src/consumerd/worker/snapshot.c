/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "consumerd/now.h"
#include "io/memfile.h"
#include "io/memgroup.h"
#include "store/append.h"
#include "trace/crc32c.h"

#define STACK_BYTES (256u << 10)
#define PARTS ".parts"	  /* file with the struct snapshot_part of all rings */
#define PARTS_MOST 65536u /* rings */
#define PIECE_BYTES (64u << 10)
#define WRITER_NICE 10 /* it must get on, too, where programs that record use all CPUs */

/* --- memory ---------------------------------------------------------------------- */

/* Rings that are overwritten are the session's; in other sessions, all rings of applications. */
static bool snapshot_wants(const struct ringset *set)
{
	return set->module < 0;
}

static int check_memory(struct snapshot *s, uint64_t bytes)
{
	uint64_t room = bytes ? MIN(memfile_available(), memgroup_available()) : 0;

	if (bytes <= room)
		return 0;
	return err_set(&s->job->err, ERR_NO_MEMORY,
		       "a copy of the buffers needs %llu MiB, and %llu MiB of memory are "
		       "available; free some memory, or use smaller buffers",
		       (unsigned long long)bytes >> 20, (unsigned long long)room >> 20);
}

static int new_uuid(uint8_t ret[16])
{
	if (getrandom(ret, 16, 0) != 16)
		return -EIO;
	ret[6] = (ret[6] & 0x0f) | 0x40; /* a random one, RFC 9562 */
	ret[8] = (ret[8] & 0x3f) | 0x80;
	return 0;
}

/* With a UUID of its own: the traces of two snapshots are not parts of one trace. */
static int add_trace(struct snapshot *s, const struct chunk_trace *from, struct chunk_trace **ret)
{
	uint8_t uuid[16];
	const struct chunk_trace_spec spec = {
		.id = from->id, .path = from->path, .uuid = uuid, .metadata_fd = -1
	};
	int result = new_uuid(uuid);

	if (result == 0 && chunk_trace_open(&s->copies, &spec, ret, &s->job->err))
		return s->job->err.code;
	if (result == 0)
		result = chunk_copy_metadata(from, *ret);
	return result < 0 ? err_errno(&s->job->err, ERR_INTERNAL, -result,
				      "can't copy the metadata of '%s'", from->path) :
			    0;
}

static int add_ring(struct snapshot *s, const struct ringset *set, uint32_t cpu,
		    const struct chunk_trace *trace)
{
	struct snapshot_ring *ring = &s->rings[s->nr_rings];
	int ret = 0;

	ring->lent = set->copies != NULL;
	if (ring->lent)
		ring->copy = set->copies[cpu];
	else
		ret = ring_copy_init(&ring->copy, &set->streams[cpu].reader);
	if (ret < 0)
		return err_errno(&s->job->err, ERR_NO_MEMORY, -ret, "can't copy the buffers");
	ring->set = set->id;
	ring->cpu = cpu;
	ring->config = set->config;
	ring->trace = trace;
	ring->config.disk = &s->disk;
	ring->config.channel = xstrdup(set->config.channel);
	ring->config.tracefile_size = ring->config.tracefile_count = 0;
	s->nr_rings++;
	return 0;
}

static int add_sets(struct snapshot *s, const struct snapshot_spec *spec,
		    const struct chunk_trace *trace)
{
	struct chunk_trace *copy = NULL;
	const struct ringset *set;

	list_for_each(set, spec->sets, node) {
		if (set->config.trace != trace || !snapshot_wants(set))
			continue;
		if (!copy && add_trace(s, trace, &copy))
			return s->job->err.code;
		for (uint32_t cpu = 0; cpu < set->mem.desc.nr_rings; cpu++)
			if (add_ring(s, set, cpu, copy))
				return s->job->err.code;
	}
	return 0;
}

/* All memory before the first copy, so that all copies are made at nearly the same time. Sets that
 * are overwritten have it already. */
static int snapshot_allocate(struct snapshot *s, const struct snapshot_spec *spec)
{
	const struct chunk_trace *trace;
	const struct ringset *set;
	size_t rings = 0;
	uint64_t bytes = 0;

	list_for_each(set, spec->sets, node) {
		rings += set->mem.desc.nr_rings;
		bytes += set->copies ? 0 : set->mem.desc.nr_rings * set->mem.desc.data_size;
	}
	s->rings = xalloc((rings + 1) * sizeof(*s->rings));
	if (check_memory(s, bytes))
		return s->job->err.code;
	list_for_each(trace, spec->traces, node)
		if (add_sets(s, spec, trace))
			return s->job->err.code;
	return 0;
}

struct snapshot *snapshot_free(struct snapshot *s)
{
	for (size_t i = 0; i < s->nr_rings; i++) {
		if (!s->rings[i].lent)
			ring_copy_fini(&s->rings[i].copy);
		free(s->rings[i].config.channel);
	}
	chunk_fini(&s->copies);
	free(s->rings);
	free(s);
	return NULL;
}

/* --- copying --------------------------------------------------------------------- */

static struct ringset *snapshot_find_set(const struct list_node *sets, uint64_t id)
{
	struct ringset *set;

	list_for_each(set, sets, node)
		if (set->id == id)
			return set;
	return NULL;
}

static void copy_ring(struct snapshot_ring *ring, struct ringset *set)
{
	const struct ring_reader *reader = &set->streams[ring->cpu].reader;
	uint64_t begin = now_ns();

	ring_copy_take(&ring->copy, reader, set->mem.start_ts);
	ring->copy_ns = now_ns() - begin;
	stream_update(&set->streams[ring->cpu]);
	for (int i = 0; i < LOST_KINDS; i++)
		ring->lost += reader->lost[i];
}

/* Each ring that has records may have the same part of the size. */
static void snapshot_limit_rings(struct snapshot *s, const struct list_node *sets)
{
	uint64_t used = 0, part;

	for (size_t i = 0; i < s->nr_rings; i++) {
		struct ringset *set = snapshot_find_set(sets, s->rings[i].set);
		struct stream *stream = &set->streams[s->rings[i].cpu];

		stream_update(stream);
		used += stream->reader.raw.count != 0;
	}
	part = s->job->snapshot.max_size / MAX(used, (uint64_t)1);
	for (size_t i = 0; i < s->nr_rings; i++)
		s->rings[i].copy.limit = part > sizeof(struct packet_header) ?
						 part - sizeof(struct packet_header) :
						 s->job->snapshot.max_size != 0;
}

static int snapshot_is_empty(struct snapshot *s)
{
	if (s->job->snapshot.max_size)
		return err_set(
			&s->job->err, ERR_NO_EVENT,
			"the last sub-buffers of the CPUs have no events, or are larger than "
			"the snapshot may be (%llu bytes): use a larger --max-size, or "
			"smaller sub-buffers",
			(unsigned long long)s->job->snapshot.max_size);
	return err_set(&s->job->err, ERR_NO_EVENT,
		       "the buffers have no events: no snapshot is written");
}

static int copy_rings(struct snapshot *s, const struct list_node *sets)
{
	uint64_t records = 0;

	snapshot_limit_rings(s, sets);
	for (size_t i = 0; i < s->nr_rings; i++) {
		copy_ring(&s->rings[i], snapshot_find_set(sets, s->rings[i].set));
		records += s->rings[i].copy.count;
	}
	return records ? 0 : snapshot_is_empty(s);
}

/* --- the parts, for a request that is repeated ----------------------------------- */

/* Read by a later consumer on this machine only. */
struct snapshot_part {
	uint64_t set, cpu, count, before, end, lost, bytes, begin_ts, taken_ts, copy_ns;
};

struct snapshot_parts {
	uint64_t output;
	uint32_t nr;
	uint32_t crc32c; /* of the parts */
};

/* Return: 0 or negative errno. */
static int snapshot_write_parts(const struct snapshot *s, int dir_fd)
{
	AUTO_FD int fd =
		openat(dir_fd, PARTS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	struct snapshot_parts head = { .output = s->job->id, .nr = (uint32_t)s->nr_rings };
	AUTO_FREE struct snapshot_part *parts = xalloc((s->nr_rings + 1) * sizeof(*parts));
	size_t bytes = s->nr_rings * sizeof(*parts);
	int ret;

	for (size_t i = 0; i < s->nr_rings; i++) {
		const struct snapshot_ring *ring = &s->rings[i];
		const struct ring_copy *copy = &ring->copy;

		parts[i] = (struct snapshot_part){
			.set = ring->set,
			.cpu = ring->cpu,
			.count = copy->count,
			.before = copy->before,
			.end = copy->end,
			.lost = ring->lost,
			.bytes = ring->bytes,
			.begin_ts = copy->count || copy->whole ? copy->begin_ts : copy->taken_ts,
			.taken_ts = copy->taken_ts,
			.copy_ns = ring->copy_ns,
		};
	}
	if (fd < 0)
		return -errno;
	head.crc32c = crc32c(0, parts, bytes);
	ret = append_bytes(fd, &head, sizeof(head), 0);
	return ret < 0 ? ret : append_bytes(fd, parts, bytes, sizeof(head));
}

/* Return: @ret_nr parts, allocated; NULL: there are none of this output. */
static struct snapshot_part *snapshot_read_parts(const struct snapshot_spec *spec, size_t *ret_nr)
{
	AUTO_FD int dir_fd = openat(spec->dir_fd, spec->job->snapshot.name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD int fd =
		dir_fd < 0 ? -1 :
			     openat(dir_fd, PARTS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE struct snapshot_part *parts = NULL;
	struct snapshot_parts head;
	size_t bytes;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.output != spec->job->id || head.nr > PARTS_MOST)
		return NULL;
	bytes = head.nr * sizeof(*parts);
	parts = xalloc(bytes + 1);
	if (pread(fd, parts, bytes, sizeof(head)) != (ssize_t)bytes ||
	    crc32c(0, parts, bytes) != head.crc32c)
		return NULL;
	*ret_nr = head.nr;
	return TAKE(parts);
}

static void snapshot_recall_ring(struct snapshot_ring *ring, const struct snapshot_part *part,
				 struct ringset *set)
{
	struct stream *stream;

	*ring = (struct snapshot_ring){
		.set = part->set,
		.cpu = (uint32_t)part->cpu,
		.lent = true, /* it has no room */
		.lost = part->lost,
		.bytes = part->bytes,
		.copy_ns = part->copy_ns,
		.copy = { .count = part->count,
			  .before = part->before,
			  .end = part->end,
			  .whole = true,
			  .begin_ts = part->begin_ts,
			  .taken_ts = part->taken_ts },
	};
	if (!set || !ringset_is_overwritten(set) || part->cpu >= set->mem.desc.nr_rings)
		return;
	stream = &set->streams[part->cpu];
	stream_update(stream);
	if (part->count > part->end || part->end > stream->reader.raw.count ||
	    part->end <= stream->reader.cons->saved_end) /* noted already */
		return;
	ring_set_saved(&stream->reader, &ring->copy, part->bytes);
	stream_update(stream);
}

struct snapshot *snapshot_recall(const struct snapshot_spec *spec)
{
	size_t nr;
	AUTO_FREE struct snapshot_part *parts = snapshot_read_parts(spec, &nr);
	struct snapshot *s = parts ? xalloc(sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->job = spec->job;
	chunk_init_in_memory(&s->copies, &s->disk);
	s->rings = xalloc((nr + 1) * sizeof(*s->rings));
	s->nr_rings = nr;
	for (size_t i = 0; i < nr; i++)
		snapshot_recall_ring(&s->rings[i], &parts[i],
				     snapshot_find_set(spec->sets, parts[i].set));
	return s;
}

/* --- writing --------------------------------------------------------------------- */

/* Return: 0 or negative errno. */
static int snapshot_write_body(struct snapshot *s, struct chunk_stream *file,
			       struct packet_header *header, const struct ring_copy *copy)
{
	int ret = 0;

	header->crc32c = packet_checksum(header, NULL, 0);
	for (uint64_t at = 0, len; ret == 0 && at < copy->len; at += len) {
		len = MIN(copy->len - at, (uint64_t)PIECE_BYTES);
		header->crc32c = crc32c(header->crc32c, copy->at + at, len);
		ret = chunk_stream_body(file, at, copy->at + at, len);
		ring_copy_rest(&s->rested_ns);
	}
	return ret < 0 ? ret : chunk_stream_sum(file, header);
}

static int snapshot_write_packet(struct snapshot *s, struct chunk_stream *file,
				 struct packet_header *header, const struct ring_copy *copy)
{
	int ret = chunk_stream_begin(file, header);

	ring_copy_rest(&s->rested_ns);
	if (ret == 0)
		ret = snapshot_write_body(s, file, header, copy);
	if (ret == 0)
		ret = chunk_stream_finish(file, header);
	return ret == 0 ? chunk_stream_sync(file) : ret;
}

static int write_ring(struct snapshot *s, struct snapshot_ring *ring,
		      const struct chunk_trace *trace)
{
	const struct ring_copy *copy = &ring->copy;
	struct packet_header header;
	struct packet_stream stream;
	struct chunk_stream file;
	int ret;

	if (!copy->count)
		return 0;
	ring->config.trace = trace;
	stream = stream_config_packets(&ring->config, ring->cpu);
	header = packet_make(&stream);
	packet_set_body(&header, copy->len);
	header.timestamp_begin = copy->begin_ts;
	header.timestamp_end = copy->end_ts;
	header.events_recorded = copy->count;
	chunk_stream_init(&file, &ring->config, ring->cpu);
	ret = snapshot_write_packet(s, &file, &header, copy);
	if (ret == 0)
		ring->bytes = header.packet_size / 8;
	chunk_stream_close(&file);
	ring_copy_rest(&s->rested_ns);
	return ret;
}

static int snapshot_failed(struct snapshot *s, int error)
{
	struct err *err = &s->job->err;

	if (error == -EDQUOT && s->disk.limit == DISK_MAX_SIZE)
		return err_set(err, ERR_OUTPUT,
			       "snapshot '%s': the session would become larger than its greatest "
			       "size (--max-size); remove older snapshots",
			       s->job->snapshot.name);
	if (error == -EDQUOT && s->disk.limit == DISK_KEEP_FREE)
		return err_set(err, ERR_OUTPUT,
			       "snapshot '%s': the disk would have less free space than it must "
			       "(--keep-free); make room there",
			       s->job->snapshot.name);
	return err_errno(err, ERR_OUTPUT, -error, "snapshot '%s' can't be written",
			 s->job->snapshot.name);
}

static int write_trace(struct snapshot *s, struct chunk *chunk, const struct chunk_trace *from)
{
	const struct chunk_trace_spec spec = { .id = from->id,
					       .path = from->path,
					       .uuid = from->uuid };
	struct chunk_trace *to;
	int ret;

	if (chunk_trace_open(chunk, &spec, &to, &s->job->err))
		return s->job->err.code;
	ring_copy_rest(&s->rested_ns);
	ret = chunk_copy_metadata(from, to);
	for (size_t i = 0; i < s->nr_rings && ret == 0; i++)
		if (s->rings[i].trace == from)
			ret = write_ring(s, &s->rings[i], to);
	return ret < 0 ? snapshot_failed(s, ret) : 0;
}

/* Outputs may share a directory. */
static void snapshot_name_unfinished(uint64_t output, char ret[32])
{
	snprintf(ret, 32, ".snapshot-%llu", (unsigned long long)output);
}

void snapshot_clean(int dir_fd, uint64_t output)
{
	char name[32];

	snapshot_name_unfinished(output, name);
	chunk_discard(&(struct chunk_place){ .dir_fd = dir_fd, .hidden = name });
}

static void snapshot_fill(struct snapshot *s, struct chunk *chunk)
{
	const struct chunk_trace *trace;
	int ret;

	list_for_each(trace, &s->copies.traces, node)
		if (write_trace(s, chunk, trace))
			return;
	ret = snapshot_write_parts(s, chunk->fd);
	if (ret == 0)
		ret = chunk_close(chunk);
	if (ret < 0)
		snapshot_failed(s, ret);
}

/* A snapshot is there as a whole, or not at all. */
static void snapshot_write(struct snapshot *s)
{
	const struct chunk_place place = { s->dir_fd, s->unfinished, s->job->snapshot.name };
	struct chunk chunk;
	int ret = chunk_open(&chunk, &place, &s->disk);

	if (ret == -EEXIST)
		err_set(&s->job->err, ERR_OUTPUT,
			"snapshot '%s' can't be written: '%s' in the output directory is in the "
			"way, and is no directory; remove it",
			s->job->snapshot.name, s->unfinished);
	else if (ret < 0)
		snapshot_failed(s, ret);
	if (ret < 0)
		return;
	snapshot_fill(s, &chunk);
	chunk_fini(&chunk);
	if (s->job->err.code)
		chunk_discard(&place);
}

/* --- the thread ------------------------------------------------------------------ */

static void *snapshot_main(void *data)
{
	const struct sched_param param = { 0 };
	struct snapshot *s = data;

	/* all of them are for this thread alone, and none is needed for correct files */
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, WRITER_NICE);
	ring_copy_rest(&s->rested_ns); /* it may have been started on the CPU of a producer */
	snapshot_write(s);
	__atomic_store_n(&s->written, 1, __ATOMIC_RELEASE);
	doorbell_ring(s->doorbell);
	return NULL;
}

static int snapshot_start_thread(struct snapshot *s)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&s->thread, &attr, snapshot_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return error ? err_errno(&s->job->err, ERR_INTERNAL, error,
				 "can't start a thread that writes the snapshot") :
		       0;
}

/* --- for the worker -------------------------------------------------------------- */

int snapshot_begin(const struct snapshot_spec *spec, struct snapshot **ret)
{
	struct snapshot *s = xalloc(sizeof(*s));

	s->job = spec->job;
	chunk_init_in_memory(&s->copies, &s->disk);
	s->dir_fd = spec->dir_fd;
	snapshot_name_unfinished(s->job->id, s->unfinished);
	s->is_elsewhere = spec->is_elsewhere;
	s->doorbell = spec->doorbell;
	s->disk = (struct disk){ .keep_free = spec->disk->keep_free,
				 .max_size = s->is_elsewhere ? 0 : spec->disk->max_size,
				 .sync = spec->disk->sync,
				 .used = s->is_elsewhere ? 0 : spec->disk->used };
	s->used_before = s->disk.used;
	if (snapshot_allocate(s, spec) || copy_rings(s, spec->sets) || snapshot_start_thread(s)) {
		snapshot_free(s);
		return spec->job->err.code;
	}
	*ret = s;
	return 0;
}

bool snapshot_is_written(const struct snapshot *s)
{
	return __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
}

void snapshot_finish(struct snapshot *s, const struct list_node *sets)
{
	pthread_join(s->thread, NULL);
	for (size_t i = 0; i < s->nr_rings && !s->job->err.code; i++) {
		const struct snapshot_ring *ring = &s->rings[i];
		struct ringset *set = snapshot_find_set(sets, ring->set);

		if (!set || !ringset_is_overwritten(set))
			continue;
		ring_set_saved(&set->streams[ring->cpu].reader, &ring->copy, ring->bytes);
		stream_update(&set->streams[ring->cpu]);
	}
}
