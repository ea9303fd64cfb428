/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dir.h"
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
#define SENT_TRACES (1ull << 62) /* no session daemon gives such a number */
#define WRITER_NICE 10 /* it must get on, too, where programs that record use all CPUs */

/* --- the parts, for a request that is repeated ----------------------------------- */

static size_t parts_bytes(uint32_t nr)
{
	return sizeof(struct snapshot_parts) + nr * sizeof(struct snapshot_part);
}

static uint32_t parts_sum(const struct snapshot_parts *parts)
{
	return crc32c(0, parts->part, parts_bytes(parts->nr) - sizeof(*parts));
}

/* Return: 0 or negative errno. */
static int parts_write(struct snapshot_parts *parts, uint64_t output, int dir_fd)
{
	AUTO_FD int fd = chunk_create_file(dir_fd, PARTS);

	parts->output = output;
	parts->crc32c = parts_sum(parts);
	return fd < 0 ? fd : append_bytes(fd, parts, parts_bytes(parts->nr), 0);
}

/* Return: allocated; NULL: there are none of this output. */
static struct snapshot_parts *parts_read(int at_fd, const char *name, uint64_t output)
{
	AUTO_FD int dir_fd = chunk_open_dir(at_fd, name);
	AUTO_FD int fd = dir_fd < 0 ? -1 : chunk_read_file(dir_fd, PARTS);
	uint64_t bytes = fd < 0 ? 0 : fd_bytes(fd);
	AUTO_FREE struct snapshot_parts *parts = NULL;

	if (bytes < parts_bytes(0) || bytes > parts_bytes(PARTS_MOST))
		return NULL;
	parts = xalloc(bytes);
	if (pread(fd, parts, bytes, 0) != (ssize_t)bytes || parts->output != output ||
	    parts->nr > PARTS_MOST || parts_bytes(parts->nr) != bytes ||
	    parts->crc32c != parts_sum(parts))
		return NULL;
	return TAKE(parts);
}

/* --- memory ---------------------------------------------------------------------- */

static int add_set(struct snapshot *s, const struct ringset *set)
{
	const struct chunk_trace *from = set->config.trace;
	struct chunk_trace *trace = chunk_find(&s->chunk, from->id);
	struct snapshot_parts *parts = s->job->snapshot.parts;

	if (!trace && chunk_copy_trace(&s->chunk, from, from->path,
				       s->job->snapshot.to ? s->job->snapshot.to_id : NULL, &trace,
				       &s->job->err))
		return s->job->err.code;
	for (uint32_t cpu = 0; cpu < set->mem.desc.nr_rings; cpu++) {
		struct snapshot_ring *ring = &s->rings[parts->nr];
		int ret = 0;

		ring->copy = set->copies ? &set->copies[cpu] : &ring->own;
		if (!set->copies)
			ret = ring_copy_init(ring->copy, &set->streams[cpu].reader);
		if (ret < 0)
			return err_errno(&s->job->err, ERR_NO_MEMORY, -ret,
					 "can't copy the buffers");
		parts->part[parts->nr++].answer =
			(struct msg_con_snapshot_ring){ .ring = set->id, .cpu = cpu };
		ring->config = set->config;
		ring->config.trace = trace;
		ring->config.disk = &s->disk;
		ring->config.channel = xstrdup(set->config.channel);
		ring->config.tracefile_size = ring->config.tracefile_count = 0;
	}
	return 0;
}

static bool snapshot_takes(const struct snapshot *s, const struct ringset *set)
{
	uint8_t wanted = s->job->snapshot.remembered;
	uint8_t domain = set->module >= 0 ? REMEMBERED_KERNEL : REMEMBERED_USER;

	return !wanted || (set->remembered && wanted & domain);
}

/* All memory before the first copy, so that all copies are made at nearly the same time. Sets that
 * are overwritten have it already. */
static int snapshot_allocate(struct snapshot *s, const struct list_node *sets)
{
	struct job *job = s->job;
	const struct ringset *set;
	uint64_t bytes = 0, room;
	uint32_t rings = 0;

	list_for_each(set, sets, node) {
		if (!snapshot_takes(s, set))
			continue;
		rings += set->mem.desc.nr_rings;
		bytes += set->copies ? 0 : set->mem.desc.nr_rings * set->mem.desc.data_size;
	}
	s->rings = xalloc((rings + 1) * sizeof(*s->rings));
	job->snapshot.parts = xalloc(parts_bytes(rings));
	room = bytes ? MIN(memfile_available(), memgroup_available()) : 0;
	if (bytes > room)
		return err_set(&job->err, ERR_NO_MEMORY,
			       "a copy of the buffers needs %llu MiB, and %llu MiB of memory are "
			       "available; free some memory, or use smaller buffers",
			       (unsigned long long)bytes >> 20, (unsigned long long)room >> 20);
	list_for_each(set, sets, node)
		if (snapshot_takes(s, set) && add_set(s, set))
			return job->err.code;
	return 0;
}

struct snapshot *snapshot_free(struct snapshot *s)
{
	if (!s)
		return NULL;
	for (uint32_t i = 0; i < s->job->snapshot.parts->nr; i++) {
		ring_copy_fini(&s->rings[i].own);
		free(s->rings[i].config.channel);
	}
	sink_free(s->sink);
	chunk_fini(&s->chunk);
	free(s->rings);
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
	struct snapshot_parts *parts = job->parts;
	uint64_t records = 0, used = 0, part;

	for (uint32_t i = 0; i < parts->nr; i++) {
		const struct msg_con_snapshot_ring *answer = &parts->part[i].answer;
		struct stream *stream = &ringset_find(sets, answer->ring)->streams[answer->cpu];

		stream_update(stream);
		used += stream->reader.raw.count != 0;
	}
	part = job->max_size / MAX(used, (uint64_t)1);
	part = part > sizeof(struct packet_header) ? part - sizeof(struct packet_header) :
						     job->max_size != 0;
	for (uint32_t i = 0; i < parts->nr; i++) {
		s->rings[i].copy->last = job->last;
		s->rings[i].copy->limit = part;
		copy_ring(s->rings[i].copy, &parts->part[i],
			  ringset_find(sets, parts->part[i].answer.ring));
		records += parts->part[i].answer.records;
	}
	if (!records && job->remembered && !(used && job->max_size))
		return err_set(&s->job->err, ERR_NO_EVENT, "no event is remembered");
	if (records || !used || job->last || !job->max_size)
		return 0;
	return err_set(&s->job->err, job->remembered ? ERR_INVALID : ERR_NO_EVENT,
		       "the last sub-buffers of the CPUs have no events, or are larger than the "
		       "snapshot may be (%llu bytes): use a larger --max-size, or smaller "
		       "sub-buffers",
		       (unsigned long long)job->max_size);
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
static char *hidden_name(uint64_t output)
{
	return xasprintf(".snapshot-%llu", (unsigned long long)output);
}

void snapshot_clean(int dir_fd, uint64_t output)
{
	AUTO_FREE char *hidden = hidden_name(output);

	chunk_discard(&(struct chunk_place){ dir_fd, hidden, NULL });
}

static void snapshot_sent(void *data, int error)
{
	*(int *)data = error;
}

/* A spool has a file for a packet that did not arrive. Return: 0 or negative errno. */
static int snapshot_put(struct sink_stream *out, const struct packet_header *header,
			const struct ring_copy *copy, const int *outcome)
{
	struct sink *sink = out->sink;
	int ret = 0;

	for (int i = 0; i < (sink->ops->way == SINK_SPOOLS ? 2 : 1); i++) {
		ret = sink->ops->write(out, header, copy->at);
		if (ret != SINK_SENDING)
			return MIN(ret, 0);
		(void)!sink_settle(sink);
		ret = *outcome;
		if (ret == 0)
			break;
	}
	return ret;
}

/* @again: an earlier consumer may have written it. Return: 0 or negative errno. */
static int snapshot_write_ring(struct sink *sink, const struct snapshot_ring *ring, uint32_t cpu,
			       bool again)
{
	const struct packet_stream stream = stream_config_packets(&ring->config, cpu);
	struct packet_header header = packet_make(&stream), last = { 0 };
	int outcome = -EIO, ret = 0, closed;
	struct sink_stream *out =
		sink_stream_open(sink, &ring->config, cpu, snapshot_sent, &outcome);

	packet_set_body(&header, ring->copy->len);
	header.timestamp_begin = ring->copy->begin_ts;
	header.timestamp_end = ring->copy->end_ts;
	header.events_recorded = ring->copy->count;
	if (sink->ops->way != SINK_SPOOLS) /* whose packets have numbers */
		ret = sink_place(out, NULL, &last, NULL);
	if (ret >= 0 && packet_is_set(&last))
		ret = again ? 0 : -EEXIST;
	else if (ret >= 0)
		ret = snapshot_put(out, &header, ring->copy, &outcome);
	closed = sink_stream_close(out, ret < 0 ? SINK_ABANDONED : SINK_ENDED);
	return ret < 0 ? ret : closed;
}

/* The memory of each copy is given back when it is written. Return: 0 or negative errno. */
static int snapshot_write_rings(struct snapshot *s)
{
	struct snapshot_parts *parts = s->job->snapshot.parts;
	int ret = 0;

	for (uint32_t i = 0; i < parts->nr && ret == 0; i++) {
		if (s->rings[i].copy->count)
			ret = snapshot_write_ring(s->sink, &s->rings[i], parts->part[i].answer.cpu,
						  false);
		ring_copy_fini(&s->rings[i].own);
	}
	return ret == 0 && s->chunk.fd >= 0 ? parts_write(parts, s->job->id, s->chunk.fd) : ret;
}

static void snapshot_write(struct snapshot *s)
{
	static const char *const limits[] = {
		[DISK_MAX_SIZE] = "the session would become larger than its greatest size "
				  "(--max-size); remove older snapshots",
		[DISK_KEEP_FREE] = "the disk would have less free space than it must "
				   "(--keep-free); make room there",
	};
	const struct sink_ops *ops = s->sink->ops;
	const char *name = s->job->snapshot.name, *problem;
	AUTO_FREE char *hidden = hidden_name(s->job->id);
	const struct chunk_place place = { s->dir_fd, hidden, name };
	const struct sink_start start = { .dir_fd = -1, .place = &place, .connect = true };
	struct err why = { 0 };
	int ret = ops->start(s->sink, &start, &why) ? 0 : snapshot_write_rings(s);

	problem = sink_state(s->sink).problem;
	if (ret < 0)
		err_set(&why, ERR_OUTPUT, "%s", *problem ? problem : strerror(-ret));
	ops->end(s->sink, why.code ? SINK_ABANDONED : SINK_ENDED, &why);
	if (why.code && s->disk.limit)
		err_set(&s->job->err, ERR_OUTPUT, "snapshot '%s': %s", name, limits[s->disk.limit]);
	else if (why.code)
		err_set(&s->job->err, ERR_OUTPUT, "snapshot '%s' can't be %s: %s", name,
			s->sink->link ? "sent" : "written", why.text);
}

static void snapshot_rest(void *data)
{
	struct snapshot *s = data;

	ring_copy_rest(&s->rested_ns);
}

static void *snapshot_main(void *data)
{
	const struct sched_param param = { 0 };
	struct snapshot *s = data;

	/* all of them are for this thread alone, and none is needed for correct files */
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, WRITER_NICE);
	snapshot_rest(s); /* it may have been started on the CPU of a producer */
	snapshot_write(s);
	__atomic_store_n(&s->written, 1, __ATOMIC_RELEASE);
	doorbell_ring(s->doorbell);
	return NULL;
}

/* --- for the worker -------------------------------------------------------------- */

static struct snapshot *snapshot_new(struct worker *w, struct job *job, int dir_fd)
{
	static const struct sink_host host = { 0 };
	struct relay_conn_config *relay = &job->snapshot.relay;
	bool is_here = dir_fd == w->config.dir_fd && !relay->addr;
	struct snapshot *s = xalloc(sizeof(*s));
	const struct sink_config config = { true, relay, &s->chunk, &s->disk };

	s->job = job;
	s->dir_fd = dir_fd;
	s->doorbell = &w->doorbell;
	s->disk = (struct disk){ .keep_free = w->disk.keep_free,
				 .max_size = is_here ? w->disk.max_size : 0,
				 .sync = w->disk.sync,
				 .used = is_here ? w->disk.used : 0,
				 .progress = snapshot_rest,
				 .data = s };
	s->used_before = s->disk.used;
	chunk_init_in_memory(&s->chunk, &s->disk);
	relay->spool = true;
	if (job->snapshot.to)
		return s;
	relay->snapshot = xstrdup(job->snapshot.name);
	relay->sync = s->disk.sync == SYNC_NONE ? SYNC_NONE : SYNC_PACKET;
	s->sink = sink_new(&config, &host);
	return s;
}

struct snapshot *snapshot_begin(struct worker *w, struct job *job)
{
	int dir_fd = job->snapshot.dir_fd < 0 ? w->config.dir_fd : job->snapshot.dir_fd;
	struct snapshot_parts *found = job->snapshot.relay.addr || job->snapshot.to ?
					       NULL :
					       parts_read(dir_fd, job->snapshot.name, job->id);
	struct snapshot *s;
	int ret;

	job->snapshot.parts = found;
	if (found) {
		for (uint32_t i = 0; i < found->nr; i++)
			snapshot_note(&found->part[i], &w->sets, true);
		return NULL;
	}
	s = snapshot_new(w, job, dir_fd);
	if (snapshot_allocate(s, &w->sets) || copy_rings(s, &w->sets))
		return snapshot_free(s);
	if (job->snapshot.to) {
		job->snapshot.copied = s;
		return NULL;
	}
	ret = thread_start(&s->thread, snapshot_main, s);
	if (ret < 0) {
		err_errno(&job->err, ERR_INTERNAL, -ret,
			  "can't start a thread that writes the snapshot");
		return snapshot_free(s);
	}
	return s;
}

bool snapshot_is_written(const struct snapshot *s)
{
	return __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
}

void snapshot_finish(struct worker *w, struct snapshot *s)
{
	const struct snapshot_parts *parts = s->job->snapshot.parts;
	uint64_t bytes;

	pthread_join(s->thread, NULL);
	for (uint32_t i = 0; i < parts->nr && !s->job->err.code; i++)
		snapshot_note(&parts->part[i], &w->sets, false);
	if (!s->job->err.code && s->dir_fd == w->config.dir_fd && !s->sink->link) {
		bytes = s->disk.used - s->used_before;
		w->disk.used += bytes;
		w->closed_bytes += bytes;
	}
	snapshot_free(s);
}

/* --- to the relay of another session --------------------------------------------------- */

/* An earlier consumer may have begun with it. Return: 0 or negative errno, or the code in @err. */
static int snapshot_open_trace(struct worker *w, const char *name, const struct chunk_trace *from,
			       struct chunk_trace **ret, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/%s", name, from->path);
	AUTO_FREE char *metadata = xasprintf("%s/metadata", path);
	const struct chunk_trace_spec spec = { .id = SENT_TRACES + ++w->sent_traces,
					       .path = path,
					       .uuid = from->uuid,
					       .may_be_shorter = true,
					       .metadata_fd = -1 };
	const struct sink_ops *ops = w->sink->ops;
	bool found = w->chunk.fd >= 0 && chunk_has(w->chunk.fd, metadata);

	*ret = chunk_find_path(&w->chunk, path);
	if (*ret)
		return 0;
	if ((found ? chunk_trace_continue : chunk_trace_open)(&w->chunk, &spec, ret, err))
		return err->code;
	return ops->open_chunk ? ops->open_chunk(w->sink, *ret, found) : 0;
}

static int snapshot_send_metadata(struct worker *w, const struct chunk_trace *from,
				  struct chunk_trace *to)
{
	const struct sink_ops *ops = w->sink->ops;
	int ret = 0;

	while (ret == 0 && to->metadata_bytes < from->metadata_bytes) {
		AUTO_FREE char *text = NULL;
		uint32_t len = 0;

		ret = chunk_trace_text(from, to->metadata_bytes, &text, &len);
		if (ret == 0)
			ret = ops->append ? ops->append(w->sink, to, text, len) :
					    chunk_append(to, text, len);
	}
	return ret;
}

static int snapshot_send_trace(struct worker *w, struct snapshot *s, const struct chunk_trace *from,
			       struct err *err)
{
	const struct snapshot_parts *parts = s->job->snapshot.parts;
	struct chunk_trace *to = NULL;
	int ret = snapshot_open_trace(w, s->job->snapshot.name, from, &to, err);

	if (ret == 0)
		ret = snapshot_send_metadata(w, from, to);
	for (uint32_t i = 0; i < parts->nr && ret == 0; i++) {
		struct snapshot_ring ring = s->rings[i];

		if (ring.config.trace != from || !ring.copy->count)
			continue;
		ring.config.trace = to;
		ring.config.disk = &w->disk;
		ret = snapshot_write_ring(w->sink, &ring, parts->part[i].answer.cpu,
					  s->job->snapshot.remembered != 0);
		worker_cut_all(w, STREAM_TAKE); /* the session goes on meanwhile */
	}
	if (to && !sink_state(w->sink).behind) /* else with the session: the spool needs it */
		worker_close_trace(w, to);
	return ret;
}

void snapshot_send(struct worker *w, struct job *job)
{
	struct snapshot *s = job->snapshot.copied;
	const struct chunk_trace *from;
	const char *problem;
	int ret = w->sink->link ? 0 : -EINVAL;

	s->job = job;
	list_for_each(from, &s->chunk.traces, node)
		ret = ret ? ret : snapshot_send_trace(w, s, from, &job->err);
	problem = sink_state(w->sink).problem;
	if (ret < 0)
		err_set(&job->err, ERR_OUTPUT, "%s", *problem ? problem : strerror(-ret));
	job->snapshot.sent = true;
}

void snapshot_note_sent(struct worker *w, const struct job *job)
{
	const struct snapshot_parts *parts = job->snapshot.parts;

	for (uint32_t i = 0; i < parts->nr; i++)
		snapshot_note(&parts->part[i], &w->sets, true);
}
