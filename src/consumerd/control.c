/* SPDX-License-Identifier: GPL-2.0-only */
#include "control.h"

#include <string.h>

#include "control_priv.h"

/* One that is still being opened is switched then. */
static void switch_ring(struct ring_ref *ring, bool on)
{
	ring->switched = true;
	ring->on = on;
	if (ring->set)
		ringset_switch(ring->set, on);
}

/* A ring that is not there any more is not recorded to. */
static int on_ring_enable(const struct request *rq, struct err *err)
{
	struct req_con_ring_enable req;
	struct msg_con_ring_ref ref;

	if (req_con_ring_enable_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	if (!request_output(rq, req.output, err))
		return err->code;
	while (msg_con_ring_ref_next(&req.rings, &ref)) {
		struct ring_ref *ring = ring_ref_find(rq->control, ref.ring);

		if (!ring || ring->closing || ring->output->node.id != req.output)
			request_unknown(err, "open ring set", ref.ring);
		else
			switch_ring(ring, req.on);
	}
	request_answer(rq, err);
	return 0;
}

static int on_output_flush(const struct request *rq, struct err *err)
{
	struct req_con_output_flush req;
	struct output *output;

	if (req_con_output_flush_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	output = request_output(rq, req.output, err);
	if (!output)
		return err->code;
	worker_post(output->worker, request_job(rq, JOB_FLUSH, output));
	return 0;
}

static int on_ring_close(const struct request *rq, struct err *err)
{
	struct req_con_ring_close req;
	struct ring_ref *ring;
	struct job *job;

	if (req_con_ring_close_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	ring = ring_ref_find(rq->control, req.ring);
	if (!ring || ring->output->closing ||
	    (ring->closing && ring->closing_life == rq->control->life))
		return request_unknown(err, "open ring set", req.ring);
	if (ring->closing) { /* an earlier daemon asked, and did not hear the answer */
		ring->closing_life = rq->control->life;
		request_answer_behind(rq, ring->output, req.ring);
		return 0;
	}
	ring_ref_begin_closing(ring);
	ring->closing_life = rq->control->life;
	job = request_job(rq, JOB_RING_CLOSE, ring->output);
	job->spec.id = req.ring;
	worker_post(ring->output->worker, job);
	return 0;
}

static int on_ring_forget(const struct request *rq, struct err *err)
{
	struct req_con_ring_forget req;
	struct ring_ref *ring;

	if (req_con_ring_forget_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	ring = ring_ref_find(rq->control, req.ring);
	if (!ring || !ring->closed || ring->output->closing)
		return request_unknown(err, "closed ring set", req.ring);
	ring_ref_free(ring);
	request_answer(rq, err);
	return 0;
}

static void close_ring(struct ring_ref *ring)
{
	struct job *job = job_new(JOB_RING_CLOSE, ring->output);

	ring_ref_begin_closing(ring);
	job->spec.id = ring->node.id;
	worker_post(ring->output->worker, job);
}

void control_end_output(struct output *output)
{
	output_begin_closing(output);
	worker_post(output->worker, job_new(JOB_END, output));
}

static void leave_output(struct output *output)
{
	struct job *job = job_new(JOB_END, output);

	job->leave = true;
	output_begin_leaving(output);
	worker_post(output->worker, job);
}

static int on_adopted(const struct request *rq, struct err *err)
{
	struct output *output;
	struct ring_ref *ring;

	list_for_each(output, &rq->control->all, all_node) {
		if (output->closing)
			continue;
		if (output->life != rq->control->life)
			control_end_output(output);
		else
			list_for_each(ring, &output->rings, output_node)
				if (ring->life != rq->control->life && !ring->closing)
					close_ring(ring);
		if (!output->closing)
			worker_post(output->worker, job_new(JOB_COMPLETE, output));
	}
	control_answer_all_adopted(rq, err);
	return 0;
}

static int on_output_close(const struct request *rq, struct err *err)
{
	struct req_con_output_close req;
	struct output *output;

	if (req_con_output_close_decode(rq->dec, &req) < 0)
		return request_is_bad(err);
	output = request_output(rq, req.output, err);
	if (!output)
		return err->code;
	output_begin_closing(output);
	worker_post(output->worker, request_job(rq, JOB_END, output));
	return 0;
}

static int on_held(const struct request *rq, struct err *err)
{
	struct output *output;

	list_for_each(output, &rq->control->all, all_node)
		if (!output->closing)
			control_send_held(rq->control, rq->header->serial, output);
	request_answer(rq, err);
	return 0;
}

void control_message(struct control *c, const struct msg_header *header, struct decoder *dec)
{
	static const struct {
		uint16_t type;
		int (*handle)(const struct request *rq, struct err *err);
	} handlers[] = {
		{ MSG_con_output_open, on_output_open },
		{ MSG_con_trace_open, on_trace_open },
		{ MSG_con_metadata_append, on_metadata_append },
		{ MSG_con_ring_open, on_ring_open },
		{ MSG_con_ring_enable, on_ring_enable },
		{ MSG_con_output_flush, on_output_flush },
		{ MSG_con_ring_close, on_ring_close },
		{ MSG_con_output_close, on_output_close },
		{ MSG_con_stats, on_stats },
		{ MSG_con_trace_adopt, on_trace_adopt },
		{ MSG_con_ring_adopt, on_ring_adopt },
		{ MSG_con_adopted, on_adopted },
		{ MSG_con_held, on_held },
		{ MSG_con_ring_forget, on_ring_forget },
		{ MSG_con_trace_close, on_trace_close },
	};
	struct request rq = { .control = c, .header = header, .dec = dec };
	struct err err = { 0 };
	size_t i = 0;

	while (i < ARRAY_SIZE(handlers) && handlers[i].type != header->type)
		i++;
	if (c->ending)
		err_set(&err, ERR_STATE, "the consumer daemon is ending");
	else if (i == ARRAY_SIZE(handlers))
		err_set(&err, ERR_UNKNOWN_COMMAND, "unknown command %u", header->type);
	else if (handlers[i].handle(&rq, &err) == 0)
		return;
	request_answer(&rq, &err);
}

/* --- life --------------------------------------------------------------------- */

int control_init(struct control *c, struct loop *loop, const struct control_ops *ops)
{
	int ret;

	memset(c, 0, sizeof(*c));
	c->ops = ops;
	c->loop = loop;
	idmap_init(&c->outputs);
	idmap_init(&c->traces);
	idmap_init(&c->rings);
	list_init(&c->all);
	ret = job_queue_init(&c->done, true);
	if (ret == 0)
		ret = loop_fd_init(&c->done_source, loop, c->done.event_fd, EPOLLIN,
				   control_done_ready);
	return ret;
}

void control_fini(struct control *c)
{
	loop_fd_fini(&c->done_source);
	job_queue_fini(&c->done);
	idmap_fini(&c->outputs);
	idmap_fini(&c->traces);
	idmap_fini(&c->rings);
}

void control_end(struct control *c, bool leave)
{
	struct output *output;

	if (c->ending)
		return;
	c->ending = true;
	list_for_each(output, &c->all, all_node)
		if (!output->closing)
			(leave ? leave_output : control_end_output)(output);
}
