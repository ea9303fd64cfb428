/* SPDX-License-Identifier: GPL-2.0-only */
/* adopt.c - passes the ring sets of a consumer that has ended to the next one. */
#include <fcntl.h>

#include "base/log.h"
#include "trace/metadata.h"
#include "recording.h"

/* Disarm a ring set that the new consumer rejected, as records in it would be lost. */
static void ring_fail_adopted(struct ring *ring, int code, const char *why)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	ring->state = RING_FAILED;
	note_find(rec, ring->id)->open = false;
	recording_problem(rec, TROUBLE_BUFFERS, (enum err_code)code,
			  "the new consumer can't continue a buffer", why);
	rec->ops->lost(rec);
}

static void rec_adopt_done(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;
	struct rep_con_ring_adopt rep = { 0 };

	if (answer->superseded)
		return;
	if (answer->code || rep_con_ring_adopt_decode(answer->dec, &rep) < 0) {
		ring_fail_adopted(ring, answer->code ? answer->code : (int)ERR_CONSUMER,
				  answer->text);
		return;
	}
	if (rep.cut_bytes)
		log_info("session '%s', %s: %llu bytes of torn packets were cut off",
			 rec->session->name, ring->name, (unsigned long long)rep.cut_bytes);
	rec->cut_bytes += rep.cut_bytes;
}

void ring_describe(const struct ring *ring, struct req_con_ring_adopt *ret)
{
	const struct trace_channel *trace_channel = ring->trace_channel;
	const struct channel_attr *attr = &trace_channel->channel->attr;

	*ret = (struct req_con_ring_adopt){
		.trace = trace_channel->trace->id,
		.ring = ring->id,
		.channel = ring->name,
		.stream_class = trace_channel->channel->number,
		.nr_rings = ring->nr_rings,
		.num_subbuf = attr->num_subbuf,
		.subbuf_size = attr->subbuf_size,
		.mode = attr->overwrite ? LTT_RING_OVERWRITE : LTT_RING_DISCARD,
		.clock = (uint8_t)trace_channel->trace->rec->clock->kind,
		.tracefile_size = attr->tracefile_size,
		.tracefile_count = attr->tracefile_count,
		.first_instance = ring->first_instance,
		.data = ring->data,
		.ctl_rw = ring->ctl_rw,
		.module = ring->module,
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
	ring->repairing = false;
	note->sum.ring = ring->id;
	note->sum.lost_buffers = ring->uncounted;
	note->final = true; /* not summed up with others while it may come back */
	if (ring->uncounted)
		trace_append(trace, metadata_buffer(METADATA_BUFFER_LOST, ring->id, ring->name));
	if (ring->data >= 0) {
		ring_resume(ring);
	} else if (!ring->wanted) {
		note_finish(rec, note);
		ring_free(ring);
		if (trace->orphan)
			trace_abandon(trace);
	}
	recording_saved(rec);
}

static void repair(struct ring *ring)
{
	struct consumer *consumer = ring->trace_channel->trace->rec->recorder->config.consumer;
	struct req_con_ring_adopt req;

	consumer_forget(consumer, ring);
	ring_add_final(ring, NULL);
	ring->repairing = true;
	ring_describe(ring, &req);
	req.data = req.ctl_rw = -1; /* no memory: only the files are repaired */
	CONSUMER_CALL(consumer, con_ring_adopt, &req, ring_add_final, repaired, ring);
}

/* --- with memory that came back ------------------------------------------------ */

static void resume_failed(struct ring *ring, int code, const char *why)
{
	ring_fail_adopted(ring, code, why);
	ring_close_fds(ring);
	ring_refund(ring);
	ring->offered = false;
	ring->closing = ring->lost = true;
	repair(ring);
}

/* Reply of the new consumer, which has a new doorbell: the ring set receives its descriptor. */
static void resumed(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;

	ring->awaited = false;
	if (answer->code == ERR_CONSUMER)
		return; /* the consumer ended; ring_adopt() sends the request to the next one */
	if (answer->code == 0)
		ring->doorbell =
			fcntl(rec->recorder->config.doorbell(rec->session), F_DUPFD_CLOEXEC, 3);
	if (answer->code || ring->doorbell < 0) {
		resume_failed(ring, answer->code ? answer->code : (int)ERR_LIMIT, answer->text);
		return;
	}
	log_info("session '%s': %s has been recovered with its data", rec->session->name,
		 ring->name);
	if (ring->uncounted)
		trace_append(ring->trace_channel->trace,
			     metadata_buffer(METADATA_BUFFER_FOUND, ring->id, ring->name));
	ring->uncounted = false;
	if (!rec->recording) /* it was when its daemons died */
		ring_switch_off(ring);
	ring_open_done(ring);
	if (ring->departed)
		ring_close(ring);
}

void ring_resume(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring_adopt req;

	ring->lost = false;
	ring_add_final(ring, NULL); /* the contents of its files are counted again */
	note_find(rec, ring->id)->final = false;
	ring->awaited = true;
	ring_describe(ring, &req);
	CONSUMER_CALL(rec->recorder->config.consumer, con_ring_adopt, &req, NULL, resumed, ring);
	ring_unwant(ring);
}

/* --- a new consumer -------------------------------------------------------------- */

void ring_adopt(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring_adopt req;

	if (ring->lost) {
		repair(ring);
		return;
	}
	if (ring->state == RING_FAILED || ring->awaited || ring->data < 0)
		return; /* the request is sent again */
	if (ring->offered && ring->doorbell < 0) {
		ring_resume(ring);
		return;
	}
	ring_describe(ring, &req);
	CONSUMER_CALL(rec->recorder->config.consumer, con_ring_adopt, &req, NULL, rec_adopt_done,
		      ring);
}
