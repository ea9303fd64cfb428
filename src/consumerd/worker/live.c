/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.c - what viewers of a live session must be told; runs in the worker's thread.
 *
 * A viewer merges streams by time: it can't show what one has before it knows that no
 * other has anything older. So behind each round of cuts goes a beacon: a time up to
 * which everything, of all streams, has been sent. A record takes its time and is
 * published some nanoseconds later, unless an interrupt comes between the two; the beacon
 * is that much behind the round, and then some. Were a record later than that all the
 * same, the trace has it right, and the relay hangs up on viewers that it told otherwise.
 *
 * Data that is younger than a stream must not get to a viewer before the stream's
 * existence does; so the relay knows all streams before they record.
 */
#include "priv.h"

#include "consumerd/now.h"

#define MARGIN_NS 10000000u

/* The rings' clock may be the CPU's, whose speed is not known here: it is compared. */
uint64_t worker_mark(struct worker *w)
{
	const struct ringset *set = list_first(&w->sets, struct ringset, node);
	uint64_t ts, ns;
	uint32_t clock;

	if (!w->sink->live || w->incomplete || !set)
		return 0;
	clock = set->streams[0].reader.clock;
	ts = now_of_ring(clock);
	ns = now_ns();
	if (!w->base.ns || w->base.clock != clock) {
		w->base.clock = clock;
		w->base.ts = ts;
		w->base.ns = ns;
	}
	if (ns - w->base.ns < MARGIN_NS)
		return 0;
	return ts -
	       (uint64_t)((unsigned __int128)(ts - w->base.ts) * MARGIN_NS / (ns - w->base.ns));
}

int worker_beacon(struct worker *w, uint64_t mark)
{
	const struct ringset *set;

	if (!mark)
		return 0;
	list_for_each(set, &w->sets, node)
		if (!ringset_is_seen(set))
			return 0; /* the next round has it */
	return sink_beacon(w->sink, mark);
}

int worker_attach(struct worker *w)
{
	struct ringset *set;
	int ret = 0;

	if (!sink_attaches_all(w->sink))
		return 0;
	list_for_each(set, &w->sets, node)
		ret = ret ? ret : ringset_attach(set);
	if (ret < 0)
		ret = w->sink->ops->link_failed(w->sink, ret);
	return ret;
}
