/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * domain.h - the interface of a domain's tracer: of applications, of the kernel. Commands and the
 * daemon use tracers only through this table, one of them or all (domains.h). Everything runs on
 * the daemon's loop; nothing blocks: slow operations complete through a callback.
 */
#ifndef DOMAIN_DOMAIN_H
#define DOMAIN_DOMAIN_H

#include <stdint.h>

#include "ltt_counts.h"
#include "proto/consumer.h"
#include "sessiond/core/session.h"
#include "sessiond/core/shape.h"
#include "sessiond/core/trigger.h"
#include "sessiond/state/msg.h"
#include "trace/clock.h"

struct consumer;
struct domain_tracer;
struct filter_tracer;

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

/** Files of a place in a program. @places: of the newest one, as a rule has them. @earlier: others
 *  that are recorded while programs run them: DEVICE:INODE, separated by commas. */
struct domain_files {
	const char *places, *earlier;
};

/** The counts of an event that is not recorded. */
struct domain_counted {
	enum domain_id domain;
	const char *channel, *event, *field;
	bool counting;	   /* it is being counted now */
	bool at_least;	   /* counts of an earlier session daemon are missing */
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

/** How the kernel's events are recorded; as in `point` (client.def). */
enum domain_way { WAY_NATIVE = 1, WAY_PERF, WAY_SYSCALL, WAY_STATE };

/** One instrumentation point, for a listing. */
struct domain_point {
	uint32_t pid;
	uint32_t uid;
	const char *process;
	const char *file;
	uint32_t line;
	uint32_t active; /* recording sessions that have it armed */
	uint8_t way;	 /* enum domain_way, of the kernel's */
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

/** A channel that is registered for its events: they are recorded into it unless the user names
 *  another one. */
struct domain_preset {
	const char *name;
	const char *events;   /* glob of their names */
	uint64_t subbuf_size; /* bytes; 0: the default */
	uint32_t num_subbuf;  /* 0: the default */
	uid_t uid;	      /* of the programs that have registered it */
	const char *unused;   /* why it is not used, without a full stop; empty: it is */
};

/** A change of the tracked ids. */
struct domain_track {
	enum track_kind kind;
	enum track_op op;
	uint32_t id; /* of TRACK_ADD and TRACK_REMOVE */
};

/**
 * struct domain_dumps - the channels and applications that dump their state again. @for_snapshot:
 * input: channels of the kernel that have its first events are left out, as the state at the start
 * is among these, and each further dump takes room of them, or is lost.
 */
struct domain_dumps {
	bool for_snapshot;
	uint32_t channels, applications;
};

/**
 * struct domain_programs - the applications of a session.
 * @recording: number of applications that record into it, or are about to. @apps: number of those
 * that may. @matched: a rule matched a point of an application, which may have ended. @more: names
 * were omitted.
 */
struct domain_programs {
	uint32_t recording, apps;
	bool matched, more;
};

/**
 * struct domain_trigger_ops - triggers on events of the domain. Their firings are passed on to the
 * daemon (recorder_config.fired).
 * @kind: of the keeper's entries, whose descriptors outlive the daemon.
 */
struct domain_trigger_ops {
	const char *kind;
	/** Check the events and fields that a request names, for a user; 0: for all users. Return:
	 *  0 or the code set in @err. */
	int (*check)(struct domain_tracer *domain, const struct trigger_spec *spec, uid_t uid,
		     struct err *err);
	/** Watch for a trigger, also in events that come later. One that an earlier daemon watched
	 *  for continues: its firings since then are passed on, by the loop. trigger->watched is
	 *  set. Obstacles are logged. May be repeated. */
	void (*watch)(struct domain_tracer *domain, struct trigger *trigger);
	/** Wait until the trigger is watched for everywhere, for some time at most. Return: false:
	 *  it is; @done is not called. */
	bool (*settle)(struct domain_tracer *domain, const struct trigger *trigger,
		       void (*done)(void *data), void *data);
	/** Stop to watch; firings that were not passed on are forgotten. */
	void (*unwatch)(struct domain_tracer *domain, struct trigger *trigger);
	/** Return: points that match. @ret_problem: set where it can't fire now, a phrase. */
	uint32_t (*matched)(struct domain_tracer *domain, const struct trigger *trigger,
			    char *ret_problem, size_t len);
	/** Of conditions that count events (rate, silence): events since it is watched for, also
	 *  under earlier daemons. */
	uint64_t (*count)(struct domain_tracer *domain, const struct trigger *trigger);
	/** Begins of pairs that a full table has dropped, and events without a readable key. */
	void (*lost)(struct domain_tracer *domain, const struct trigger *trigger,
		     uint64_t *ret_evicted, uint64_t *ret_missed);
	/** For the keeper: whether the entry of a user is needed. If so, and an earlier daemon had
	 *  it, it is adopted. */
	bool (*wants)(struct domain_tracer *domain, uid_t uid);
	/** Put all entries into a new keeper. */
	void (*keep)(struct domain_tracer *domain);
};

/** The values of a key of a map channel, of one owner. */
struct domain_map_value {
	const char *key; /* NULL: increments of keys for which there was no room */
	uid_t uid;
	pid_t pid;   /* 0: of all processes of the user */
	bool shared; /* of processes that have ended */
	uint32_t nr_parts;
	const uint64_t *parts; /* for each CPU; the last one: increments that no CPU's part has */
};

/** struct domain_map_ops - map channels of the domain. */
struct domain_map_ops {
	void (*each_value)(struct domain_tracer *domain, const struct session *session,
			   const struct map *map,
			   void (*fn)(const struct domain_map_value *value, void *data),
			   void *data);
	/** Set all values to 0. Return: 0 or the code set in @err. */
	int (*clear)(struct domain_tracer *domain, const struct session *session, struct err *err);
	/** Whether an entry of the keeper is the session's. */
	bool (*is_kept)(struct domain_tracer *domain, const struct session *session, uint64_t id);
};

struct domain_ops {
	enum domain_id id;
	const char *events; /* whose they are: "applications", "the kernel" */
	char option;	    /* of lttctl, for messages */
	const struct domain_trigger_ops *triggers;
	const struct domain_map_ops *maps; /* NULL: the domain has none */

	/* --- checks of requests. Return: 0, or the code set in @err. */

	/** Whether the domain can be traced on this machine. */
	int (*available)(struct domain_tracer *domain, struct err *err);
	/** Convert the attributes of a new rule to their stored form. @ret_text: memory of
	 *  texts that @spec has now, to be freed, or NULL. */
	int (*convert_rule)(struct domain_tracer *domain, struct rule_spec *spec, char **ret_text,
			    struct err *err);
	/** Whether a new rule can match. */
	int (*check_rule)(struct domain_tracer *domain, const struct session *session,
			  const struct rule_spec *spec, struct err *err);
	/** Whether the channel can have such a rule besides its others. */
	int (*check_rule_in)(struct domain_tracer *domain, const struct channel *channel,
			     const struct rule_spec *spec, struct err *err);
	/** Whether there is such a context. */
	int (*check_context)(struct domain_tracer *domain, const char *type, struct err *err);
	/** Whether contexts can be added to the channel now. @types: comma-separated; those that
	 *  it has already are allowed. */
	int (*check_contexts_of)(struct domain_tracer *domain, const struct session *session,
				 const struct channel *channel, const char *types, struct err *err);
	/** Whether the domain can select events by such ids. */
	int (*check_track)(struct domain_tracer *domain, enum track_kind kind, struct err *err);

	/* --- recording */

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
	/** A rule was added, or has changed: the same for the events that it matches. */
	void (*refresh_rule)(struct domain_tracer *domain, struct session *session,
			     const struct rule *rule, domain_done done, void *data);
	/** The session ends: free everything about it. Waiting commands are answered. */
	void (*forget)(struct domain_tracer *domain, struct session *session);
	/** A problem that keeps metadata from the output is new, or solved: metadata is written
	 *  again, and not waited for where it can't be. */
	void (*retry)(struct domain_tracer *domain, struct session *session);

	/** Bring a change of the tracked ids into force, before it is stored in the session.
	 *  Repeating a change is allowed. NULL: `refresh` does it, when it is stored. Return: 0 or
	 *  the code set in @err. */
	int (*track)(struct domain_tracer *domain, const struct session *session,
		     const struct domain_track *track, struct err *err);
	/** Dump the state again, if the session records. @ret: added to. @done is called when the
	 *  applications have answered or are late, perhaps at once. */
	void (*dump)(struct domain_tracer *domain, const struct session *session,
		     struct domain_dumps *ret, domain_done done, void *data);

	/* --- listings */

	uint32_t (*count_apps)(struct domain_tracer *domain, const struct session *session);
	/** Number of points that a rule matches. @ret_never: number of those for which the rule's
	 *  filter never holds. */
	uint32_t (*count_points)(struct domain_tracer *domain, const struct session *session,
				 const struct rule *rule, uint32_t *ret_never);
	/** The files of a rule about a place in a program. NULL: the domain has none. */
	void (*find_files)(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule, struct domain_files *ret);
	/** The name of a point that may be meant by @name, valid until points change; empty: none.
	 *  NULL: the domain does not search. */
	const char *(*nearest_point)(struct domain_tracer *domain, const struct session *session,
				     const char *name);
	void (*each_point)(struct domain_tracer *domain, const struct caller *caller,
			   void (*fn)(const struct domain_point *point, void *data), void *data);
	/** Conflicts in a channel; @rule: among the events that it matches, or NULL. */
	void (*each_conflict)(struct domain_tracer *domain, struct session *session,
			      struct channel *channel, const struct rule *rule,
			      void (*fn)(const struct domain_conflict *conflict, void *data),
			      void *data);
	/** Events that can't be recorded or counted. @channel, @rule: only of these; NULL: of
	 *  all. */
	void (*each_refusal)(struct domain_tracer *domain, const struct session *session,
			     const struct channel *channel, const struct rule *rule,
			     void (*fn)(const struct domain_refusal *refusal, void *data),
			     void *data);
	void (*each_counted)(struct domain_tracer *domain, const struct session *session,
			     const struct domain_counted_ops *ops, void *data);
	/** The contexts that can be recorded with each event. Return: 0 or the code set in @err. */
	int (*each_context)(struct domain_tracer *domain,
			    void (*fn)(const struct layout_field *context, void *data), void *data,
			    struct err *err);
	/** The contexts that filters may compare. */
	const struct filter_tracer *(*filters)(struct domain_tracer *domain);
	/** The presets for sessions of a user, in the order in which they are searched. */
	void (*each_preset)(struct domain_tracer *domain, uid_t uid,
			    void (*fn)(const struct domain_preset *preset, void *data), void *data);
	/** Whether all events that a pattern can match are of the channel that a preset is for. */
	bool (*is_preset_for)(struct domain_tracer *domain, const struct domain_preset *preset,
			      const char *pattern);
	/** Why a preset of each_preset() is not used in a session of a user; empty: it is. NULL:
	 *  all are. */
	const char *(*preset_obstacle)(struct domain_tracer *domain,
				       const struct domain_preset *preset, uid_t uid);
	/** The applications of a session. @fn: called for each name of a point of the session's
	 *  applications, unless a rule matched one of their points. NULL: the domain has none. */
	void (*programs)(struct domain_tracer *domain, const struct session *session,
			 struct domain_programs *ret, void (*fn)(const char *name, void *data),
			 void *data);

	/* --- ring sets and traces */

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

	/** Append a comment about the clock of `start` to the metadata. */
	void (*clock_remark)(struct domain_tracer *domain, struct session *session,
			     const char *remark);

	/* --- other daemons: the next session daemon, consumer, keeper */

	/** The state for the next daemon: appended to STATE_TRACES, STATE_FINALS and STATE_APPS of
	 *  @space, which the caller has begun. */
	void (*save)(struct domain_tracer *domain, const struct session *session,
		     struct state_space *space);
	/** Restore the state of this domain that `save` has written, in an empty session. */
	void (*restore)(struct domain_tracer *domain, struct session *session,
			const struct clock_facts *clock, struct msg_state_session *msg);
	/** Call @done, at once or later, when no session waits for a ring set that a killed daemon
	 *  has lost, and an application has. NULL: this does not happen. */
	void (*await_offers)(struct domain_tracer *domain, domain_done done, void *data);
	/** Send the session's state to a new consumer, or to one that outlived a daemon, if that
	 *  writes the domain. */
	void (*adopt)(struct domain_tracer *domain, struct session *session,
		      const struct consumer *consumer);
	/** An application has damaged a ring set. NULL: this does not happen. */
	void (*damaged)(struct domain_tracer *domain, struct session *session, uint64_t ring);
	/** Store all buffers in a new keeper. */
	void (*keep)(struct domain_tracer *domain, struct session *session);
};

/** A tracer; embedded in the structure of its implementation. */
struct domain_tracer {
	const struct domain_ops *ops;
	struct list_node recordings; /* struct recording */
};

#endif
