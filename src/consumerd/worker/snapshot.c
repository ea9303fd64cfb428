/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "consumerd/now.h"
#include "io/memfile.h"
#include "io/memgroup.h"
#include "priv.h"
#include "store/append.h"
#include "trace/crc32c.h"

#define PARTS ".parts"	  /* file with the struct snapshot_part of all rings */
#define PARTS_MOST 65536u /* rings */
#define WRITER_NICE 10 /* it must get on, too, where programs that record use all CPUs */

/* --- memory ---------------------------------------------------------------------- */

static int check_memory(uint64_t bytes, struct err *err)
{
	uint64_t room = bytes ? MIN(memfile_available(), memgroup_available()) : 0;

	if (bytes <= room)
		return 0;
	return err_set(err, ERR_NO_MEMORY,
		       "a copy of the buffers needs %llu MiB, and %llu MiB of memory are "
		       "available; free some memory, or use smaller buffers",
		       (unsigned long long)bytes >> 20, (unsigned long long)room >> 20);
}

static int add_set(struct snapshot *s, const struct ringset *set)
{
	const struct chunk_trace *from = set->config.trace;
	struct chunk_trace *trace = chunk_find(&s->chunk, from->id);
	struct job *job = s->job;
	/* at a relay, all snapshots of a session are in its one directory */
	AUTO_FREE char *path = s->is_sent ? xasprintf("%s/%s", job->snapshot.name, from->path) :
					    xstrdup(from->path);

	if (!trace && chunk_copy_trace(&s->chunk, from, path, &trace, &job->err))
		return job->err.code;
	for (uint32_t cpu = 0; cpu < set->mem.desc.nr_rings; cpu++) {
		struct snapshot_ring *ring = &s->rings[s->nr_rings];
		int ret = 0;

		ring->lent = set->copies != NULL;
		if (ring->lent)
			ring->copy = set->copies[cpu];
		else
			ret = ring_copy_init(&ring->copy, &set->streams[cpu].reader);
		if (ret < 0)
			return err_errno(&job->err, ERR_NO_MEMORY, -ret, "can't copy the buffers");
		s->parts[s->nr_rings++].answer =
			(struct msg_con_snapshot_ring){ .ring = set->id, .cpu = cpu };
		ring->config = set->config;
		ring->config.trace = trace;
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
	if (check_memory(bytes, &s->job->err))
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
	chunk_fini(&s->chunk);
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

/* Each ring that has records may have the same part of the size. */
static int copy_rings(struct snapshot *s, const struct list_node *sets)
{
	const struct job_snapshot *job = &s->job->snapshot;
	uint64_t records = 0, used = 0, part;

	for (size_t i = 0; i < s->nr_rings; i++) {
		const struct msg_con_snapshot_ring *answer = &s->parts[i].answer;
		struct stream *stream = &ringset_find(sets, answer->ring)->streams[answer->cpu];

		stream_update(stream);
		used += stream->reader.raw.count != 0;
	}
	part = job->max_size / MAX(used, (uint64_t)1);
	part = part > sizeof(struct packet_header) ? part - sizeof(struct packet_header) :
						     job->max_size != 0;
	for (size_t i = 0; i < s->nr_rings; i++) {
		s->rings[i].copy.last = job->last;
		s->rings[i].copy.limit = part;
		copy_ring(&s->rings[i].copy, &s->parts[i],
			  ringset_find(sets, s->parts[i].answer.ring));
		records += s->parts[i].answer.records;
	}
	if (records || !used || job->last || !job->max_size)
		return 0;
	return err_set(&s->job->err, ERR_NO_EVENT,
		       "the last sub-buffers of the CPUs have no events, or are larger than the "
		       "snapshot may be (%llu bytes): use a larger --max-size, or smaller "
		       "sub-buffers",
		       (unsigned long long)job->max_size);
}

/* --- the parts, for a request that is repeated ----------------------------------- */

/* The file begins with it, and is read by a later consumer on this machine only. */
struct snapshot_head {
	uint64_t output;
	uint32_t nr;
	uint32_t crc32c; /* of the parts */
};

/* Return: 0 or negative errno. */
static int snapshot_write_parts(const struct snapshot *s)
{
	AUTO_FD int fd = chunk_create_file(s->chunk.fd, PARTS);
	const size_t bytes = s->nr_rings * sizeof(*s->parts);
	const struct snapshot_head head = { s->job->id, (uint32_t)s->nr_rings,
					    crc32c(0, s->parts, bytes) };
	int ret = fd < 0 ? fd : append_bytes(fd, &head, sizeof(head), 0);

	return ret < 0 ? ret : append_bytes(fd, s->parts, bytes, sizeof(head));
}

/* Return: @ret_nr parts, allocated; NULL: there are none of this output. */
static struct snapshot_part *snapshot_read_parts(int at_fd, const struct job *job, size_t *ret_nr)
{
	AUTO_FD int dir_fd = chunk_open_dir(at_fd, job->snapshot.name);
	AUTO_FD int fd = dir_fd < 0 ? -1 : chunk_read_file(dir_fd, PARTS);
	AUTO_FREE struct snapshot_part *parts = NULL;
	struct snapshot_head head;
	size_t bytes;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.output != job->id || head.nr > PARTS_MOST)
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

/* --- the thread: one packet of each ring -------------------------------------------- */

/* Outputs may share a directory. */
static struct chunk_place snapshot_place(int dir_fd, uint64_t output, const char *name,
					 char hidden[32])
{
	snprintf(hidden, 32, ".snapshot-%llu", (unsigned long long)output);
	return (struct chunk_place){ dir_fd, hidden, name };
}

void snapshot_clean(int dir_fd, uint64_t output)
{
	char hidden[32];
	const struct chunk_place place = snapshot_place(dir_fd, output, NULL, hidden);

	chunk_discard(&place);
}

/* The outcome is that of sink_settle(). */
static void ignore_sent(void *data, int error)
{
	(void)data, (void)error;
}

/* Return: 0 or negative errno. */
static int snapshot_write_ring(struct sink *sink, const struct snapshot_ring *ring, uint32_t cpu)
{
	const struct packet_stream stream = stream_config_packets(&ring->config, cpu);
	struct packet_header header = packet_make(&stream), last = { 0 };
	struct sink_stream *out = sink_stream_open(sink, &ring->config, cpu, ignore_sent, NULL);
	int ret = sink_attach(out, &last), closed;

	packet_set_body(&header, ring->copy.len);
	header.timestamp_begin = ring->copy.begin_ts;
	header.timestamp_end = ring->copy.end_ts;
	header.events_recorded = ring->copy.count;
	if (ret >= 0 && packet_is_set(&last))
		ret = -EEXIST;
	if (ret >= 0)
		ret = sink->ops->write(out, &header, ring->copy.at);
	if (ret >= 0)
		ret = sink_settle(sink);
	closed = sink_stream_close(out, ret < 0 ? SINK_ABANDONED : SINK_ENDED);
	return ret < 0 ? ret : closed;
}

/* A directory is there as a whole, or not at all. At the relay, a failure leaves it unfinished.
 * Return: 0 or negative errno. */
static int snapshot_write(struct snapshot *s, struct sink *sink, const struct chunk_place *place)
{
	int ret = s->is_sent ? relay_conn_open(sink->link) : chunk_store(&s->chunk, place);

	if (ret == 0 && s->is_sent)
		ret = relay_conn_all_metadata(sink->link);
	for (size_t i = 0; i < s->nr_rings && ret == 0; i++)
		if (s->rings[i].copy.count)
			ret = snapshot_write_ring(sink, &s->rings[i], s->parts[i].answer.cpu);
	if (s->is_sent)
		relay_conn_end(sink->link, ret < 0);
	else if (ret == 0)
		ret = snapshot_write_parts(s);
	if (ret == 0 && !s->is_sent)
		ret = chunk_close(&s->chunk);
	return ret;
}

static void snapshot_failed(struct snapshot *s, int error, const char *hidden, const char *problem)
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
	else if (error == -EEXIST && !s->is_sent && s->chunk.fd < 0)
		err_set(err, ERR_OUTPUT,
			"snapshot '%s' can't be written: '%s' in the output directory is in the "
			"way, and is no directory; remove it",
			name, hidden);
	else
		err_set(err, ERR_OUTPUT, "snapshot '%s' can't be %s: %s", name,
			s->is_sent ? "sent" : "written", *problem ? problem : strerror(-error));
}

static void snapshot_rest(void *data)
{
	struct snapshot *s = data;

	ring_copy_rest(&s->rested_ns);
}

static void *snapshot_main(void *data)
{
	static const struct sink_host host = { 0 };
	const struct sched_param param = { 0 };
	struct snapshot *s = data;
	const struct sink_config config = { .has_dir = true,
					    .relay = &s->job->snapshot.relay,
					    .chunk = &s->chunk,
					    .disk = &s->disk };
	struct sink *sink = sink_new(&config, &host);
	char hidden[32];
	const struct chunk_place place =
		snapshot_place(s->dir_fd, s->job->id, s->job->snapshot.name, hidden);
	int ret;

	/* all of them are for this thread alone, and none is needed for correct files */
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, WRITER_NICE);
	snapshot_rest(s); /* it may have been started on the CPU of a producer */
	ret = snapshot_write(s, sink, &place);
	if (ret < 0) {
		snapshot_failed(s, ret, hidden, sink_state(sink).problem);
		if (!s->is_sent)
			chunk_discard(&place);
	}
	sink_free(sink);
	__atomic_store_n(&s->written, 1, __ATOMIC_RELEASE);
	doorbell_ring(s->doorbell);
	return NULL;
}

/* --- for the worker -------------------------------------------------------------- */

static struct snapshot *snapshot_new(struct worker *w, struct job *job)
{
	bool is_here = job->snapshot.dir_fd < 0 && !job->snapshot.relay.addr;
	struct snapshot *s = xalloc(sizeof(*s));

	s->job = job;
	s->is_sent = job->snapshot.relay.addr != NULL;
	s->is_elsewhere = !is_here;
	s->dir_fd = job->snapshot.dir_fd < 0 ? w->config.dir_fd : job->snapshot.dir_fd;
	s->doorbell = &w->doorbell;
	s->disk = (struct disk){ .keep_free = w->disk.keep_free,
				 .max_size = is_here ? w->disk.max_size : 0,
				 .sync = w->disk.sync,
				 .used = is_here ? w->disk.used : 0,
				 .progress = snapshot_rest,
				 .data = s };
	s->used_before = s->disk.used;
	chunk_init_in_memory(&s->chunk, &s->disk);
	return s;
}

struct snapshot *snapshot_begin(struct worker *w, struct job *job)
{
	struct snapshot *s = snapshot_new(w, job);
	int ret;

	job->snapshot.relay.spool = job->snapshot.relay.snapshot = true;
	job->snapshot.relay.sync = s->disk.sync == SYNC_NONE ? SYNC_NONE : SYNC_PACKET;
	if (snapshot_allocate(s, &w->sets) || copy_rings(s, &w->sets))
		return snapshot_free(s);
	ret = thread_start(&s->thread, snapshot_main, s);
	if (ret < 0) {
		err_errno(&job->err, ERR_INTERNAL, -ret,
			  "can't start a thread that writes the snapshot");
		return snapshot_free(s);
	}
	return s;
}

struct snapshot *snapshot_recall(struct worker *w, struct job *job)
{
	struct snapshot *s = snapshot_new(w, job);

	if (!s->is_sent)
		s->parts = snapshot_read_parts(s->dir_fd, job, &s->nr_rings);
	if (!s->parts)
		return snapshot_free(s);
	for (size_t i = 0; i < s->nr_rings; i++)
		snapshot_note(&s->parts[i], &w->sets, true);
	return s;
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
