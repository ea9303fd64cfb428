/* SPDX-License-Identifier: GPL-2.0-only */
/* control_done.c - jobs that workers have done: answers to the requests for them. */
#include "control_priv.h"

#include <errno.h>
#include <stdio.h>

/* For a session daemon that has lost them: see control_send_held(). */
static void keep_fds(struct ring_ref *ring, struct job *job)
{
	if (ring->closing)
		return;
	ring->data = TAKE_FD(job->fds.data);
	ring->ctl_rw = TAKE_FD(job->fds.ctl_rw);
	ring->module = TAKE_FD(job->module);
}

static void control_done_ring_open(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->spec.id);
	struct rep_con_ring_open rep = {
		.data = job->fds.data,
		.ctl = job->fds.ctl,
		.ctl_rw = job->fds.ctl_rw,
		.doorbell = worker_doorbell_fd(ring->output->worker),
	};
	uint8_t buf[1024];
	struct encoder enc;

	ring->adopting = false;
	if (job->err.code) {
		control_answer(c, job->type, job->serial, &job->err);
		ring_ref_free(ring);
		return;
	}
	if (!job->set) { /* its files were only repaired */
		ring->closing = ring->closed = true;
		ring->repaired = true;
		control_send_counters(c, job->serial, ring);
	}
	if (!ring->closing)
		ring->set = job->set;
	if (ring->set && ring->switched)
		ringset_switch(ring->set, ring->on);
	if (job->kind == JOB_RING_ADOPT) {
		control_answer_adopted(c, job->serial,
				       &(struct rep_con_ring_adopt){ job->bytes, job->records });
	} else {
		control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
		rep_con_ring_open_encode(&enc, &rep);
		control_send(c, &enc);
	}
	keep_fds(ring, job);
}

static void report_output_error(struct control *c, const struct job *note)
{
	const struct output *output = note->owner;
	struct msg_con_output_error msg = {
		.output = output->node.id,
		.error = (uint32_t)note->error,
		.text = note->err.text,
		.limit = note->limit,
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
	struct job note = { .owner = output, .error = error, .limit = error };

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

	output->failing = note->error;
	output->hanging = false; /* it has moved, and what it says counts */
	report_output_error(c, note);
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

static void answer_started(struct control *c, const struct job *job)
{
	const struct output *output = job->owner;
	struct rep_con_output_open rep = {
		.doorbell = worker_doorbell_fd(output->worker),
		.dir = job->path ? worker_dir_fd(output->worker) : -1,
	};
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_output_open_encode(&enc, &rep);
	control_send(c, &enc);
}

static void answer_appended(struct control *c, const struct job *job)
{
	struct rep_con_metadata_append rep = { job->bytes };
	uint8_t buf[1024];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), job->type, job->serial, &job->err);
	rep_con_metadata_append_encode(&enc, &rep);
	control_send(c, &enc);
}

/* Its last counters; there is none whose adoption has failed. */
static void ring_closed(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->spec.id);

	if (ring)
		ring->closed = true;
	if (!job->type)
		return; /* nobody asked */
	if (ring)
		control_send_counters(c, job->serial, ring);
	else if (!job->err.code)
		request_unknown(&job->err, "open ring set", job->spec.id);
	control_answer(c, job->type, job->serial, &job->err);
}

/* Everything that was asked for before is done, by any connection. */
static void waited(struct control *c, struct job *job)
{
	struct ring_ref *ring = ring_ref_find(c, job->spec.id);

	if (job->type == MSG_con_ring_close) {
		ring_closed(c, job);
	} else if (job->type == MSG_con_ring_adopt && ring) {
		if (ring->repaired)
			control_send_counters(c, job->serial, ring);
		control_answer_kept(c, job->serial, ring);
	} else if (job->type == MSG_con_ring_adopt) {
		err_set(&job->err, ERR_OUTPUT, "the ring set could not be taken over");
		control_answer(c, job->type, job->serial, &job->err);
	} else {
		control_send_all_counters(c, job->serial, job->owner);
		control_answer(c, job->type, job->serial, &job->err);
	}
}

static void job_done(struct control *c, struct job *job)
{
	struct output *output = job->owner;

	switch (job->kind) {
	case JOB_NOTE:
		noted(c, job);
		return;
	case JOB_RING_OPEN:
	case JOB_RING_ADOPT:
		control_done_ring_open(c, job);
		return;
	case JOB_END:
		output_ended(c, job);
		return;
	case JOB_START:
		if (job->err.code && !output->closing)
			control_end_output(output);
		answer_started(c, job);
		return;
	case JOB_COMPLETE:
		return; /* nobody waits for it */
	case JOB_WAIT:
		waited(c, job);
		return;
	case JOB_METADATA:
		answer_appended(c, job);
		return;
	case JOB_RING_CLOSE:
		ring_closed(c, job);
		return;
	case JOB_TRACE_CLOSE:
		if (!job->err.code)
			trace_ref_free(trace_ref_find(c, job->id));
		break;
	case JOB_TRACE_OPEN:
	case JOB_TRACE_ADOPT:
		if (job->err.code)
			trace_ref_free(trace_ref_find(c, job->id));
		break;
	default:
		break;
	}
	control_answer(c, job->type, job->serial, &job->err);
}

void control_done_ready(struct loop_fd *source, uint32_t events)
{
	struct control *c = container_of(source, struct control, done_source);
	struct job *job;
	uint64_t count;

	(void)events;
	if (read(source->fd, &count, sizeof(count)) < 0)
		return;
	while ((job = job_queue_pop(&c->done))) {
		c->asker_gone = job->type && job->life != c->life;
		job_done(c, job);
		c->asker_gone = false;
		job_free(job);
	}
}
