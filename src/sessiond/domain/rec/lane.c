/* SPDX-License-Identifier: GPL-2.0-only */
/* lane.c - lanes: a channel in a trace. */
#include "base/mem.h"
#include "recording.h"
#include "trace/metadata.h"

struct lane *lane_find(struct trace *trace, const struct channel *channel)
{
	struct lane *lane;

	list_for_each(lane, &trace->lanes, node)
		if (lane->channel == channel)
			return lane;
	return NULL;
}

static struct lane *lane_new(struct trace *trace, struct channel *channel)
{
	struct lane *lane = xalloc(sizeof(*lane));

	list_init(&lane->rings);
	lane->trace = trace;
	lane->channel = channel;
	class_table_init(&lane->classes, &trace->rec->recorder->shapes,
			 trace->rec->recorder->config.quotas, trace_payer(trace));
	list_append(&trace->lanes, &lane->node);
	return lane;
}

struct lane *lane_get(struct trace *trace, struct channel *channel, const struct layout *contexts)
{
	struct lane *lane = lane_find(trace, channel);

	if (lane)
		return lane;
	lane = lane_new(trace, channel);
	lane->batch = trace_append(trace, metadata_stream(channel->number, contexts));
	return lane;
}

struct lane *lane_restore(struct trace *trace, struct channel *channel)
{
	struct lane *lane = lane_new(trace, channel);

	lane->batch = 1;
	return lane;
}

void lane_free(struct lane *lane)
{
	struct ring *ring, *next;

	list_for_each_safe(ring, next, &lane->rings, node)
		ring_free(ring);
	class_table_fini(&lane->classes);
	list_remove(&lane->node);
	free(lane);
}
