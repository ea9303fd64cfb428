/* SPDX-License-Identifier: GPL-2.0-only */
#include "kept.h"

#include <string.h>

#include "ring.h"
#include "session.h"

/** The charges of a process's own ring sets. */
struct kept_charge {
	struct account_id account;
	uint64_t bytes, fds;
	bool unfit; /* one is lost, or being closed */
};

static void kept_close(struct user_session *us, uint64_t app)
{
	struct trace *trace, *next;

	rings_close_of(us, app);
	list_for_each_safe(trace, next, &us->rec.traces, node)
		if (trace->app == app && !trace->orphan)
			trace_abandon(trace);
}

static void kept_close_oldest(struct kept *kept, struct user_session *us)
{
	uint64_t app = kept->apps[0];

	memmove(kept->apps, kept->apps + 1, --kept->nr * sizeof(kept->apps[0]));
	kept_close(us, app);
}

static void kept_charge_ring(struct kept_charge *sum, const struct ring *ring)
{
	sum->account = ring->account;
	sum->bytes += ring->paid_bytes;
	sum->fds += ring->paid_fds;
	sum->unfit |= ring->lost || ring->wanted || ring->closing || ring->state == RING_FAILED;
}

static struct kept_charge kept_charge_of(const struct user_session *us, uint64_t app)
{
	const struct trace_channel *trace_channel;
	struct kept_charge sum = { .bytes = 0 };
	const struct trace *trace;
	const struct ring *ring;

	list_for_each(trace, &us->rec.traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring->app == app)
					kept_charge_ring(&sum, ring);
	return sum;
}

static bool kept_has_room(const struct user_session *us, const struct kept_charge *sum)
{
	struct quotas *quotas = us->rec.recorder->config.quotas;

	return quota_left(quotas, sum->account, QUOTA_MEMORY) >= sum->bytes &&
	       quota_left(quotas, sum->account, QUOTA_DESCRIPTORS) >= sum->fds;
}

void kept_add(struct user_session *us, uint64_t app)
{
	struct kept_charge sum = kept_charge_of(us, app);
	struct kept *kept = &us->kept;

	if (!us->rec.session->snapshots || !sum.bytes || sum.unfit) {
		kept_close(us, app);
		return;
	}
	for (uint32_t i = 0; i < kept->nr; i++)
		if (kept->apps[i] == app)
			return;
	if (kept->nr == KEPT_MOST)
		kept_close_oldest(kept, us);
	kept->apps[kept->nr++] = app;
	/* the memory of each is free when the consumer has closed it */
	if (!kept_has_room(us, &sum))
		kept_close_oldest(kept, us);
}
