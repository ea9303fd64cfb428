/* SPDX-License-Identifier: GPL-2.0-only */
/* null.c - the sink of sessions without an output: packets are counted and discarded. */
#include "base/mem.h"
#include "sink.h"

static int null_write(struct sink_stream *out, const struct packet_header *header,
		      const uint8_t *body)
{
	(void)out;
	(void)header;
	(void)body;
	return SINK_DISCARDED;
}

static const struct sink_ops null_ops = {
	.way = SINK_LOCAL,
	.stream_bytes = sizeof(struct sink_stream),
	.write = null_write,
};

struct sink *null_sink_new(void)
{
	struct sink *sink = xalloc(sizeof(*sink));

	sink->ops = &null_ops;
	return sink;
}
