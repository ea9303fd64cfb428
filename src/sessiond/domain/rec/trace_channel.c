/* SPDX-License-Identifier: GPL-2.0-only */
/* trace_channel.c - a channel in a trace. */
#include "base/mem.h"
#include "recording.h"
#include "trace/metadata.h"

struct trace_channel *trace_channel_find(struct trace *trace, const struct channel *channel)
{
	struct trace_channel *trace_channel;

	list_for_each(trace_channel, &trace->channels, node)
		if (trace_channel->channel == channel)
			return trace_channel;
	return NULL;
}

static struct trace_channel *trace_channel_new(struct trace *trace, struct channel *channel)
{
	struct trace_channel *trace_channel = xalloc(sizeof(*trace_channel));

	list_init(&trace_channel->rings);
	trace_channel->trace = trace;
	trace_channel->channel = channel;
	class_table_init(&trace_channel->classes, &trace->rec->recorder->shapes,
			 trace->rec->recorder->config.quotas, trace_account(trace));
	list_append(&trace->channels, &trace_channel->node);
	return trace_channel;
}

struct trace_channel *trace_channel_get(struct trace *trace, struct channel *channel,
					const struct layout *contexts)
{
	struct trace_channel *trace_channel = trace_channel_find(trace, channel);

	if (trace_channel)
		return trace_channel;
	trace_channel = trace_channel_new(trace, channel);
	trace_channel->nr_contexts = contexts ? channel_nr_contexts(channel) : 0;
	trace_channel->batch = trace_append(trace, metadata_stream(recording_form(trace->rec),
							     channel->number, contexts));
	return trace_channel;
}

struct trace_channel *trace_channel_restore(struct trace *trace, struct channel *channel)
{
	struct trace_channel *trace_channel = trace_channel_new(trace, channel);

	trace_channel->batch = 1;
	return trace_channel;
}

void trace_channel_free(struct trace_channel *trace_channel)
{
	struct ring *ring, *next;

	list_for_each_safe(ring, next, &trace_channel->rings, node)
		ring_free(ring);
	class_table_fini(&trace_channel->classes);
	list_remove(&trace_channel->node);
	free(trace_channel);
}
