/* SPDX-License-Identifier: GPL-2.0-only */
/* relay.c - the sink of outputs with a relay and no spool: packets are sent from the buffers, and
 * stay in these while the relay is unreachable. */
#include <stdlib.h>

#include "base/mem.h"
#include "sink.h"

struct relay_sink {
	struct sink sink;
	struct relay_conn *conn;
};

struct relay_stream {
	struct sink_stream out;
	uint32_t id;	/* at the relay; 0: not known there */
	uint32_t epoch; /* the connection on which it was opened */
};

static struct relay_conn *relay_conn_of(const struct sink *sink)
{
	return container_of(sink, struct relay_sink, sink)->conn;
}

static struct relay_stream *relay_stream_of(struct sink_stream *out)
{
	return container_of(out, struct relay_stream, out);
}

/* --- the output ------------------------------------------------------------------- */

static void relay_free(struct sink *sink)
{
	relay_conn_free(relay_conn_of(sink));
	free(container_of(sink, struct relay_sink, sink));
}

static int relay_start(struct sink *sink, const struct sink_start *start, struct err *err)
{
	struct relay_conn *conn = relay_conn_of(sink);

	if (start->connect && relay_conn_open(conn) < 0)
		return err_set(err, ERR_OUTPUT, "%s", relay_conn_problem(conn));
	return 0;
}

static int relay_revive(struct sink *sink)
{
	return relay_conn_open(relay_conn_of(sink));
}

static bool relay_attaches_all(const struct sink *sink)
{
	return sink->live;
}

static int relay_link_failed(struct sink *sink, int error)
{
	(void)sink;
	return error;
}

static int relay_await_outcomes(struct sink *sink)
{
	return relay_conn_drain(relay_conn_of(sink));
}

static int relay_beacon(struct sink *sink, uint64_t time)
{
	return relay_conn_beacon(relay_conn_of(sink), time);
}

static int relay_check(struct sink *sink)
{
	return relay_conn_check(relay_conn_of(sink));
}

static const char *relay_problem(const struct sink *sink)
{
	return relay_conn_problem(relay_conn_of(sink));
}

static void relay_clock(struct sink *sink, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	relay_conn_clock(relay_conn_of(sink), ret_offset_ns, ret_error_ns);
}

static void relay_prepare_end(struct sink *sink, bool failing)
{
	if (failing)
		relay_conn_shutdown(relay_conn_of(sink));
}

static void relay_end(struct sink *sink, enum sink_end how, struct err *err)
{
	(void)err;
	if (how == SINK_ENDED)
		relay_conn_end(relay_conn_of(sink), false);
}

/* --- traces --------------------------------------------------------------------- */

static int relay_open_trace(struct sink *sink, struct chunk_trace *dir)
{
	return relay_conn_trace(relay_conn_of(sink), dir);
}

static int relay_cut_metadata(struct sink *sink, struct chunk_trace *dir, uint64_t bytes)
{
	(void)sink;
	dir->metadata_bytes = bytes;
	return 0;
}

static int relay_append(struct sink *sink, struct chunk_trace *dir, const void *text, uint32_t len)
{
	return relay_conn_metadata(relay_conn_of(sink), dir, text, len);
}

/* --- streams -------------------------------------------------------------------- */

static struct sink_stream *relay_open(struct sink *sink, const struct stream_config *config,
				      uint32_t cpu)
{
	struct relay_stream *stream = xalloc(sizeof(*stream));

	(void)sink;
	(void)config;
	(void)cpu;
	return &stream->out;
}

/* The relay may be unreachable; it knows better than the buffer in any case. */
static int relay_adopt(struct sink_stream *out, const struct ring_reader *reader,
		       struct packet_header *ret_last, uint64_t *cut)
{
	(void)out;
	(void)reader;
	(void)ret_last;
	(void)cut;
	return SINK_UNKNOWN;
}

static int relay_attach(struct sink_stream *out, struct packet_header *ret_last)
{
	struct relay_conn *conn = relay_conn_of(out->sink);
	struct relay_stream *stream = relay_stream_of(out);
	int ret = relay_conn_open(conn);

	if (ret < 0 || (stream->id && stream->epoch == relay_conn_epoch(conn)))
		return ret;
	ret = relay_conn_stream(conn, out->config, out->cpu, &stream->id, ret_last, NULL);
	if (ret < 0)
		return ret;
	if (ret == 0)
		ret_last->magic = 0;
	stream->epoch = relay_conn_epoch(conn);
	return SINK_HAS;
}

static int relay_write(struct sink_stream *out, const struct packet_header *header,
		       const uint8_t *body)
{
	relay_conn_post(relay_conn_of(out->sink), relay_stream_of(out)->id, header, body,
			sink_stream_source(out), out->done, out->data);
	return SINK_SENDING;
}

static void relay_close(struct sink_stream *out, enum sink_end how)
{
	struct relay_stream *stream = relay_stream_of(out);

	if (how == SINK_ENDED && stream->id)
		(void)relay_conn_stream_end(relay_conn_of(out->sink), stream->id, stream->epoch);
	free(stream);
}

static const struct sink_ops relay_ops = {
	.recovers = true,
	.attaches_first = true,
	.free = relay_free,
	.start = relay_start,
	.revive = relay_revive,
	.attaches_all = relay_attaches_all,
	.link_failed = relay_link_failed,
	.await_outcomes = relay_await_outcomes,
	.beacon = relay_beacon,
	.check = relay_check,
	.problem = relay_problem,
	.clock = relay_clock,
	.prepare_end = relay_prepare_end,
	.end = relay_end,
	.open_trace = relay_open_trace,
	.cut_metadata = relay_cut_metadata,
	.append = relay_append,
	.open = relay_open,
	.adopt = relay_adopt,
	.attach = relay_attach,
	.write = relay_write,
	.close = relay_close,
};

struct sink *relay_sink_new(const struct sink_config *config, const struct sink_host *host)
{
	struct relay_sink *relay = xalloc(sizeof(*relay));

	relay->sink.ops = &relay_ops;
	relay->conn = relay_conn_new(config->relay, &config->chunk->traces);
	relay->sink.live = relay_conn_is_live(relay->conn);
	relay_conn_set_watch(relay->conn, host->watch, host->data);
	return &relay->sink;
}
