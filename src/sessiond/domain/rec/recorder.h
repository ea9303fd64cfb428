/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h - objects that all domains of the daemon share: connections to its other processes,
 * and the ids of traces and ring sets, which are unique across domains. Owned by the daemon;
 * runs on its loop.
 */
#ifndef DOMAIN_REC_RECORDER_H
#define DOMAIN_REC_RECORDER_H

#include "io/loop.h"
#include "sessiond/core/quota.h"
#include "sessiond/core/session.h"
#include "sessiond/core/shape.h"
#include "sessiond/peers/consumer.h"
#include "sessiond/peers/keeper.h"

struct firing;
struct recorder;
struct trace_clock;
struct trigger;

struct recorder_config {
	struct loop *loop;
	/** The consumer that writes a domain of a session; it outlives the session, and is another
	 *  one at most after `prepare`. */
	struct consumer *(*consumer)(const struct session *session, enum domain_id domain);
	/** A trace of the domain is about to be opened. */
	void (*prepare)(struct session *session, enum domain_id domain);
	unsigned int nr_cpus;
	const char *hostname;
	/** Report a problem to the session's owner; empty: it is solved. */
	void (*trouble)(struct session *session, enum trouble trouble, const char *text);
	/** Save the session's state now. NULL: never. */
	void (*save)(struct session *session);
	/** Descriptor of the session's doorbell page; borrowed; -1: there is none. */
	int (*doorbell)(const struct session *session);
	/** A trigger has fired @nr times. @firing: NULL: its event is not known. When it returns
	 *  they are decided. */
	void (*fired)(struct recorder *recorder, struct trigger *trigger,
		      const struct firing *firing, uint64_t nr);
	/** An earlier daemon had begun to decide about @nr firings. */
	void (*interrupted)(struct recorder *recorder, struct trigger *trigger, uint64_t nr);
	struct quotas *quotas;
	struct keeper *keeper; /* NULL: buffers are not stored for a successor */
	struct trace_clock *clock; /* NULL: CLOCK_MONOTONIC */
};

struct recorder {
	struct recorder_config config; /* its strings are owned by the daemon */
	struct shapes shapes;
	uint64_t next_id;      /* of apps, traces and rings; from 1 */
	uint32_t nr_wanted;    /* lost ring sets that an application may still offer; see want.c */
	uint64_t long_ns;      /* operations that take longer are repeated after an equal pause */
	uint64_t late_us;      /* without progress, until a command stops waiting for the kernel */
	uint32_t slice;	       /* points that are processed in one turn of the loop */
	uint64_t passes;       /* complete scans of the armed events of a link; read by tests */
	uint64_t visits;       /* of points, to plan their armings; read by tests */
	uint64_t save_turn_ns; /* earliest time of the next save of metadata positions */
};

#endif
