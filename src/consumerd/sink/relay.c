/* SPDX-License-Identifier: GPL-2.0-only */
/* relay.c - the sink of outputs with a relay and no spool: packets are sent from the buffers, and
 * stay in these while the relay is unreachable. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sink.h"

struct relay_stream {
	struct sink_stream out;
	struct relay_conn_place place;
};

static struct relay_stream *relay_stream_of(struct sink_stream *out)
{
	return container_of(out, struct relay_stream, out);
}

/* --- the output ------------------------------------------------------------------- */

static int relay_start(struct sink *sink, const struct sink_start *start, struct err *err)
{
	const char *problem = relay_conn_problem(sink->link);
	int ret = start->connect ? relay_conn_open(sink->link) : 0;

	if (ret == 0 && start->connect) /* of the traces that the chunk has already */
		ret = relay_conn_all_metadata(sink->link);
	if (ret < 0)
		err_set(err, ERR_OUTPUT, "%s", *problem ? problem : strerror(-ret));
	return err->code;
}

static int relay_settle(struct sink *sink)
{
	return relay_conn_drain(sink->link);
}

/* A stream that the relay does not know on this connection would lose its position. A clear whose
 * outcome is not known is made again, not only answered: so all that was sent before the last one
 * is removed, and counted. */
static int relay_turn(struct sink *sink, const char *name, bool clear)
{
	AUTO_FREE char *once = clear ? relay_conn_name_clear(name) : NULL;
	struct relay_conn_turned turned = { 0 };
	struct sink_stream *out;
	int ret;

	list_for_each(out, &sink->streams, node)
		if (!relay_conn_knows(sink->link, &relay_stream_of(out)->place))
			return -EAGAIN;
	ret = relay_conn_turn(sink->link, once ? once : name, clear, &turned);
	list_for_each(out, &sink->streams, node)
		out->opened = turned.made;
	sink->turned_bytes = turned.bytes;
	sink->turn_made = turned.made;
	return ret;
}

/* A snapshot is there once the relay has acknowledged its end; of others, all packets were. */
static void relay_end(struct sink *sink, enum sink_end how, struct err *err)
{
	const char *problem = relay_conn_problem(sink->link);
	bool unfinished = how == SINK_ABANDONED || sink->failed;
	int ret = how == SINK_LEFT ? 0 : relay_conn_end(sink->link, unfinished);

	if (ret < 0 && how == SINK_ENDED && relay_conn_is_snapshot(sink->link))
		err_set(err, ERR_OUTPUT, "%s", *problem ? problem : strerror(-ret));
}

/* --- traces --------------------------------------------------------------------- */

static int relay_open_chunk(struct sink *sink, struct chunk_trace *dir, bool found)
{
	(void)found;
	return relay_conn_trace(sink->link, dir);
}

static int relay_append(struct sink *sink, struct chunk_trace *dir, const void *text, uint32_t len)
{
	return relay_conn_metadata(sink->link, dir, text, len);
}

/* --- streams -------------------------------------------------------------------- */

/* The relay knows better than the buffer. */
static int relay_place(struct sink_stream *out, const struct ring_reader *old,
		       struct packet_header *ret_last, uint64_t *cut)
{
	struct relay_conn *conn = out->sink->link;
	struct relay_stream *stream = relay_stream_of(out);
	int ret = relay_conn_open(conn);

	(void)cut;
	if (ret == 0 && relay_conn_knows(conn, &stream->place))
		return SINK_SAME;
	if (ret == 0)
		ret = relay_conn_stream(conn, out->config, out->cpu, &stream->place, ret_last,
					NULL);
	if (ret < 0)
		return old ? SINK_UNKNOWN : ret;
	return SINK_HAS;
}

static int relay_write(struct sink_stream *out, const struct packet_header *header,
		       const uint8_t *body)
{
	relay_conn_post(out->sink->link, relay_stream_of(out)->place.id, header, body,
			sink_stream_source(out), out->done, out->data);
	return SINK_SENDING;
}

static int relay_close(struct sink_stream *out, enum sink_end how)
{
	struct relay_stream *stream = relay_stream_of(out);
	bool ok = how != SINK_ENDED || !stream->place.id ||
		  relay_conn_stream_end(out->sink->link, &stream->place);

	free(stream);
	return ok ? 0 : -EIO;
}

static const struct sink_ops relay_ops = {
	.way = SINK_DIRECT,
	.start = relay_start,
	.settle = relay_settle,
	.turn = relay_turn,
	.end = relay_end,
	.open_chunk = relay_open_chunk,
	.append = relay_append,
	.stream_bytes = sizeof(struct relay_stream),
	.place = relay_place,
	.write = relay_write,
	.close = relay_close,
};

struct sink *relay_sink_new(const struct sink_config *config, const struct sink_host *host)
{
	struct sink *sink = xalloc(sizeof(*sink));

	sink->ops = &relay_ops;
	sink->link = relay_conn_new(config->relay, &config->chunk->traces);
	relay_conn_set_watch(sink->link, host->watch, host->data);
	return sink;
}
