/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pay.c - whose share of memory and descriptors a ring set takes.
 */
#include "recording.h"

/* Here its four descriptors; with the consumer its memory, and two files a ring. */
#define RING_FDS(nr_rings) MAX(4u, 2u + 2u * (nr_rings))

struct payer trace_payer(const struct trace *trace)
{
	return (struct payer){ trace->uid, trace->uid != trace->rec->session->uid };
}

static struct quotas *quotas_of(const struct ring *ring)
{
	return ring->lane->trace->rec->recorder->config.quotas;
}

/* Buffers that all processes of a user share are made because the session's owner said so;
 * but how many have buffers of their own, their user decides. */
static struct payer payer_of(const struct ring *ring)
{
	const struct trace *trace = ring->lane->trace;

	return ring->app ? trace_payer(trace) : (struct payer){ .uid = trace->rec->session->uid };
}

int ring_pay(struct ring *ring, struct err *err)
{
	const struct channel_attr *attr = &ring->lane->channel->attr;
	uint64_t bytes = attr->subbuf_size * attr->num_subbuf * ring->nr_rings;
	struct quotas *quotas = quotas_of(ring);
	uint64_t fds = RING_FDS(ring->nr_rings);

	ring->payer = payer_of(ring);
	if (quota_take_or_say(quotas, ring->payer, QUOTA_MEMORY, bytes, err))
		return err->code;
	if (quota_take_or_say(quotas, ring->payer, QUOTA_DESCRIPTORS, fds, err)) {
		quota_give(quotas, ring->payer, QUOTA_MEMORY, bytes);
		return err->code;
	}
	ring->paid_bytes = bytes;
	ring->paid_fds = fds;
	return 0;
}

void ring_pay_back(struct ring *ring)
{
	struct quotas *quotas = quotas_of(ring);

	quota_give(quotas, ring->payer, QUOTA_MEMORY, ring->paid_bytes);
	quota_give(quotas, ring->payer, QUOTA_DESCRIPTORS, ring->paid_fds);
	ring->paid_bytes = ring->paid_fds = 0;
}
