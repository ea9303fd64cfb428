/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * domain.h - the interface of a tracer: of the user domain (applications), of
 * the kernel domain, of both at once (both.h). Commands and the model use tracers only through
 * this table. Everything runs on the daemon's loop; nothing blocks: slow operations complete
 * through a callback.
 */
#ifndef DOMAIN_DOMAIN_H
#define DOMAIN_DOMAIN_H

#include <stdint.h>

#include "ltt_counts.h"
#include "proto/consumer.h"
#include "sessiond/core/session.h"
#include "sessiond/core/shape.h"
#include "sessiond/state_msg.h"
#include "trace/clock.h"

struct domain_tracer;

/** Called once the change is in force, or after a second. @apps: number of applications
 *  concerned; @late: those of them that have not answered yet.
 *  @problem: not NULL: it failed; nothing records that did not before. */
typedef void (*domain_done)(void *data, uint32_t apps, uint32_t late, const struct err *problem);

/** An event that a rule matches and that can't be recorded or counted. */
struct domain_refusal {
	enum domain_id domain;
	const char *name;
	const char *why; /* half a sentence */
	bool recorded;	 /* of an application: it would be recorded, or counted */
};

/** The counts of an event that is not recorded. */
struct domain_counted {
	enum domain_id domain;
	const char *channel, *event, *field;
	bool counting;	   /* now */
	uint64_t since_ns; /* CLOCK_REALTIME */
	struct ltt_counts sums;
};

/** One instrumentation point, for a listing. */
struct domain_point {
	uint32_t pid;
	uint32_t uid;
	const char *process;
	const char *file;
	uint32_t line;
	uint32_t active; /* recording sessions that have it armed */
	const struct shape *shape;
	const char *refused; /* why it can't be recorded; NULL: it can. Then without shape: */
	const char *name;
	enum shape_kind kind;
};

/** Two points with one name and different formats. */
struct domain_conflict {
	const char *name;
	const char *armed;
	const char *refused;
	uint32_t pid;
};

/** The owner of a ring set. */
struct domain_ring {
	struct channel *channel;
	uint64_t owner; /* rings of one owner belong together; never 0 */
	bool open;
	bool final; /* closed, and each_final() has its sum */
};

struct domain_ops {
	const char *name;
	/** Begin to record; ends in @done. @clock lives as long as the session. */
	void (*start)(struct domain_tracer *domain, struct session *session,
		      const struct clock_facts *clock, domain_done done, void *data);
	/** Stop recording at once. @done, which may be NULL, is called when no event is in
	 *  flight any more, in any application that answers. */
	void (*stop)(struct domain_tracer *domain, struct session *session, domain_done done,
		     void *data);
	/** Channels or rules have changed. @done may be NULL. */
	void (*refresh)(struct domain_tracer *domain, struct session *session, domain_done done,
			void *data);
	/** The session ends: free everything about it. Waiting commands are answered. */
	void (*forget)(struct domain_tracer *domain, struct session *session);
	/** Metadata that could not be written may be tried again. */
	void (*retry)(struct domain_tracer *domain, struct session *session);

	uint32_t (*count_apps)(struct domain_tracer *domain, const struct session *session);
	uint32_t (*count_points)(struct domain_tracer *domain, const struct session *session,
				 const struct rule *rule);
	void (*each_point)(struct domain_tracer *domain, const struct caller *caller,
			   void (*fn)(const struct domain_point *point, void *data), void *data);
	/** Conflicts in a channel; @rule: among the events that it matches, or NULL. */
	void (*each_conflict)(struct domain_tracer *domain, struct session *session,
			      struct channel *channel, const struct rule *rule,
			      void (*fn)(const struct domain_conflict *conflict, void *data),
			      void *data);
	/** Return: false where the ring set is not (and was not) the session's. */
	bool (*find_ring)(struct domain_tracer *domain, const struct session *session,
			  uint64_t ring, struct domain_ring *ret);
	/** Counters of ring sets that are closed. */
	void (*each_final)(struct domain_tracer *domain, const struct session *session,
			   void (*fn)(const struct msg_con_stream *sum, void *data), void *data);

	/** The state for the next daemon: appended to STATE_TRACES, STATE_FINALS and STATE_APPS of
	 *  @space, which the caller has begun. */
	void (*save)(struct domain_tracer *domain, const struct session *session,
		     struct state_space *space);
	/** The reverse, once, in an empty session: restore the state of this domain. */
	void (*restore)(struct domain_tracer *domain, struct session *session,
			const struct clock_facts *clock, struct msg_state_session *msg);
	/** Send the session's state to a new consumer, or to one that outlived a daemon. */
	void (*adopt)(struct domain_tracer *domain, struct session *session);
	/** Store all buffers in a new keeper. */
	void (*keep)(struct domain_tracer *domain, struct session *session);
};

/** A tracer; embedded in what implements it. */
struct domain_tracer {
	const struct domain_ops *ops;
	struct list_node recordings; /* struct recording, of domains that have such */
};

#endif
