/* SPDX-License-Identifier: GPL-2.0-only */
/* control_reply.c - answers that can be given at once, and counters. */
#include "control_priv.h"

#include <stdio.h>

/* This connection hears nothing of requests by an earlier daemon: the serial
 * may be that of a question of its own. */
void control_send(struct control *c, const struct encoder *enc)
{
	if (!c->asker_gone)
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

void request_answer(const struct request *rq, const struct err *err)
{
	control_answer(rq->control, rq->header->type, rq->header->serial, err);
}

int request_is_bad(struct err *err)
{
	return err_set(err, ERR_BAD_MESSAGE, "the message could not be decoded");
}

int request_unknown(struct err *err, const char *what, uint64_t id)
{
	return err_set(err, ERR_INVALID, "there is no %s %llu", what, (unsigned long long)id);
}

int request_taken(struct err *err, const char *what, uint64_t id)
{
	return err_set(err, ERR_INVALID, "there is a %s %llu already", what,
		       (unsigned long long)id);
}

struct job *request_job(const struct request *rq, enum job_kind kind, struct output *output)
{
	struct job *job = job_new(kind, output);

	job->type = rq->header->type;
	job->serial = rq->header->serial;
	job->life = rq->control->life;
	return job;
}

/* To be answered when what the worker was asked before is done. */
void request_answer_behind(const struct request *rq, struct output *output, uint64_t ring)
{
	struct job *job = request_job(rq, JOB_WAIT, output);

	job->spec.id = ring;
	worker_post(output->worker, job);
}

void control_answer_all_adopted(const struct request *rq, const struct err *err)
{
	struct rep_con_adopted rep = { .hides = 1 };
	uint8_t buf[128];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_adopted, rq->header->serial, err);
	rep_con_adopted_encode(&enc, &rep);
	control_send(rq->control, &enc);
}

void control_answer_adopted(struct control *c, uint32_t serial,
			    const struct rep_con_ring_adopt *rep)
{
	struct err fine = { 0 };
	uint8_t buf[128];
	struct encoder enc;

	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_ring_adopt, serial, &fine);
	rep_con_ring_adopt_encode(&enc, rep);
	control_send(c, &enc);
}

void control_answer_kept(struct control *c, uint32_t serial, const struct ring_ref *ring)
{
	struct rep_con_ring_adopt rep = { 0, 0 };
	struct stats stats;

	for (uint32_t i = 0; i < ring->nr; i++) {
		stats_read(&ring->boxes[i], &stats);
		rep.records += stats.written;
	}
	control_answer_adopted(c, serial, &rep);
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
		.waiting = stats.recorded - stats.taken,
		.lost_stalled = stats.stalled,
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

/* Is a ring set that has counters already still being taken over? */
static bool is_adopting(const struct output *output)
{
	const struct ring_ref *ring;

	list_for_each(ring, &output->rings, output_node)
		if (ring->adopting)
			return true;
	return false;
}

static void answer_stats(const struct request *rq, const struct output *output,
			 const struct err *err)
{
	struct rep_con_stats rep = { .spooled = worker_spooled(output->worker) };
	struct encoder enc;
	uint8_t buf[64];

	worker_clock(output->worker, &rep.clock_offset_ns, &rep.clock_error_ns);
	control_begin_reply(&enc, buf, sizeof(buf), MSG_con_stats, rq->header->serial, err);
	rep_con_stats_encode(&enc, &rep);
	control_send(rq->control, &enc);
}

int on_stats(const struct request *rq, struct err *err)
{
	struct req_con_stats req;
	struct output *output;

	if (req_con_stats_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	output = output_find(rq->control, req.output);
	if (!output)
		return request_unknown(err, "output", req.output);
	if (is_adopting(output) && !output->closing) {
		request_answer_behind(rq, output, 0);
		return 0;
	}
	control_watch_output(rq->control, output);
	control_send_all_counters(rq->control, rq->header->serial, output);
	answer_stats(rq, output, err);
	return 0;
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
	const struct ring_ref *ring;
	char name[64];

	snprintf(name, sizeof(name), "output-%llu", (unsigned long long)output->node.id);
	send_held(c, serial, &(struct msg_held){ name, dir, doorbell, -1 });
	list_for_each(ring, &output->rings, output_node) {
		snprintf(name, sizeof(name), "ring-%llu", (unsigned long long)ring->node.id);
		if (ring->data >= 0)
			send_held(c, serial,
				  &(struct msg_held){ name, ring->data, ring->ctl_rw,
						      ring->module >= 0 ? ring->module :
									  doorbell });
	}
}
