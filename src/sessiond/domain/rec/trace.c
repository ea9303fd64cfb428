/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.c - CTF traces: where they are and their metadata, which is appended batch
 * by batch. One batch is in flight at a time: an unwritten batch is kept and retried, and the
 * order never changes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/mem.h"
#include "recording.h"

#define BATCH_BYTES 57344u /* below a message, its header and fields included */
#define RETRY_AFTER_US 1000000u

static void send_next(struct trace *trace);

static void drop_first(struct trace *trace)
{
	struct meta_batch *batch = list_first(&trace->batches, struct meta_batch, node);

	trace->acked = batch->number;
	list_remove(&batch->node);
	free(batch);
}

/* Save the sizes of the metadata files in the session's state, before events that the metadata
 * describes are armed. One save covers all traces, as each save writes the whole state. */
static void save_metadata_sizes(struct recording *rec)
{
	struct trace *trace, *next;

	list_for_each(trace, &rec->traces, node) {
		trace->saved = trace->acked;
		trace->metadata_bytes = trace->acked_bytes;
	}
	recording_saved(rec);
	list_for_each_safe(trace, next, &rec->traces, node)
		if (trace->orphan && list_empty(&trace->batches))
			trace_abandon(trace);
	rec->ops->ready(rec);
	if (!traces_busy(rec))
		rec->ops->metadata_done(rec);
}

void traces_save_metadata_sizes(struct loop_timer *timer)
{
	save_metadata_sizes(container_of(timer, struct recording, metadata_save));
}

/* Limit the rate of saves: several small batches share one. */
static void save_metadata_sizes_later(struct recording *rec)
{
	uint64_t now = loop_now_ns(), turn = rec->recorder->save_turn_ns;

	if (rec->metadata_save.at_ns)
		return;
	if (now >= turn)
		save_metadata_sizes(rec);
	else
		loop_timer_set(&rec->metadata_save, (turn - now) / 1000 + 1);
}

static void appended(void *data, const struct con_answer *answer)
{
	struct rep_con_metadata_append rep = { 0 };
	struct trace *trace = data;

	trace->in_flight = false;
	if (trace->state != TRACE_OPEN)
		return; /* the reason has been reported */
	if (answer->code) {
		recording_problem(trace->rec, TROUBLE_METADATA, answer->code,
				  "metadata can't be written", answer->text);
		trace->rec->ops->metadata_done(trace->rec);
		if (answer->code != ERR_CONSUMER)
			loop_timer_set(&trace->retry, RETRY_AFTER_US);
		return;
	}
	if (*trace->rec->session->troubles[TROUBLE_METADATA])
		trace->rec->recorder->config.trouble(trace->rec->session, TROUBLE_METADATA, "");
	if (rep_con_metadata_append_decode(answer->dec, &rep) == 0)
		trace->acked_bytes = rep.bytes;
	drop_first(trace);
	send_next(trace);
	save_metadata_sizes_later(trace->rec);
}

bool traces_busy(const struct recording *rec)
{
	const struct trace *trace;

	list_for_each(trace, &rec->traces, node)
		if ((trace->state == TRACE_OPEN &&
		     (!list_empty(&trace->batches) || trace->acked > trace->saved)) ||
		    trace_is_readopted(trace))
			return true;
	return false;
}

static void send_next(struct trace *trace)
{
	struct meta_batch *batch = list_first(&trace->batches, struct meta_batch, node);
	struct req_con_metadata_append req = { .trace = trace->id };

	if (!batch || trace->in_flight || trace->retry.at_ns || trace->state != TRACE_OPEN)
		return;
	trace->in_flight = true;
	req.text.data = (const uint8_t *)batch->text;
	req.text.len = (uint32_t)batch->len;
	CONSUMER_CALL(trace->rec->consumer, con_metadata_append, &req, NULL, appended, trace);
}

static void rec_trace_flush(struct loop_work *work)
{
	send_next(container_of(work, struct trace, flush));
}

static void retry(struct loop_timer *timer)
{
	send_next(container_of(timer, struct trace, retry));
}

void trace_retry(struct trace *trace)
{
	loop_timer_cancel(&trace->retry);
	send_next(trace);
}

/* The batch that takes @len bytes more: never one that is in flight. */
static struct meta_batch *open_batch(struct trace *trace, size_t len)
{
	struct meta_batch *batch = NULL;

	if (!list_empty(&trace->batches))
		batch = list_entry(trace->batches.prev, struct meta_batch, node);
	if (batch && trace->in_flight && batch->node.prev == &trace->batches)
		batch = NULL;
	if (batch && batch->len + len <= BATCH_BYTES)
		return batch;
	batch = xalloc(sizeof(*batch) + BATCH_BYTES);
	list_init(&batch->node);
	batch->number = trace->next_batch++;
	list_append(&trace->batches, &batch->node);
	return batch;
}

uint64_t trace_append(struct trace *trace, char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct meta_batch *batch;

	if (len == 0 || len > BATCH_BYTES) {
		free(text);
		return 0;
	}
	batch = open_batch(trace, len);
	memcpy(batch->text + batch->len, text, len);
	batch->len += len;
	free(text);
	loop_defer(trace->rec->recorder->config.loop, &trace->flush);
	return batch->number;
}

uint64_t trace_remark(struct trace *trace, char *remark)
{
	return trace_append(trace, metadata_remark(recording_form(trace->rec), remark));
}

/* --- open ------------------------------------------------------------------- */

void trace_keep(const struct trace *trace)
{
	const int fds[KEEPER_FDS] = { trace->metadata, -1, -1 };
	struct keeper *keeper = trace->rec->recorder->config.keeper;

	if (keeper && trace->metadata >= 0)
		keeper_put(keeper, "trace", trace->id, fds);
}

bool recording_has_trace(struct domain_tracer *domain, const struct session *session, uint64_t id)
{
	const struct recording *rec = recording_find(domain, session);
	const struct trace *trace;

	if (rec)
		list_for_each(trace, &rec->traces, node)
			if (trace->id == id)
				return true;
	return false;
}

/* Before its first metadata: without the descriptor a new consumer has none of it. */
static void trace_take_metadata(struct trace *trace, int fd)
{
	if (fd < 0)
		return;
	close_fd(trace->metadata);
	trace->metadata = fd;
	trace_keep(trace);
}

static void rec_trace_kallsyms_done(void *data, const struct con_answer *answer)
{
	const struct trace *trace = data;
	struct session *session = trace->rec->session;
	char text[sizeof(session->troubles[0])] = "";

	if (answer->code == ERR_CONSUMER) /* the next one is sent it */
		return;
	if (answer->code)
		snprintf(text, sizeof(text),
			 "addresses of the kernel have no names in its trace: %.200s; make room "
			 "there, then stop and start the session",
			 answer->text);
	if (strcmp(session->troubles[TROUBLE_NAMES], text) != 0)
		trace->rec->recorder->config.trouble(session, TROUBLE_NAMES, text);
}

void trace_send_kallsyms(struct trace *trace)
{
	struct req_con_trace_kallsyms req = { trace->id, trace->kallsyms };

	if (trace->kallsyms >= 0 && trace->state == TRACE_OPEN)
		CONSUMER_CALL(trace->rec->consumer, con_trace_kallsyms, &req, NULL,
			      rec_trace_kallsyms_done, trace);
}

void trace_set_kallsyms(struct trace *trace, int fd)
{
	close_fd(trace->kallsyms);
	trace->kallsyms = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (!trace->adopting)
		trace_send_kallsyms(trace);
}

static void rec_trace_open_done(void *data, const struct con_answer *answer)
{
	struct rep_con_trace rep = { -1 };
	struct trace *trace = data;

	if (answer->code == 0) {
		if (rep_con_trace_decode(answer->dec, &rep) == 0)
			trace_take_metadata(trace, rep.metadata);
		return;
	}
	if (answer->code == ERR_CONSUMER) { /* the next one opens it */
		trace->state = TRACE_UNADOPTED;
		adoption_failed(trace, answer->code, answer->text);
		adoption_answered(trace);
		return;
	}
	trace->state = TRACE_FAILED;
	recording_problem(trace->rec, TROUBLE_BUFFERS, answer->code, "can't create the trace",
			  answer->text);
	trace->rec->ops->ready(trace->rec);
	trace->rec->ops->metadata_done(trace->rec);
}

static void rec_trace_adopt_done(void *data, const struct con_answer *answer)
{
	struct rep_con_trace rep = { -1 };
	struct trace *trace = data;
	bool was_open = trace->state == TRACE_OPEN;

	trace->adopting = false;
	if (answer->superseded)
		return;
	trace->state = answer->code ? TRACE_UNADOPTED : TRACE_OPEN;
	if (answer->code)
		adoption_failed(trace, answer->code, answer->text);
	else if (rep_con_trace_decode(answer->dec, &rep) == 0)
		trace_take_metadata(trace, rep.metadata);
	if (!answer->code)
		trace_send_kallsyms(trace);
	if (!answer->code && !was_open)
		trace_readopt(trace);
	send_next(trace);
	adoption_answered(trace);
}

static void trace_request(struct trace *trace, bool adopt, con_done done)
{
	struct req_con_trace req = {
		.output = trace->rec->session->id,
		.trace = trace->id,
		.path = trace->path,
		.uuid = { trace->uuid, sizeof(trace->uuid) },
		.adopt = adopt,
		.metadata_bytes = trace->acked_bytes,
		.metadata = trace->metadata,
	};

	CONSUMER_CALL(trace->rec->consumer, con_trace, &req, NULL, done, trace);
}

/* Repeat the requests that the previous consumer has not answered: the file is truncated to the
 * acknowledged size. */
void trace_adopt(struct trace *trace)
{
	if (trace->state == TRACE_FAILED)
		return;
	consumer_forget(trace->rec->consumer, trace);
	loop_timer_cancel(&trace->retry);
	loop_timer_cancel(&trace->readopt);
	trace->adopting = trace->state == TRACE_UNADOPTED;
	trace->in_flight = false;
	trace_request(trace, true, rec_trace_adopt_done);
}

struct trace *trace_alloc(struct recording *rec, uint64_t id, uid_t uid, uint64_t app)
{
	struct trace *trace = xalloc(sizeof(*trace));

	list_init(&trace->batches);
	list_init(&trace->channels);
	loop_timer_init(&trace->retry, rec->recorder->config.loop, retry);
	loop_timer_init(&trace->readopt, rec->recorder->config.loop, trace_readopt_on_timer);
	loop_work_init(&trace->flush, rec_trace_flush);
	trace->rec = rec;
	trace->id = id;
	trace->uid = uid;
	trace->app = app;
	trace->metadata = trace->kallsyms = -1;
	trace->next_batch = 1;
	list_append(&rec->traces, &trace->node);
	return trace;
}

void trace_open(struct trace *trace, char *path)
{
	const struct recorder_config *config = &trace->rec->recorder->config;

	trace->path = path;
	config->prepare(trace->rec->session, trace->rec->domain);
	trace->rec->consumer = config->consumer(trace->rec->session, trace->rec->domain);
	uuid_generate(trace->uuid);
	recording_saved(trace->rec); /* so that a successor does not create it again */
	trace_request(trace, false, rec_trace_open_done);
}

void trace_free(struct trace *trace)
{
	struct trace_channel *trace_channel, *next_trace_channel;
	struct meta_batch *batch, *next_batch;

	consumer_forget(trace->rec->consumer, trace);
	loop_timer_cancel(&trace->retry);
	loop_timer_cancel(&trace->readopt);
	loop_work_cancel(&trace->flush);
	list_for_each_safe(trace_channel, next_trace_channel, &trace->channels, node)
		trace_channel_free(trace_channel);
	list_for_each_safe(batch, next_batch, &trace->batches, node) {
		list_remove(&batch->node);
		free(batch);
	}
	list_remove(&trace->node);
	if (trace->metadata >= 0 && trace->rec->recorder->config.keeper)
		keeper_drop(trace->rec->recorder->config.keeper, "trace", trace->id);
	close_fd(trace->metadata);
	close_fd(trace->kallsyms);
	free(trace->path);
	free(trace);
}

void trace_abandon(struct trace *trace)
{
	struct req_con_trace_close req = { trace->id };
	struct recording *rec = trace->rec;
	const struct trace_channel *trace_channel;

	trace->orphan = true;
	list_for_each(trace_channel, &trace->channels, node)
		if (!list_empty(&trace_channel->rings))
			return; /* the last ring set that is closed comes back here */
	if (!list_empty(&trace->batches) && trace->state != TRACE_FAILED)
		return;
	CONSUMER_CALL(rec->consumer, con_trace_close, &req, NULL, NULL, NULL);
	list_for_each(trace_channel, &trace->channels, node)
		rec->session->saved.unused_bytes += trace_channel->saved.bytes;
	trace_free(trace);
	recording_saved(rec);
}
