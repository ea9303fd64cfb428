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

/** Called when the change is in force, or after a second. @apps: number of applications
 *  concerned; @late: number of those that have not answered yet.
 *  @problem: not NULL: the change failed, and was undone. */
typedef void (*domain_done)(void *data, uint32_t apps, uint32_t late, const struct err *problem);

/** An event that a rule matches and that can't be recorded or counted. */
struct domain_refusal {
	enum domain_id domain;
	const char *name;
	const char *why; /* a phrase without a subject */
	bool recorded;	 /* an application's event that was to be recorded; else counted */
};

/** The counts of an event that is not recorded. */
struct domain_counted {
	enum domain_id domain;
	const char *channel, *event, *field;
	bool counting;	   /* it is being counted now */
	uint64_t since_ns; /* CLOCK_REALTIME */
	struct ltt_counts sums;
	const char *by;	   /* fields of the key; NULL: none */
	uint64_t overflow; /* hits whose keys found no room in the table */
};

/** A value of a key. */
struct domain_key_value {
	enum ltt_counts_kind kind;
	uint64_t number;
	const char *text; /* the text, or the label of the number; NULL: none */
};

/** The counts of a key of the event that was reported last. */
struct domain_counted_key {
	uint32_t nr;
	struct domain_key_value values[LTT_COUNTS_BY_MAX];
	struct ltt_counts sums;
};

struct domain_counted_ops {
	void (*counted)(const struct domain_counted *counted, void *data);
	void (*key)(const struct domain_counted_key *key, void *data);
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
	const char *refused; /* reason why it can't be recorded; NULL: it can */
	/* Of a refused point, which has no shape. */
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
	uint64_t owner; /* id of the user's or process's trace; never 0 */
	bool open;
	bool final; /* closed, and each_final() reports its counters */
};

struct domain_ops {
	const char *name;
	/** Begin to record; ends in @done. @clock lives as long as the session. */
	void (*start)(struct domain_tracer *domain, struct session *session,
		      const struct clock_facts *clock, domain_done done, void *data);
	/** Stop recording at once. @done, which may be NULL, is called when no event is being
	 *  recorded any more in the applications that answer. */
	void (*stop)(struct domain_tracer *domain, struct session *session, domain_done done,
		     void *data);
	/** Channels or rules have changed. @done may be NULL. */
	void (*refresh)(struct domain_tracer *domain, struct session *session, domain_done done,
			void *data);
	/** The session ends: free everything about it. Waiting commands are answered. */
	void (*forget)(struct domain_tracer *domain, struct session *session);
	/** A problem that keeps metadata from the output is new, or solved: metadata is written
	 *  again, and not waited for where it can't be. */
	void (*retry)(struct domain_tracer *domain, struct session *session);

	uint32_t (*count_apps)(struct domain_tracer *domain, const struct session *session);
	/** Number of points that a rule matches. @ret_never: number of those for which the rule's
	 *  filter never holds. */
	uint32_t (*count_points)(struct domain_tracer *domain, const struct session *session,
				 const struct rule *rule, uint32_t *ret_never);
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

	/** Write the numbers of events that were not sampled, from @streams, to the metadata. @done
	 *  is called when they are written, or can't be. */
	void (*write_not_sampled)(struct domain_tracer *domain, struct session *session,
				  const struct msg_con_stream *streams, size_t nr, domain_done done,
				  void *data);

	/** The clock of `start` has a new segment: describe it in the metadata. */
	void (*clock_changed)(struct domain_tracer *domain, struct session *session);

	/** The state for the next daemon: appended to STATE_TRACES, STATE_FINALS and STATE_APPS of
	 *  @space, which the caller has begun. */
	void (*save)(struct domain_tracer *domain, const struct session *session,
		     struct state_space *space);
	/** Restore the state of this domain that `save` has written, in an empty session. */
	void (*restore)(struct domain_tracer *domain, struct session *session,
			const struct clock_facts *clock, struct msg_state_session *msg);
	/** Send the session's state to a new consumer, or to one that outlived a daemon. */
	void (*adopt)(struct domain_tracer *domain, struct session *session);
	/** Store all buffers in a new keeper. */
	void (*keep)(struct domain_tracer *domain, struct session *session);
};

/** A tracer; embedded in the structure of its implementation. */
struct domain_tracer {
	const struct domain_ops *ops;
	struct list_node recordings; /* struct recording; empty in domain/both.c */
};

#endif
