/* SPDX-License-Identifier: GPL-2.0-only */
/* null.c - the sink of sessions without an output: packets are counted and discarded. */
#include <stdlib.h>

#include "base/mem.h"
#include "sink.h"

static struct sink_stream *null_open(struct sink *sink, const struct stream_config *config,
				     uint32_t cpu)
{
	(void)sink;
	(void)config;
	(void)cpu;
	return xalloc(sizeof(struct sink_stream));
}

static int null_write(struct sink_stream *out, const struct packet_header *header,
		      const uint8_t *body)
{
	(void)out;
	(void)header;
	(void)body;
	return SINK_DISCARDED;
}

static int null_close(struct sink_stream *out, enum sink_end how)
{
	(void)how;
	free(out);
	return 0;
}

static const struct sink_ops null_ops = {
	.way = SINK_LOCAL,
	.open = null_open,
	.write = null_write,
	.close = null_close,
};

struct sink *null_sink_new(void)
{
	struct sink *sink = xalloc(sizeof(*sink));

	sink->ops = &null_ops;
	return sink;
}
