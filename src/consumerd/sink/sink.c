/* SPDX-License-Identifier: GPL-2.0-only */
#include "sink.h"

#include <stdlib.h>

#include "base/mem.h"
#include "consumerd/now.h"

struct sink *sink_new(const struct sink_config *config, const struct sink_host *host)
{
	struct sink *sink;

	if (config->relay->addr)
		sink = config->relay->spool && !config->relay->snapshot ?
			       spool_sink_new(config, host) :
			       relay_sink_new(config, host);
	else
		sink = config->has_dir ? file_sink_new() : null_sink_new();
	sink->chunk = config->chunk;
	sink->live = sink->link && relay_conn_is_live(sink->link);
	list_init(&sink->streams);
	sink->splicer = SPLICER_NONE;
	return sink;
}

struct sink *sink_free(struct sink *sink)
{
	if (!sink)
		return NULL;
	splicer_fini(&sink->splicer);
	relay_conn_free(sink->link);
	free(sink);
	return NULL;
}

/* --- the relay ------------------------------------------------------------------------ */

int sink_link_result(struct sink *sink, int error)
{
	if (error >= 0 || sink->ops->way != SINK_SPOOLS)
		return error;
	spool_sink_link_failed(sink, error);
	return 0;
}

int sink_revive(struct sink *sink)
{
	return sink->ops->way == SINK_DIRECT ? relay_conn_open(sink->link) : 0;
}

int sink_drain(struct sink *sink, uint64_t now)
{
	return sink->ops->way == SINK_SPOOLS ? spool_sink_drain(sink, now) : SINK_NOTHING;
}

struct sink_state sink_state(const struct sink *sink)
{
	const char *problem = sink->link ? relay_conn_problem(sink->link) : "";

	return sink->ops->way == SINK_SPOOLS ?
		       spool_sink_state(sink) :
		       (struct sink_state){ .due_ns = UINT64_MAX, .problem = problem };
}

bool sink_attaches_all(const struct sink *sink)
{
	return sink->live && !sink_state(sink).behind;
}

void sink_flush_store(struct sink *sink)
{
	if (sink->ops->way == SINK_SPOOLS)
		spool_sink_flush(sink);
}

bool sink_keeps_trace(const struct sink *sink, const struct chunk_trace *trace)
{
	return sink->ops->way == SINK_SPOOLS && spool_sink_keeps_trace(sink, trace);
}

/* Where all packets go by the files, those before the beacon are sent now. */
int sink_beacon(struct sink *sink, uint64_t time)
{
	if (!sink->link)
		return 0;
	if (sink_state(sink).behind)
		(void)!sink_drain(sink, now_ns());
	if (sink_state(sink).behind)
		return 0;
	return sink_link_result(sink, relay_conn_beacon(sink->link, time));
}

int sink_check(struct sink *sink)
{
	int error = sink->link ? relay_conn_check(sink->link) : 0;
	int ret = sink_link_result(sink, error);

	return error < 0 && ret == 0 ? 1 : ret;
}

uint32_t sink_epoch(const struct sink *sink)
{
	return sink->link ? relay_conn_epoch(sink->link) : 0;
}

struct relay_facts sink_relay(const struct sink *sink)
{
	return sink->link ? relay_conn_facts(sink->link) : (struct relay_facts){ 0 };
}

void sink_note_gap(struct sink *sink)
{
	sink->failed = true;
}

/* Data that stays in a spool is not the end for the relay: it can be sent later. */
void sink_begin_end(struct sink *sink, bool failing)
{
	if (sink->link && (failing || sink_state(sink).trouble || sink_waiting(sink)))
		relay_conn_shutdown(sink->link);
	sink->failed |= failing;
	sink->ending = true;
}

/* --- streams -------------------------------------------------------------------------- */

struct sink_stream *sink_stream_open(struct sink *sink, const struct stream_config *config,
				     uint32_t cpu, sink_done done, void *data)
{
	const struct sink_ops *ops = sink->ops;
	struct sink_stream *out =
		ops->open ? ops->open(sink, config, cpu) : xalloc(ops->stream_bytes);

	out->sink = sink;
	out->config = config;
	out->cpu = cpu;
	out->done = done;
	out->data = data;
	out->source.fd = -1;
	list_append(&sink->streams, &out->node);
	return out;
}

int sink_stream_close(struct sink_stream *out, enum sink_end how)
{
	const struct sink_ops *ops = out->sink->ops;

	list_remove(&out->node);
	if (ops->close)
		return ops->close(out, how);
	free(out);
	return 0;
}
