/* SPDX-License-Identifier: GPL-2.0-only */
#include "sink.h"

#include <stdlib.h>

struct sink *sink_new(const struct sink_config *config, const struct sink_host *host)
{
	struct sink *sink;

	if (config->relay->addr)
		sink = config->relay->spool ? spool_sink_new(config, host) :
					      relay_sink_new(config, host);
	else
		sink = config->has_dir ? file_sink_new() : null_sink_new();
	list_init(&sink->streams);
	sink->splicer = SPLICER_NONE;
	return sink;
}

struct sink *sink_free(struct sink *sink)
{
	if (sink)
		splicer_fini(&sink->splicer);
	if (sink && sink->ops->free)
		sink->ops->free(sink);
	else
		free(sink);
	return NULL;
}

struct sink_stream *sink_stream_open(struct sink *sink, const struct stream_config *config,
				     uint32_t cpu, sink_done done, void *data)
{
	struct sink_stream *out = sink->ops->open(sink, config, cpu);

	out->sink = sink;
	out->config = config;
	out->cpu = cpu;
	out->done = done;
	out->data = data;
	out->source.fd = -1;
	list_append(&sink->streams, &out->node);
	return out;
}

struct sink_stream *sink_stream_close(struct sink_stream *out, enum sink_end how)
{
	list_remove(&out->node);
	out->sink->ops->close(out, how);
	return NULL;
}
