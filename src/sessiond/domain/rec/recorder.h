/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h - the things that all domains of the daemon share: its other processes, and the
 * ids of traces and ring sets, which the consumer knows from no domain. Owned by the
 * daemon; runs on its loop.
 */
#ifndef DOMAIN_REC_RECORDER_H
#define DOMAIN_REC_RECORDER_H

#include "io/loop.h"
#include "sessiond/consumer.h"
#include "sessiond/core/quota.h"
#include "sessiond/core/session.h"
#include "sessiond/core/shape.h"
#include "sessiond/keeper.h"

struct recorder_config {
	struct loop *loop;
	struct consumer *consumer;
	unsigned int nr_cpus;
	const char *hostname;
	/** Something went wrong that the session's owner should hear of; empty: no more. */
	void (*trouble)(struct session *session, enum trouble trouble, const char *text);
	/** Write down how things are, now. NULL: never. */
	void (*save)(struct session *session);
	/** The memory that the session's consumer sleeps on; borrowed, -1: there is none. */
	int (*doorbell)(const struct session *session);
	struct quotas *quotas;
	struct keeper *keeper; /* NULL: nobody keeps buffers for our successor */
};

struct recorder {
	struct recorder_config config; /* its strings are the daemon's */
	struct shapes shapes;
	uint64_t next_id;      /* of apps, traces and rings; from 1 */
	uint32_t nr_wanted;    /* ring sets that somebody may offer; see want.c */
	uint64_t long_ns;      /* what takes longer leaves as much time to all else */
	uint32_t slice;	       /* points that are looked at before all else has its turn */
	uint64_t passes;       /* through all that a link has armed; tests count them */
	uint64_t save_turn_ns; /* when what is on disk is written down again, at the soonest */
};

#endif
