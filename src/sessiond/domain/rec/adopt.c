/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * adopt.c - passes the ring sets of a consumer that has ended to the next one. The adoption of a
 * ring set or trace that the next one can't continue is repeated every second: until it succeeds,
 * applications record into the buffer as long as it has room, and it counts as a lost one.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "trace/metadata.h"
#include "recording.h"

#define READOPT_AFTER_US 1000000u

/* Each reason is reported once. */
void adoption_failed(struct trace *trace, int code, const char *why)
{
	struct recording *rec = trace->rec;
	char text[sizeof(rec->session->troubles[0])];

	snprintf(text, sizeof(text), "%.200s; this is retried every second", why);
	if (!rec->problem.code)
		err_set(&rec->problem, (enum err_code)code, "%s", text);
	if (strcmp(rec->session->troubles[TROUBLE_ADOPTION], text) != 0)
		rec->recorder->config.trouble(rec->session, TROUBLE_ADOPTION, text);
}

void ring_set_unadopted(struct ring *ring)
{
	struct trace *trace = ring->trace_channel->trace;
	struct recording *rec = trace->rec;
	struct ring_note *note = note_find(rec, ring->id);
	bool was_uncounted = ring->uncounted;

	consumer_forget(rec->consumer, ring);
	ring_step(ring, RING_ON_UNADOPTED);
	ring->uncounted = was_uncounted || !rec->session->drained;
	ring_add_final(ring, NULL);
	note->sum.ring = ring->id;
	note->sum.lost_buffers = ring->uncounted;
	note->final = true;
	if (ring->uncounted && !was_uncounted)
		trace_remark(trace, metadata_buffer(METADATA_BUFFER_LOST, ring->id, ring->name));
	recording_saved(rec);
}

static void ring_adoption_failed(struct ring *ring, int code, const char *why)
{
	struct trace *trace = ring->trace_channel->trace;

	ring_set_unadopted(ring);
	if (trace->state == TRACE_OPEN) /* else it has reported the reason */
		adoption_failed(trace, code, why);
	adoption_answered(trace);
}

static void rec_adopt_done(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;
	struct rep_con_ring rep = { 0 };

	if (answer->superseded)
		return;
	if (answer->code || rep_con_ring_decode(answer->dec, &rep) < 0) {
		ring_adoption_failed(ring, answer->code ? answer->code : (int)ERR_CONSUMER,
				     answer->text);
		return;
	}
	close_fd(rep.data); /* an answer to an adoption has none */
	close_fd(rep.ctl);
	close_fd(rep.ctl_rw);
	close_fd(rep.doorbell);
	if (rep.cut_bytes)
		log_info("session '%s', %s: %llu bytes of torn packets were cut off",
			 rec->session->name, ring->name, (unsigned long long)rep.cut_bytes);
	rec->cut_bytes += rep.cut_bytes;
}

void ring_describe(const struct ring *ring, struct req_con_ring *ret)
{
	const struct trace_channel *trace_channel = ring->trace_channel;
	const struct channel *channel = trace_channel->channel;

	*ret = (struct req_con_ring){
		.trace = trace_channel->trace->id,
		.ring = ring->id,
		.channel = ring->name,
		.stream_class = trace_channel->channel->number,
		.nr_rings = ring->nr_rings,
		.num_subbuf = ring_num_subbuf(ring),
		.subbuf_size = channel->subbuf_size,
		.mode = channel->overwrite ? LTT_RING_OVERWRITE : LTT_RING_DISCARD,
		.clock = (uint8_t)trace_channel->trace->rec->clock->kind,
		.tracefile_size = channel->tracefile_size,
		.tracefile_count = channel->tracefile_count,
		.first_instance = ring->first_instance,
		.adopt = 1,
		.data = ring->data,
		.ctl_rw = ring->ctl_rw,
		.module = ring->module,
		.clock_add = trace_channel->trace->rec->clock->clock_add,
		.splice = channel->output_type == OUTPUT_TYPE_SPLICE,
		.kept = channel->remember			      ? RING_REMEMBERED :
			trace_channel->trace->rec->session->snapshots ? RING_KEPT :
									RING_WRITTEN,
		.blocking_us = channel->blocking_us,
		.on_demand = channel->on_demand,
		.reclaim = channel->reclaim,
		.exclusive = ring->exclusive,
		.reclaim_ns = MIN(channel->reclaim_us, UINT64_MAX / 1000) * 1000,
	};
}

/* --- without its memory ------------------------------------------------------- */

/* The consumer has repaired the stream files of a ring set whose memory is lost. Its counts are
 * those of the files, unless an application returns the memory later. */
static void repaired(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct trace *trace = ring->trace_channel->trace;
	struct recording *rec = trace->rec;
	struct ring_note *note = note_find(rec, ring->id);

	if (answer->code == ERR_CONSUMER)
		return; /* the consumer ended; ring_adopt() sends the request to the next one */
	if (answer->code)
		log_error("session '%s': can't repair the files of lost buffer %s: %s",
			  rec->session->name, ring->name, answer->text);
	ring_step(ring, RING_ON_REPAIRED);
	note->sum.ring = ring->id;
	note->sum.lost_buffers = ring->uncounted;
	note->final = true; /* not summed up with others while it may come back */
	if (ring->uncounted)
		trace_remark(trace, metadata_buffer(METADATA_BUFFER_LOST, ring->id, ring->name));
	if (ring->state == RING_FOUND) {
		ring_resume(ring);
		want_ended(ring);
	} else if (ring->state == RING_GONE) {
		note_finish(rec, note);
		ring_free(ring);
		if (trace->orphan)
			trace_abandon(trace);
	}
	recording_saved(rec);
}

static void repair(struct ring *ring)
{
	struct consumer *consumer = ring->trace_channel->trace->rec->consumer;
	struct req_con_ring req;

	consumer_forget(consumer, ring);
	ring_add_final(ring, NULL);
	ring_step(ring, RING_ON_REPAIR);
	ring_describe(ring, &req);
	req.data = req.ctl_rw = -1; /* no memory: only the files are repaired */
	CONSUMER_CALL(consumer, con_ring, &req, ring_add_final, repaired, ring);
}

/* --- with memory that came back ------------------------------------------------ */

/* Reply of the new consumer. Where the memory was lost, the doorbell is a new one: the ring set
 * receives its descriptor. */
static void resumed(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;

	if (answer->superseded) {
		ring_step(ring, RING_ON_CONSUMER_END);
		return;
	}
	if (answer->code == 0 && ring->doorbell < 0 && ring->module < 0)
		ring_share_doorbell(ring);
	if (answer->code || (ring->doorbell < 0 && ring->module < 0)) {
		ring_adoption_failed(ring, answer->code ? answer->code : (int)ERR_LIMIT,
				     answer->code ? answer->text : "too many open files");
		return;
	}
	ring_add_final(ring, NULL); /* the contents of its files are counted again */
	note_find(rec, ring->id)->final = false;
	log_info("session '%s': %s has been recovered with its data", rec->session->name,
		 ring->name);
	if (ring->uncounted)
		trace_remark(ring->trace_channel->trace,
			     metadata_buffer(METADATA_BUFFER_FOUND, ring->id, ring->name));
	ring->uncounted = false;
	ring_step(ring, RING_ON_MEMORY); /* applications that want to record into it wait */
	if (!rec->recording)		 /* it was when its daemons died */
		ring_switch_off(ring);
	ring_open_done(ring);
	adoption_answered(ring->trace_channel->trace);
	if (ring->abandoned)
		ring_close(ring);
}

void ring_resume(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring req;

	ring_step(ring, RING_ON_RESUME);
	ring_describe(ring, &req);
	CONSUMER_CALL(rec->consumer, con_ring, &req, NULL, resumed, ring);
}

/* --- a new consumer -------------------------------------------------------------- */

void ring_adopt(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring req;

	if (ring_in(ring, RING_LOST_STATES)) {
		repair(ring);
	} else if (ring->state == RING_NEW) {
		ring_open(ring);
	} else if (ring->state == RING_UNADOPTED || ring->state == RING_FOUND) {
		ring_resume(ring);
	} else if (ring->state != RING_FAILED && !ring_in(ring, RING_REQUESTED_STATES)) {
		ring_describe(ring, &req); /* a request without an answer is sent again by itself */
		CONSUMER_CALL(rec->consumer, con_ring, &req, NULL, rec_adopt_done, ring);
	}
}

/* --- repeated adoption ------------------------------------------------------------ */

/* Whether the trace has a ring set in one of these states. */
static bool has_ring_in(const struct trace *trace, uint32_t states)
{
	const struct trace_channel *trace_channel;
	const struct ring *ring;

	list_for_each(trace_channel, &trace->channels, node)
		list_for_each(ring, &trace_channel->rings, node)
			if (ring_in(ring, states))
				return true;
	return false;
}

bool trace_is_readopted(const struct trace *trace)
{
	return trace->adopting || has_ring_in(trace, 1u << RING_READOPTING);
}

static bool is_adopted(const struct recording *rec)
{
	const struct trace *trace;

	list_for_each(trace, &rec->traces, node)
		if (trace->state == TRACE_UNADOPTED || has_ring_in(trace, RING_UNADOPTED_STATES))
			return false;
	return true;
}

void adoption_answered(struct trace *trace)
{
	struct recording *rec = trace->rec;

	if (trace->state == TRACE_UNADOPTED || has_ring_in(trace, RING_UNADOPTED_STATES))
		loop_timer_set(&trace->readopt, READOPT_AFTER_US);
	if (is_adopted(rec) && *rec->session->troubles[TROUBLE_ADOPTION])
		rec->recorder->config.trouble(rec->session, TROUBLE_ADOPTION, "");
	rec->ops->ready(rec);
	if (!traces_busy(rec))
		rec->ops->metadata_done(rec);
}

void trace_readopt_on_timer(struct loop_timer *timer)
{
	trace_readopt(container_of(timer, struct trace, readopt));
}

/* The ring sets follow when the trace is there. */
void trace_readopt(struct trace *trace)
{
	struct trace_channel *trace_channel;
	struct ring *ring;

	if (trace->state == TRACE_UNADOPTED) {
		trace_adopt(trace);
		return;
	}
	list_for_each(trace_channel, &trace->channels, node)
		list_for_each(ring, &trace_channel->rings, node)
			if (ring->state == RING_UNADOPTED)
				ring_adopt(ring);
}
