/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "consumerd/now.h"
#include "io/memfile.h"
#include "io/memgroup.h"
#include "store/append.h"
#include "trace/crc32c.h"

#define PARTS ".parts"	  /* file with the struct snapshot_part of all rings */
#define PARTS_MOST 65536u /* rings */
#define PIECE_BYTES (64u << 10)
#define WRITER_NICE 10 /* it must get on, too, where programs that record use all CPUs */

/* --- memory ---------------------------------------------------------------------- */

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

/* At a relay, all snapshots of a session are in its one directory. With a UUID of its own:
 * the traces of two snapshots are not parts of one trace. */
static int add_trace(struct snapshot *s, const struct chunk_trace *from, struct chunk_trace **ret)
{
	uint8_t uuid[16];
	AUTO_FREE char *path = s->is_sent ?
				       xasprintf("%s/%s", s->job->snapshot.name, from->path) :
				       xstrdup(from->path);
	const struct chunk_trace_spec spec = {
		.id = from->id, .path = path, .uuid = uuid, .metadata_fd = -1
	};
	int result = getrandom(uuid, sizeof(uuid), 0) == sizeof(uuid) ? 0 : -EIO;

	uuid[6] = (uuid[6] & 0x0f) | 0x40; /* a random one, RFC 9562 */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	if (result == 0 && chunk_trace_open(&s->copies, &spec, ret, &s->job->err))
		return s->job->err.code;
	if (result == 0)
		result = chunk_copy_metadata(from, *ret);
	return result < 0 ? err_errno(&s->job->err, ERR_INTERNAL, -result,
				      "can't copy the metadata of '%s'", from->path) :
			    0;
}

static int add_set(struct snapshot *s, const struct ringset *set)
{
	struct chunk_trace *trace = chunk_find(&s->copies, set->config.trace->id);

	if (!trace && add_trace(s, set->config.trace, &trace))
		return s->job->err.code;
	for (uint32_t cpu = 0; cpu < set->mem.desc.nr_rings; cpu++) {
		struct snapshot_ring *ring = &s->rings[s->nr_rings];
		int ret = 0;

		ring->lent = set->copies != NULL;
		if (ring->lent)
			ring->copy = set->copies[cpu];
		else
			ret = ring_copy_init(&ring->copy, &set->streams[cpu].reader);
		if (ret < 0)
			return err_errno(&s->job->err, ERR_NO_MEMORY, -ret,
					 "can't copy the buffers");
		s->parts[s->nr_rings++].answer =
			(struct msg_con_snapshot_ring){ .ring = set->id, .cpu = cpu };
		ring->trace = trace;
		ring->config = set->config;
		ring->config.disk = &s->disk;
		ring->config.channel = xstrdup(set->config.channel);
		ring->config.tracefile_size = ring->config.tracefile_count = 0;
	}
	return 0;
}

/* All memory before the first copy, so that all copies are made at nearly the same time. Sets that
 * are overwritten have it already. */
static int snapshot_allocate(struct snapshot *s, const struct list_node *sets)
{
	const struct ringset *set;
	size_t rings = 0;
	uint64_t bytes = 0;

	list_for_each(set, sets, node) {
		rings += set->mem.desc.nr_rings;
		bytes += set->copies ? 0 : set->mem.desc.nr_rings * set->mem.desc.data_size;
	}
	s->rings = xalloc((rings + 1) * sizeof(*s->rings));
	s->parts = xalloc((rings + 1) * sizeof(*s->parts));
	if (check_memory(s, bytes))
		return s->job->err.code;
	list_for_each(set, sets, node)
		if (add_set(s, set))
			return s->job->err.code;
	return 0;
}

struct snapshot *snapshot_free(struct snapshot *s)
{
	for (size_t i = 0; s->rings && i < s->nr_rings; i++) {
		if (!s->rings[i].lent)
			ring_copy_fini(&s->rings[i].copy);
		free(s->rings[i].config.channel);
	}
	chunk_fini(&s->copies);
	free(s->rings);
	free(s->parts);
	free(s);
	return NULL;
}

/* --- copying --------------------------------------------------------------------- */

static void copy_ring(struct ring_copy *copy, struct snapshot_part *part, struct ringset *set)
{
	struct msg_con_snapshot_ring *answer = &part->answer;
	struct stream *stream = &set->streams[answer->cpu];
	uint64_t begin = now_ns();

	ring_copy_take(copy, &stream->reader, set->mem.start_ts);
	answer->copy_ns = now_ns() - begin;
	stream_update(stream);
	for (int i = 0; i < LOST_KINDS; i++)
		answer->lost += stream->reader.lost[i];
	answer->records = copy->count;
	answer->before = copy->before;
	answer->bytes = copy->count ? sizeof(struct packet_header) + copy->len : 0;
	answer->begin = copy->count || copy->whole ? copy->begin_ts : copy->taken_ts;
	answer->end = copy->taken_ts;
	part->end = copy->end;
}

/* Each ring that has records may have the same part of the size. Return: number of these. */
static uint64_t snapshot_limit_rings(struct snapshot *s, const struct list_node *sets)
{
	uint64_t used = 0, part;

	for (size_t i = 0; i < s->nr_rings; i++) {
		const struct msg_con_snapshot_ring *answer = &s->parts[i].answer;
		struct stream *stream = &ringset_find(sets, answer->ring)->streams[answer->cpu];

		stream_update(stream);
		used += stream->reader.raw.count != 0;
	}
	for (size_t i = 0; i < s->nr_rings; i++)
		s->rings[i].copy.last = s->job->snapshot.last;
	part = s->job->snapshot.max_size / MAX(used, (uint64_t)1);
	for (size_t i = 0; i < s->nr_rings; i++)
		s->rings[i].copy.limit = part > sizeof(struct packet_header) ?
						 part - sizeof(struct packet_header) :
						 s->job->snapshot.max_size != 0;
	return used;
}

static int copy_rings(struct snapshot *s, const struct list_node *sets)
{
	uint64_t records = 0, used = snapshot_limit_rings(s, sets);

	for (size_t i = 0; i < s->nr_rings; i++) {
		copy_ring(&s->rings[i].copy, &s->parts[i],
			  ringset_find(sets, s->parts[i].answer.ring));
		records += s->parts[i].answer.records;
	}
	if (records || !used || s->job->snapshot.last || !s->job->snapshot.max_size)
		return 0;
	return err_set(&s->job->err, ERR_NO_EVENT,
		       "the last sub-buffers of the CPUs have no events, or are larger than the "
		       "snapshot may be (%llu bytes): use a larger --max-size, or smaller "
		       "sub-buffers",
		       (unsigned long long)s->job->snapshot.max_size);
}

/* --- the parts, for a request that is repeated ----------------------------------- */

/* The file begins with it, and is read by a later consumer on this machine only. */
struct snapshot_head {
	uint64_t output;
	uint32_t nr;
	uint32_t crc32c; /* of the parts */
};

/* Return: 0 or negative errno. */
static int snapshot_write_parts(const struct snapshot *s, int dir_fd)
{
	AUTO_FD int fd =
		openat(dir_fd, PARTS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	const size_t bytes = s->nr_rings * sizeof(*s->parts);
	const struct snapshot_head head = { s->job->id, (uint32_t)s->nr_rings,
					    crc32c(0, s->parts, bytes) };
	int ret;

	if (fd < 0)
		return -errno;
	ret = append_bytes(fd, &head, sizeof(head), 0);
	return ret < 0 ? ret : append_bytes(fd, s->parts, bytes, sizeof(head));
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
	struct snapshot_head head;
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

/* Note in its ring that a snapshot has these records. @again: it may have been noted. */
static void snapshot_note(const struct snapshot_part *part, const struct list_node *sets,
			  bool again)
{
	const struct msg_con_snapshot_ring *answer = &part->answer;
	struct ringset *set = ringset_find(sets, answer->ring);
	struct stream *stream;

	if (!set || !ringset_is_kept(set) || answer->cpu >= set->mem.desc.nr_rings)
		return;
	stream = &set->streams[answer->cpu];
	stream_update(stream);
	if (answer->records > part->end || part->end > stream->reader.raw.count ||
	    (again && part->end <= stream->reader.cons->saved_end))
		return;
	ring_set_saved(&stream->reader, answer->records, part->end, answer->bytes);
	stream_update(stream);
}

struct snapshot *snapshot_recall(const struct snapshot_spec *spec)
{
	size_t nr;
	AUTO_FREE struct snapshot_part *parts =
		spec->job->snapshot.relay.addr ? NULL : snapshot_read_parts(spec, &nr);
	struct snapshot *s = parts ? xalloc(sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->job = spec->job;
	chunk_init_in_memory(&s->copies, &s->disk);
	s->parts = TAKE(parts);
	s->nr_rings = nr;
	for (size_t i = 0; i < nr; i++)
		snapshot_note(&s->parts[i], spec->sets, true);
	return s;
}

/* --- writing --------------------------------------------------------------------- */

/* One packet with all records. The checksum is made by the writer. */
static struct packet_header snapshot_packet(const struct snapshot_ring *ring, uint32_t cpu)
{
	const struct packet_stream stream = stream_config_packets(&ring->config, cpu);
	struct packet_header header = packet_make(&stream);

	packet_set_body(&header, ring->copy.len);
	header.timestamp_begin = ring->copy.begin_ts;
	header.timestamp_end = ring->copy.end_ts;
	header.events_recorded = ring->copy.count;
	return header;
}

/* Return: 0 or negative errno. */
static int write_ring(struct snapshot *s, struct snapshot_ring *ring, uint32_t cpu,
		      const struct chunk_trace *trace)
{
	const struct ring_copy *copy = &ring->copy;
	struct packet_header header;
	struct chunk_stream file;
	int ret;

	if (!copy->count)
		return 0;
	ring->config.trace = trace;
	header = snapshot_packet(ring, cpu);
	chunk_stream_init(&file, &ring->config, cpu);
	ret = chunk_stream_begin(&file, &header);
	header.crc32c = packet_checksum(&header, NULL, 0);
	for (uint64_t at = 0, len; ret == 0 && at < copy->len; at += len) {
		ring_copy_rest(&s->rested_ns);
		len = MIN(copy->len - at, (uint64_t)PIECE_BYTES);
		header.crc32c = crc32c(header.crc32c, copy->at + at, len);
		ret = chunk_stream_body(&file, at, copy->at + at, len);
	}
	ring_copy_rest(&s->rested_ns);
	if (ret == 0)
		ret = chunk_stream_sum(&file, &header);
	if (ret == 0)
		ret = chunk_stream_finish(&file, &header);
	if (ret == 0)
		ret = chunk_stream_sync(&file);
	chunk_stream_close(&file);
	ring_copy_rest(&s->rested_ns);
	return ret;
}

/* Return: 0, a negative errno, or the code in the job's error. */
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
			ret = write_ring(s, &s->rings[i], s->parts[i].answer.cpu, to);
	return ret;
}

static void snapshot_failed(struct snapshot *s, int error)
{
	const char *name = s->job->snapshot.name;
	struct err *err = &s->job->err;

	if (error == -EDQUOT && s->disk.limit == DISK_MAX_SIZE)
		err_set(err, ERR_OUTPUT,
			"snapshot '%s': the session would become larger than its greatest "
			"size (--max-size); remove older snapshots",
			name);
	else if (error == -EDQUOT && s->disk.limit == DISK_KEEP_FREE)
		err_set(err, ERR_OUTPUT,
			"snapshot '%s': the disk would have less free space than it must "
			"(--keep-free); make room there",
			name);
	else
		err_errno(err, ERR_OUTPUT, -error, "snapshot '%s' can't be written", name);
}

/* A snapshot is there as a whole, or not at all. */
static void snapshot_write(struct snapshot *s)
{
	const struct chunk_place place = { s->dir_fd, s->hidden, s->job->snapshot.name };
	const struct chunk_trace *trace;
	struct chunk chunk;
	int ret = chunk_open(&chunk, &place, &s->disk);

	if (ret == -EEXIST)
		err_set(&s->job->err, ERR_OUTPUT,
			"snapshot '%s' can't be written: '%s' in the output directory is in the "
			"way, and is no directory; remove it",
			place.name, place.hidden);
	else if (ret < 0)
		snapshot_failed(s, ret);
	if (ret < 0)
		return;
	list_for_each(trace, &s->copies.traces, node)
		ret = ret ? ret : write_trace(s, &chunk, trace);
	if (ret == 0)
		ret = snapshot_write_parts(s, chunk.fd);
	if (ret == 0)
		ret = chunk_close(&chunk);
	if (ret < 0)
		snapshot_failed(s, ret);
	chunk_fini(&chunk);
	if (ret)
		chunk_discard(&place);
}

/* --- sending --------------------------------------------------------------------- */

static void snapshot_watch(void *data, int fd)
{
	(void)data, (void)fd;
}

/* Return: 0 or negative errno. */
static int snapshot_send_ring(struct relay_conn *link, struct snapshot_ring *ring, uint32_t cpu)
{
	struct packet_header header, last;
	uint32_t id = 0, epoch;
	int ret;

	ring->config.trace = ring->trace;
	header = snapshot_packet(ring, cpu);
	ret = relay_conn_stream(link, &ring->config, cpu, &id, &last, NULL);
	epoch = relay_conn_epoch(link);
	if (ret == 0)
		ret = relay_conn_packet(link, id, &header, ring->copy.at);
	if (ret == 0 && !relay_conn_stream_end(link, id, epoch))
		ret = -EIO;
	return ret > 0 ? -EEXIST : ret;
}

/* At the relay it is part of the session's directory. A failure leaves it unfinished there. */
static void snapshot_send(struct snapshot *s)
{
	struct relay_conn *link =
		relay_conn_new(&s->job->snapshot.relay, &s->copies.traces);
	int ret;

	relay_conn_set_watch(link, snapshot_watch, NULL);
	ret = relay_conn_open(link);
	if (ret == 0)
		ret = relay_conn_all_metadata(link);
	for (size_t i = 0; i < s->nr_rings && ret == 0; i++)
		if (s->rings[i].copy.count)
			ret = snapshot_send_ring(link, &s->rings[i], s->parts[i].answer.cpu);
	if (ret < 0)
		err_set(&s->job->err, ERR_OUTPUT, "snapshot '%s' can't be sent: %s",
			s->job->snapshot.name,
			*relay_conn_problem(link) ? relay_conn_problem(link) :
							strerror(-ret));
	relay_conn_end(link, ret < 0);
	relay_conn_free(link);
}

/* --- the thread ------------------------------------------------------------------ */

/* Outputs may share a directory. */
static void snapshot_name_hidden(uint64_t output, char ret[32])
{
	snprintf(ret, 32, ".snapshot-%llu", (unsigned long long)output);
}

void snapshot_clean(int dir_fd, uint64_t output)
{
	char name[32];

	snapshot_name_hidden(output, name);
	chunk_discard(&(struct chunk_place){ .dir_fd = dir_fd, .hidden = name });
}

static void *snapshot_main(void *data)
{
	const struct sched_param param = { 0 };
	struct snapshot *s = data;

	/* all of them are for this thread alone, and none is needed for correct files */
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, WRITER_NICE);
	ring_copy_rest(&s->rested_ns); /* it may have been started on the CPU of a producer */
	if (s->is_sent)
		snapshot_send(s);
	else
		snapshot_write(s);
	__atomic_store_n(&s->written, 1, __ATOMIC_RELEASE);
	doorbell_ring(s->doorbell);
	return NULL;
}

/* --- for the worker -------------------------------------------------------------- */

static int snapshot_start(struct snapshot *s)
{
	int ret = worker_start_thread(&s->thread, snapshot_main, s);

	return ret < 0 ? err_errno(&s->job->err, ERR_INTERNAL, -ret,
				   "can't start a thread that writes the snapshot") :
			 0;
}

int snapshot_begin(const struct snapshot_spec *spec, struct snapshot **ret)
{
	struct snapshot *s = xalloc(sizeof(*s));

	s->job = spec->job;
	chunk_init_in_memory(&s->copies, &s->disk);
	s->dir_fd = spec->dir_fd;
	snapshot_name_hidden(s->job->id, s->hidden);
	s->is_sent = s->job->snapshot.relay.addr != NULL;
	s->is_elsewhere = spec->is_elsewhere || s->is_sent;
	s->doorbell = spec->doorbell;
	s->disk = (struct disk){ .keep_free = spec->disk->keep_free,
				 .max_size = s->is_elsewhere ? 0 : spec->disk->max_size,
				 .sync = spec->disk->sync,
				 .used = s->is_elsewhere ? 0 : spec->disk->used };
	s->used_before = s->disk.used;
	s->job->snapshot.relay.spool = s->job->snapshot.relay.snapshot = true;
	s->job->snapshot.relay.sync = s->disk.sync == SYNC_NONE ? SYNC_NONE : SYNC_PACKET;
	if (snapshot_allocate(s, spec->sets) || copy_rings(s, spec->sets) || snapshot_start(s)) {
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
	for (size_t i = 0; i < s->nr_rings && !s->job->err.code; i++)
		snapshot_note(&s->parts[i], sets, false);
}
