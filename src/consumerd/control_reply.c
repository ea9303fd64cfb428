/* SPDX-License-Identifier: GPL-2.0-only */
#include "control_reply.h"

#include <errno.h>
#include <stdio.h>

#include "consumerd/worker/snapshot.h"
#include "proto/consumer.h"

/* Requests of an earlier daemon are not answered on this connection: a request of its own may have
 * the same serial. */
void control_send(struct control *c, const struct encoder *enc)
{
	if (!c->requester_gone)
		c->ops->send(c, enc);
}

void control_begin_reply(struct encoder *enc, void *buf, size_t cap, uint16_t type, uint32_t serial,
			 const struct err *err)
{
	encoder_init(enc, buf, cap);
	encode_header(enc, type, MSG_REPLY, serial);
	encode_u32(enc, (uint32_t)err->code);
	encode_str(enc, err->text);
}

void control_answer(struct control *c, uint16_t type, uint32_t serial, const struct err *err)
{
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), type, serial, err);
	control_send(c, &enc);
}

int control_unknown(struct err *err, const char *what, uint64_t id)
{
	return err_set(err, ERR_INVALID, "there is no %s %llu", what, (unsigned long long)id);
}

static void control_answer_ring(struct control *c, uint32_t serial, const struct rep_con_ring *rep)
{
	struct err fine = { 0 };
	uint8_t buf[128];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_ring, serial, &fine);
	rep_con_ring_encode(&enc, rep);
	control_send(c, &enc);
}

void control_answer_kept(struct control *c, uint32_t serial)
{
	control_answer_ring(c, serial, &(struct rep_con_ring){ -1, -1, -1, -1, 0 });
}

static struct msg_con_stream stream_counters(const struct ring_ref *ring, uint32_t cpu)
{
	struct stats stats;
	uint64_t used = 0;

	if (ring->set)
		ringset_peek(ring->set, cpu, &ring->boxes[cpu], &stats, &used);
	else
		stats_read(&ring->boxes[cpu], &stats);
	return (struct msg_con_stream){
		.ring = ring->node.id,
		.cpu = cpu,
		.recorded = stats.recorded,
		.written = stats.written,
		.lost_full = stats.lost[LOST_FULL],
		.lost_size = stats.lost[LOST_SIZE],
		.lost_busy = stats.lost[LOST_BUSY],
		.lost_output = stats.lost_output,
		.lost_invalid = stats.lost_invalid,
		.bytes = stats.bytes,
		.packets = stats.packets,
		.used = used,
		.size = stats.size,
		.waiting = stats.recorded - stats.released,
		.lost_stalled = stats.stalled,
		.slow_ns = stats.slow_ns,
		.slow_bytes = stats.slow_bytes,
		.not_sampled = stats.not_sampled,
		.overwritten = stats.overwritten,
		.cleared = stats.cleared,
		.produced = ring->set ? stats.produced : 0,
		.unreported = ring->set ? 0 : stats.unreported,
		.memory = ring->set && !cpu ? ringset_memory(ring->set) : 0,
	};
}

void control_send_counters(struct control *c, uint32_t serial, const struct ring_ref *ring)
{
	for (uint32_t cpu = 0; cpu < ring->nr; cpu++) {
		struct msg_con_stream msg = stream_counters(ring, cpu);
		uint8_t buf[256];
		struct encoder enc;

		encoder_init(&enc, buf, sizeof(buf));
		encode_header(&enc, MSG_con_stream, MSG_ITEM, serial);
		msg_con_stream_encode(&enc, &msg);
		control_send(c, &enc);
	}
}

void control_send_all_counters(struct control *c, uint32_t serial, const struct output *output)
{
	const struct ring_ref *ring;

	list_for_each(ring, &output->rings, output_node)
		control_send_counters(c, serial, ring);
}

static void send_held(struct control *c, uint32_t serial, const struct msg_held *msg)
{
	struct encoder enc;
	uint8_t buf[128];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_held, MSG_ITEM, serial);
	msg_held_encode(&enc, msg);
	control_send(c, &enc);
}

void control_send_held(struct control *c, uint32_t serial, const struct output *output)
{
	const int dir = worker_dir_fd(output->worker);
	const int doorbell = worker_doorbell_fd(output->worker);
	const struct trace_ref *trace;
	const struct ring_ref *ring;
	char name[64];

	snprintf(name, sizeof(name), "output-%llu", (unsigned long long)output->node.id);
	send_held(c, serial, &(struct msg_held){ name, dir, doorbell, -1 });
	list_for_each(trace, &output->traces, output_node) {
		snprintf(name, sizeof(name), "trace-%llu", (unsigned long long)trace->node.id);
		if (trace->metadata >= 0)
			send_held(c, serial, &(struct msg_held){ name, trace->metadata, -1, -1 });
	}
	list_for_each(ring, &output->rings, output_node) {
		snprintf(name, sizeof(name), "ring-%llu", (unsigned long long)ring->node.id);
		if (ring->data >= 0)
			send_held(c, serial,
				  &(struct msg_held){ name, ring->data, ring->ctl_rw,
						      ring->module >= 0 ? ring->module :
									  doorbell });
	}
}

/* --- jobs that workers have done ---------------------------------------------------- */

/* For a session daemon that has lost them: see control_send_held(). */
static void keep_fds(struct ring_ref *ring, struct job_ring *job)
{
	if (ring->closing)
		return;
	ring->data = TAKE_FD(job->fds.data);
	ring->ctl_rw = TAKE_FD(job->fds.ctl_rw);
	ring->module = TAKE_FD(job->module);
}

static void answer_ring(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->id);
	struct rep_con_ring rep = { -1, -1, -1, -1, job->ring.cut_bytes };

	ring->adopting = false;
	if (job->err.code) {
		control_answer(c, job->type, job->serial, &job->err);
		ring_ref_free(ring);
		return;
	}
	if (!job->ring.set) { /* its files were only repaired */
		ring->closing = ring->closed = true;
		ring->repaired = true;
		control_send_counters(c, job->serial, ring);
	}
	if (!ring->closing)
		ring->set = job->ring.set;
	if (ring->set)
		ringmem_add_to_clock(&ring->set->mem, ring->output->clock_add);
	if (ring->set && ring->switched)
		ringset_switch(ring->set, ring->on);
	if (!job->ring.adopt)
		rep = (struct rep_con_ring){ job->ring.fds.data, job->ring.fds.ctl,
					     job->ring.fds.ctl_rw,
					     worker_doorbell_fd(ring->output->worker), 0 };
	control_answer_ring(c, job->serial, &rep);
	keep_fds(ring, &job->ring);
}

static void report_output_error(struct control *c, const struct job *note)
{
	const struct output *output = note->owner;
	struct msg_con_output_error msg = {
		.output = output->node.id,
		.error = (uint32_t)note->note.error,
		.text = note->err.text,
		.limit = note->note.limit,
		.spooled = note->note.spooled,
	};
	uint8_t buf[1024];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_output_error, 0, 0);
	msg_con_output_error_encode(&enc, &msg);
	control_send(c, &enc);
}

static void report_output(struct control *c, struct output *output, int error, const char *text)
{
	struct job note = { .owner = output, .note = { .error = error, .limit = error } };

	snprintf(note.err.text, sizeof(note.err.text), "%s", text);
	report_output_error(c, &note);
}

void control_watch_output(struct control *c, struct output *output)
{
	bool hangs = worker_hangs(output->worker);

	if (hangs == output->hanging || output->failing)
		return;
	output->hanging = hangs;
	report_output(c, output, hangs ? ETIMEDOUT : 0,
		      hangs ? "nothing is written: its file system has not answered for seconds" :
			      "");
}

static void noted(struct control *c, struct job *note)
{
	struct output *output = note->owner;

	output->failing = note->note.error;
	output->hanging = false; /* its worker has continued: the report is valid */
	report_output_error(c, note);
}

static void damaged(struct control *c, struct job *note)
{
	const struct output *output = note->owner;
	struct msg_con_ring_damaged msg = { .output = output->node.id, .ring = note->id };
	struct encoder enc;
	uint8_t buf[64];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_ring_damaged, 0, 0);
	msg_con_ring_damaged_encode(&enc, &msg);
	control_send(c, &enc);
}

static void output_ended(struct control *c, struct job *job)
{
	/* also where it failed: the request to close it wants the account */
	if (job->type)
		control_send_all_counters(c, job->serial, job->owner);
	output_free(job->owner);
	if (job->type)
		control_answer(c, job->type, job->serial, &job->err);
	if (c->ending && list_empty(&c->all))
		c->ops->ended(c);
}

static void send_snapshot_ring(struct control *c, uint32_t serial,
			       const struct msg_con_snapshot_ring *msg)
{
	struct encoder enc;
	uint8_t buf[128];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_con_snapshot_ring, MSG_ITEM, serial);
	msg_con_snapshot_ring_encode(&enc, msg);
	control_send(c, &enc);
}

static void answer_trace(struct control *c, struct job *job)
{
	struct trace_ref *trace = trace_ref_find(c, job->id);
	struct rep_con_trace rep = { .metadata = job->trace.metadata };
	uint8_t buf[1024];
	struct encoder enc;

	if (job->err.code) {
		trace_ref_free(trace);
		control_answer(c, job->type, job->serial, &job->err);
		return;
	}
	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_trace_encode(&enc, &rep);
	control_send(c, &enc);
	if (job->trace.metadata >= 0)
		trace->metadata = TAKE_FD(job->trace.metadata);
}

static void answer_snapshot(struct control *c, struct job *job)
{
	for (uint32_t i = 0; !job->err.code && i < job->snapshot.parts->nr; i++)
		send_snapshot_ring(c, job->serial, &job->snapshot.parts->part[i].answer);
	control_answer(c, job->type, job->serial, &job->err);
}

static void answer_turned(struct control *c, struct job *job)
{
	struct rep_con_turn rep = { job->turn.bytes, job->turn.cleared, job->turn.waits };
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_turn_encode(&enc, &rep);
	control_send(c, &enc);
}

static void answer_archives(struct control *c, struct job *job)
{
	struct rep_con_archive_remove rep = { job->archives.left, job->archives.removed };
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_archive_remove_encode(&enc, &rep);
	control_send(c, &enc);
}

static void answer_reclaimed(struct control *c, struct job *job)
{
	struct rep_con_reclaim rep = { job->reclaim.bytes, job->reclaim.left };
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_reclaim_encode(&enc, &rep);
	control_send(c, &enc);
}

static void answer_started(struct control *c, struct job *job)
{
	struct output *output = job->owner;
	struct rep_con_output_open rep = {
		.doorbell = worker_doorbell_fd(output->worker),
		.dir = job->start.path ? worker_dir_fd(output->worker) : -1,
	};
	uint8_t buf[1024];
	struct encoder enc;

	if (job->err.code && !output->closing)
		output_end(output);
	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_output_open_encode(&enc, &rep);
	control_send(c, &enc);
}

static void answer_appended(struct control *c, struct job *job)
{
	struct rep_con_metadata_append rep = { job->metadata.bytes };
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_metadata_append_encode(&enc, &rep);
	control_send(c, &enc);
}

/* Its last counters; there is none whose adoption has failed. */
static void ring_closed(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->id);

	if (ring)
		ring->closed = true;
	if (!job->type)
		return; /* no request waits for it */
	if (ring)
		control_send_counters(c, job->serial, ring);
	else if (!job->err.code)
		control_unknown(&job->err, "open ring set", job->id);
	control_answer(c, job->type, job->serial, &job->err);
}

/* All earlier requests, of any connection, are done. */
static void waited(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->id);

	if (job->type == MSG_con_ring_close) {
		ring_closed(c, job);
	} else if (job->type == MSG_con_ring && ring) {
		if (ring->repaired)
			control_send_counters(c, job->serial, ring);
		control_answer_kept(c, job->serial);
	} else if (job->type == MSG_con_ring) {
		err_set(&job->err, ERR_OUTPUT, "the ring set could not be adopted");
		control_answer(c, job->type, job->serial, &job->err);
	} else {
		control_send_all_counters(c, job->serial, job->owner);
		control_answer(c, job->type, job->serial, &job->err);
	}
}

static void trace_closed(struct control *c, struct job *job)
{
	if (!job->err.code)
		trace_ref_free(trace_ref_find(c, job->id));
	control_answer(c, job->type, job->serial, &job->err);
}

static void answer_plain(struct control *c, struct job *job)
{
	control_answer(c, job->type, job->serial, &job->err);
}

/* NULL: no request waits for it. */
static void (*const answers[JOB_KINDS])(struct control *c, struct job *job) = {
	[JOB_START] = answer_started,
	[JOB_TRACE] = answer_trace,
	[JOB_METADATA] = answer_appended,
	[JOB_KALLSYMS] = answer_plain,
	[JOB_TRACE_CLOSE] = trace_closed,
	[JOB_RING] = answer_ring,
	[JOB_RING_CLOSE] = ring_closed,
	[JOB_FLUSH] = answer_plain,
	[JOB_SNAPSHOT] = answer_snapshot,
	[JOB_ARCHIVES] = answer_archives,
	[JOB_RECLAIM] = answer_reclaimed,
	[JOB_TURN] = answer_turned,
	[JOB_WAIT] = waited,
	[JOB_COMPLETE] = NULL,
	[JOB_END] = output_ended,
	[JOB_NOTE] = noted,
	[JOB_DAMAGE] = damaged,
};

/* Copies of remembered events go to the worker that sends them, and back. Return: whether the job
 * has gone to a worker. */
static bool control_pass_on(struct control *c, struct job *job)
{
	bool back = job->snapshot.sent;
	struct output *next = output_find(c, back ? job->id : job->snapshot.to);

	if (!job->snapshot.copied || job->err.code || job->snapshot.noted)
		return false;
	job->snapshot.noted = back;
	if (next && !next->closing) {
		worker_post(next->worker, job);
		return true;
	}
	if (!back)
		control_unknown(&job->err, "output", job->snapshot.to);
	return false;
}

void control_on_done(struct loop_fd *source, uint32_t events)
{
	struct control *c = container_of(source, struct control, done_source);
	struct job *job;
	uint64_t count;

	(void)events;
	if (read(source->fd, &count, sizeof(count)) < 0)
		return;
	while ((job = job_queue_pop(&c->done))) {
		if (job->kind == JOB_SNAPSHOT && control_pass_on(c, job))
			continue;
		c->requester_gone = job->type && job->connection != c->connection;
		if (answers[job->kind])
			answers[job->kind](c, job);
		c->requester_gone = false;
		job_free(job);
	}
}
