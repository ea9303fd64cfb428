/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * charge.c - the account that a ring set is charged to.
 */
#include "recording.h"

/* Here its four descriptors; with the consumer its memory, and two files a ring. */
#define RING_FDS(nr_rings) MAX(4u, 2u + 2u * (nr_rings))

struct account_id trace_account(const struct trace *trace)
{
	return (struct account_id){ trace->uid, trace->uid != trace->rec->session->uid };
}

static struct quotas *charge_quotas_of(const struct ring *ring)
{
	return ring->trace_channel->trace->rec->recorder->config.quotas;
}

/* Buffers that all processes of a user share are created for the session's owner; but the user of
 * the processes decides how many have buffers of their own. */
static struct account_id charge_account_of(const struct ring *ring)
{
	const struct trace *trace = ring->trace_channel->trace;

	return ring->app ? trace_account(trace) :
			   (struct account_id){ .uid = trace->rec->session->uid };
}

int ring_charge(struct ring *ring, struct err *err)
{
	const struct channel *channel = ring->trace_channel->channel;
	uint64_t copies = channel->overwrite ? 2 : 1; /* the consumer has room for a copy */
	uint64_t bytes = copies * channel->subbuf_size * ring_num_subbuf(ring) * ring->nr_rings;
	struct quotas *quotas = charge_quotas_of(ring);
	uint64_t fds = RING_FDS(ring->nr_rings);

	ring->account = charge_account_of(ring);
	if (quota_take_or_explain(quotas, ring->account, QUOTA_MEMORY, bytes, err))
		return err->code;
	if (quota_take_or_explain(quotas, ring->account, QUOTA_DESCRIPTORS, fds, err)) {
		quota_give(quotas, ring->account, QUOTA_MEMORY, bytes);
		return err->code;
	}
	ring->paid_bytes = bytes;
	ring->paid_fds = fds;
	return 0;
}

void ring_refund(struct ring *ring)
{
	struct quotas *quotas = charge_quotas_of(ring);

	quota_give(quotas, ring->account, QUOTA_MEMORY, ring->paid_bytes);
	quota_give(quotas, ring->account, QUOTA_DESCRIPTORS, ring->paid_fds);
	ring->paid_bytes = ring->paid_fds = 0;
}
