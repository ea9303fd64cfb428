/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.c - the life of ring sets. The consumer makes one, or takes the memory that
 * the kernel module made; its descriptors stay here as long as the set exists.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "recording.h"
#include "sessiond/peers/admission.h"
#include "trace/metadata.h"

void ring_step(struct ring *ring, enum ring_event event)
{
	enum ring_state state = ring_after(ring->state, event);

	if (state)
		ring->state = state;
	else
		log_error("buffer %s: event %d can't happen in state %d; please report this",
			  ring->name, event, ring->state);
}

uint32_t ring_num_subbuf(const struct ring *ring)
{
	const struct channel *channel = ring->trace_channel->channel;

	return ring->exclusive ? channel_private_subbufs(channel) : channel->num_subbuf;
}

/* A program that `lttctl record` runs is recorded from its first event on: events that it emits
 * until there is room are missing. */
static void rec_ring_report_process(const struct ring *ring, const char *why)
{
	const struct recording *rec = ring->trace_channel->trace->rec;
	char text[512];

	snprintf(
		text, sizeof(text),
		"a process can't record, as its buffer %s can't be created: %s; the number of events "
		"that are missing is unknown",
		ring->name, why);
	rec->recorder->config.trouble(rec->session, TROUBLE_APPS, text);
}

void ring_fail(struct ring *ring, enum err_code code, const char *why)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	if (ring->app && *rec->session->scope)
		rec_ring_report_process(ring, why);
	ring_refund(ring);
	ring_step(ring, RING_ON_REFUSAL);
	note_find(rec, ring->id)->open = false;
	if (ring->account.guest && code == ERR_LIMIT) /* must not fail the other user's start */
		rec->recorder->config.trouble(rec->session, TROUBLE_BUFFERS, why);
	else
		recording_problem(rec, TROUBLE_BUFFERS, code, "can't create a buffer", why);
}

void ring_close_fds(struct ring *ring)
{
	ring->data = close_fd(ring->data);
	ring->ctl = close_fd(ring->ctl);
	ring->doorbell = close_fd(ring->doorbell);
	ring->ctl_rw = close_fd(ring->ctl_rw);
	ring->module = close_fd(ring->module);
}

/* A system call on another kind of file, which a user's consumer might send, could block. */
static bool rec_ring_is_memory(int fd)
{
	return fd < 0 || fcntl(fd, F_GET_SEALS) >= 0;
}

/* Return: an outcome of enum err_code; the descriptors that came are the ring's. */
static int rec_ring_take_fds(struct ring *ring, struct decoder *dec, const char **ret_why)
{
	struct rep_con_ring rep = { .data = -1, .ctl = -1, .doorbell = -1, .ctl_rw = -1 };
	int top;

	if (rep_con_ring_decode(dec, &rep) < 0) {
		*ret_why = "its descriptors did not arrive: the session daemon has reached its "
			   "limit of open files";
		return ERR_LIMIT;
	}
	ring->data = rep.data;
	ring->ctl = rep.ctl;
	ring->doorbell = rep.doorbell;
	ring->ctl_rw = rep.ctl_rw;
	if (!rec_ring_is_memory(rep.data) || !rec_ring_is_memory(rep.ctl) ||
	    !rec_ring_is_memory(rep.doorbell) || !rec_ring_is_memory(rep.ctl_rw)) {
		*ret_why = "the consumer daemon sent files that are not memory";
		return ERR_INTERNAL;
	}
	top = MAX(MAX(rep.data, rep.ctl), MAX(rep.doorbell, rep.ctl_rw));
	if (rep.data >= 0 && rep.ctl >= 0 && rep.doorbell >= 0 &&
	    admission_has_room(top, ADMISSION_KEPT))
		return 0;
	*ret_why = "the session daemon has nearly reached its limit of open files";
	return ERR_LIMIT;
}

/* It was made, but we can't keep it. */
static void unmake(struct ring *ring)
{
	struct req_con_ring_close req = { ring->id };

	ring_close_fds(ring);
	CONSUMER_CALL(ring->trace_channel->trace->rec->consumer, con_ring_close, &req, NULL, NULL,
		      NULL);
}

void ring_open_done(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	if (ring->state == RING_STARTING) {
		/* before its first record */
		ring_keep(ring);
		recording_saved(rec);
		if (rec->recording) {
			ring_switch_on(ring);
			return;
		}
		ring_step(ring, RING_ON_SWITCHED);
	}
	rec->ops->ready(rec);
}

static void rec_ring_open_done(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;
	const char *why = answer->text;
	int code = answer->code;

	if (code == ERR_CONSUMER) { /* the next one opens it */
		ring_step(ring, RING_ON_CONSUMER_END);
		if (!rec->problem.code)
			err_set(&rec->problem, ERR_CONSUMER, "can't create a buffer: %s", why);
		rec->ops->ready(rec);
		return;
	}
	if (code == 0) {
		code = rec_ring_take_fds(ring, answer->dec, &why);
		if (code)
			unmake(ring);
	}
	if (code) {
		ring_fail(ring, (enum err_code)code, why);
	} else {
		ring_identify(ring);
		ring_step(ring, RING_ON_MEMORY);
	}
	ring_open_done(ring);
}

void ring_open(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring req;

	ring_describe(ring, &req);
	req.adopt = 0;
	ring_step(ring, RING_ON_REQUEST);
	CONSUMER_CALL(rec->consumer, con_ring, &req, NULL, rec_ring_open_done, ring);
}

static void module_opened(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;

	if (answer->code)
		ring_fail(ring, (enum err_code)answer->code, answer->text);
	else
		ring_step(ring, RING_ON_MEMORY);
	ring_open_done(ring);
}

void ring_open_module(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring req;

	ring_describe(ring, &req);
	ring_step(ring, RING_ON_REQUEST);
	CONSUMER_CALL(rec->consumer, con_ring, &req, NULL, module_opened, ring);
}

static void rec_ring_note_ring(const struct ring *ring)
{
	const struct trace *trace = ring->trace_channel->trace;
	const struct ring_note note = {
		.id = ring->id,
		.channel = ring->trace_channel->channel,
		.owner = ring->app ? ring->app : (1ull << 63) | trace->uid,
		.open = true,
	};

	note_add(trace->rec, &note);
}

struct ring *ring_alloc(struct trace_channel *trace_channel, uint64_t id, uint64_t app)
{
	struct ring *ring = xalloc(sizeof(*ring));

	ring->trace_channel = trace_channel;
	ring->id = id;
	ring->app = app;
	ring->state = RING_NEW;
	ring->data = ring->ctl = ring->doorbell = ring->ctl_rw = ring->module = -1;
	list_append(&trace_channel->rings, &ring->node);
	rec_ring_note_ring(ring);
	return ring;
}

void ring_free(struct ring *ring)
{
	const struct recorder_config *config = &ring->trace_channel->trace->rec->recorder->config;

	ring_unwant(ring);
	consumer_forget(ring->trace_channel->trace->rec->consumer, ring);
	if (config->keeper && ring->data >= 0)
		keeper_drop(config->keeper, "ring", ring->id);
	ring_close_fds(ring);
	ring_refund(ring);
	list_remove(&ring->node);
	free(ring->name);
	free(ring);
}

void ring_drop(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	uint64_t id = ring->id;

	ring_free(ring);
	note_drop(rec, id);
}

void ring_share_doorbell(struct ring *ring)
{
	const struct recording *rec = ring->trace_channel->trace->rec;

	ring->doorbell = fcntl(rec->recorder->config.doorbell(rec->session), F_DUPFD_CLOEXEC, 3);
}

void ring_keep(struct ring *ring)
{
	const int fds[KEEPER_FDS] = { ring->data, ring->ctl_rw,
				      ring->module >= 0 ? ring->module : ring->doorbell };
	struct keeper *keeper = ring->trace_channel->trace->rec->recorder->config.keeper;

	if (keeper && ring->data >= 0 && fds[2] >= 0)
		keeper_put(keeper, "ring", ring->id, fds);
}

void ring_add_final(void *data, struct decoder *dec)
{
	struct ring *ring = data;
	struct ring_note *note = note_find(ring->trace_channel->trace->rec, ring->id);
	struct msg_con_stream stream;

	if (!dec)
		memset(&note->sum, 0, sizeof(note->sum));
	else if (msg_con_stream_decode(dec, &stream) == 0)
		note_count(note, &stream);
}

static void ring_note_not_sampled(struct ring *ring, uint64_t nr)
{
	if (nr <= ring->noted)
		return;
	ring->noted = nr;
	trace_remark(ring->trace_channel->trace, metadata_not_sampled(ring->id, nr));
}

static uint64_t rec_ring_not_sampled(const struct ring *ring, const struct msg_con_stream *streams,
				     size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += streams[i].ring == ring->id ? streams[i].not_sampled : 0;
	return sum;
}

void rings_note_not_sampled(struct recording *rec, const struct msg_con_stream *streams, size_t nr)
{
	struct trace_channel *trace_channel;
	struct trace *trace;
	struct ring *ring;

	list_for_each(trace, &rec->traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				ring_note_not_sampled(ring,
						      rec_ring_not_sampled(ring, streams, nr));
}

/* The consumer need not remember them any more. */
static void forget_counters(const struct ring *ring)
{
	struct req_con_ring_forget req = { ring->id };

	CONSUMER_CALL(ring->trace_channel->trace->rec->consumer, con_ring_forget, &req, NULL, NULL,
		      NULL);
}

static void rec_ring_close_done(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct trace *trace = ring->trace_channel->trace;
	struct ring_note *note = note_find(trace->rec, ring->id);

	if (answer->code == ERR_CONSUMER) { /* the next one closes it */
		ring_set_unadopted(ring);
		return;
	}
	if (answer->code) {
		log_error("session '%s': can't close buffer %s: %s", trace->rec->session->name,
			  ring->name, answer->text);
		ring_set_unadopted(ring);
	}
	ring_note_not_sampled(ring, note->sum.not_sampled);
	note_finish(trace->rec, note);
	/* saved before the keeper releases it: a successor must not search for it */
	ring_step(ring, RING_ON_CLOSED);
	recording_saved(trace->rec);
	if (answer->code == 0)
		forget_counters(ring);
	ring_free(ring);
	if (trace->orphan)
		trace_abandon(trace);
}

/* It stays ours until the consumer has made the last cut: if it dies before, or does not have it,
 * its successor makes that cut. */
void ring_close(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	struct req_con_ring_close req = { ring->id };

	note_find(rec, ring->id)->open = false;
	ring->abandoned = true;
	ring_step(ring, RING_ON_CLOSE);
	if (ring->state == RING_CLOSED) {
		ring_drop(ring);
		return;
	}
	if (ring->state != RING_CLOSING)
		return;
	consumer_forget(rec->consumer, ring);
	CONSUMER_CALL(rec->consumer, con_ring_close, &req, ring_add_final, rec_ring_close_done,
		      ring);
}
