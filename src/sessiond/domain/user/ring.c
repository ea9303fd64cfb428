/* SPDX-License-Identifier: GPL-2.0-only */
/* ring.c - which ring set an application records into. */
#include "ring.h"

#include "app.h"
#include "base/mem.h"
#include "session.h"

static char *stream_name(const struct ring *ring, const struct user_app *app)
{
	const struct channel *channel = ring->trace_channel->channel;

	/* beside the user's own stream files, a process's need a name of their own */
	if (ring->app && !ring->trace_channel->trace->app)
		return xasprintf("%s_p%d-%llu", channel->name, (int)app->app.pid,
				 (unsigned long long)ring->id);
	if (ring->trace_channel->replaced)
		return xasprintf("%s_r%llu", channel->name, (unsigned long long)ring->id);
	return xstrdup(channel->name);
}

static struct ring *ring_new(struct trace_channel *trace_channel, struct user_app *app, bool own)
{
	struct recorder *recorder = trace_channel->trace->rec->recorder;
	struct ring *ring = ring_alloc(trace_channel, recorder->next_id++, own ? app->app.id : 0);
	struct err err = { 0 };

	ring->exclusive = app->app.exclusive && own;
	ring->nr_rings = recorder->config.nr_cpus;
	if (ring->exclusive)
		ring->nr_rings = MAX(ring->nr_rings, 2u);
	ring->first_instance = trace_channel->next_instance;
	trace_channel->next_instance += ring->nr_rings;
	ring->name = stream_name(ring, app);
	if (ring_charge(ring, &err))
		ring_fail(ring, ERR_LIMIT, err.text);
	else
		ring_open(ring);
	return ring;
}

struct ring *ring_get(struct trace_channel *trace_channel, struct user_app *app)
{
	bool own = trace_channel->trace->app || app->app.exclusive;
	bool offers = app->features & APP_FEATURE_OFFER;
	uint64_t id = own ? app->app.id : 0;
	struct ring *ring;

	list_for_each(ring, &trace_channel->rings, node)
		if (ring->app == id && ring->exclusive == app->app.exclusive && !ring->closing &&
		    (offers || !ring->offered)) /* an old library rings an old doorbell */
			return ring;
	return ring_new(trace_channel, app, own);
}

static void close_in_trace_channel(struct trace_channel *trace_channel, uint64_t app)
{
	struct ring *ring, *next;

	list_for_each_safe(ring, next, &trace_channel->rings, node) {
		if (ring->app != app)
			continue;
		if (ring->wanted && ring->data < 0)
			ring_give_up(ring);
		else if (ring->lost)
			ring->departed = true;
		else if (!ring->closing)
			ring_close(ring);
	}
}

void rings_close_of(struct user_session *us, uint64_t app)
{
	struct trace *trace;
	struct trace_channel *trace_channel;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			close_in_trace_channel(trace_channel, app);
}
