/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * priv.h - what the files of the user domain share.
 *
 *   user_session   a session as this domain sees it: a recording (recording.h), and
 *    +- user_link    (session, application): what is armed there
 *
 * Truth is computed, not maintained: link_refresh() works out what an
 * application should record into a session and sends the difference to what it
 * was told. Whatever happens - a rule, a library, a buffer that is ready - just
 * marks links as dirty; they are refreshed once when the loop's round is over.
 */
#ifndef DOMAIN_USER_PRIV_H
#define DOMAIN_USER_PRIV_H

#include "sessiond/domain/rec/recording.h"
#include "user.h"

struct user_domain {
	struct domain_tracer domain;
	struct recorder *recorder;
	struct list_node apps;	 /* struct user_app */
	struct list_node dirty;	 /* struct user_link */
	struct list_node absent; /* struct absent_app */
	struct loop_timer look;	 /* for those that are gone for good */
	struct loop_work refresh;
	struct loop_timer turn; /* time of the next one, after a long one */
	uint64_t turn_ns;
	struct list_node awaits;  /* struct offers_wait, and */
	struct loop_work settled; /* their end */
	uint32_t next_serial;
};

struct user_app {
	struct list_node node;
	struct user_domain *user;
	struct peer *peer;
	struct app app;
	uint64_t start_ticks;	/* of the process: with its pid, its identity */
	bool offers;		/* it supports offers of ring sets */
	bool counts;		/* it supports counting */
	bool announced;		/* its first list of points is complete */
	uint64_t wanted;	/* the requested offer in flight; 0: none */
	uint32_t ready_due;	/* announcements without an app_ready reply */
	uint32_t nr_refused;	/* points */
	struct list_node links; /* struct user_link, by `in_app` */
};

struct user_session {
	struct recording rec;
	struct user_domain *user;
	uint64_t generation;	    /* of changes; see user_wait */
	struct list_node links;	    /* struct user_link, by `in_session` */
	struct list_node waits;	    /* struct user_wait */
	struct list_node tallies;   /* struct user_tally */
	struct list_node counts;    /* struct user_counts */
	struct list_node conflicts; /* struct conflict_note, of points that may be gone */
	uint32_t nr_conflicts;
	struct shape **announced; /* of applications of a scoped session; no rule matches them */
	uint32_t nr_announced;
	bool more_announced; /* than are kept */
	bool matched;	     /* a rule matched a point; then no further names are kept */
};

/** An application of an earlier daemon that may reconnect. */
struct absent_app {
	struct list_node node;
	uint64_t id;
	pid_t pid;
	uint64_t start_ticks;
};

/** A point that was not armed because of its format. */
struct conflict_note {
	struct list_node node;
	const struct channel *channel;
	struct shape *armed, *refused;
	uint32_t pid;
};

/** Memory for counters of a user's applications. */
struct user_counts {
	struct list_node node;
	uint64_t id;
	uid_t uid;
	int fd;
	uint64_t *words; /* read only */
	uint32_t used;	 /* words of each part */
};

/** The counter of an event, for a user's applications. */
struct user_place {
	struct user_place *next;
	uid_t uid;
	uint32_t word, nr_words;
	struct user_counts *counts; /* NULL: out of memory */
};

/** An event that is counted, or was. */
struct user_stat {
	char *name;
	uint64_t since_ns;
	struct account_id account; /* for the name */
	struct user_place *places;
};

/** A rule whose events are counted. */
struct user_tally {
	struct list_node node;
	const struct channel *channel; /* they live as long as the session */
	const struct rule *rule;
	void *stats; /* tsearch by name: struct user_stat */
};

/** One point and its counter, as sent to the application. */
struct counting {
	uint32_t point;
	int field; /* -1: hits alone */
	const struct user_counts *counts;
	uint32_t word;
};

/** One point and its ring set, as sent to the application. */
struct arm {
	uint32_t point;
	uint32_t event;
	struct ring *ring;
};

struct user_link {
	struct list_node in_app, in_session;
	struct list_node dirty;
	struct user_app *app;
	struct user_session *us;
	struct arm *arms; /* sorted */
	size_t nr_arms;
	bool all;	/* refresh all points; else only these: */
	uint32_t *todo; /* new ones, and those that wait for a buffer or metadata */
	size_t nr_todo, cap_todo;
	size_t nr_next;	   /* the first ones of todo: for the next turns */
	uint32_t *dropped; /* removed points whose armings and countings still exist */
	size_t nr_dropped, cap_dropped;
	struct ring **told; /* ring sets that the application has */
	uint32_t nr_sent;
	const struct channel *failed; /* why the application can't use its buffers, or NULL: */
	uint32_t failed_error;	      /* errno */
	struct counting *countings; /* sorted */
	size_t nr_countings;
	const struct user_counts **sent_counts; /* memory that the application has */
	uint32_t nr_sent_counts;
	bool changed;	     /* changes were sent since the last sync */
	bool dumped;	     /* state dump asked for since the start */
	uint64_t generation; /* of the session, that is wanted */
	uint64_t asked;	     /* generation of the sync in flight, and */
	uint32_t serial;     /* its number */
	uint64_t confirmed;
	uint64_t late; /* last generation that was not confirmed in time; 0: none */
};

/** A command that waits until a change is in force everywhere. */
struct user_wait {
	struct list_node node;
	struct user_session *us;
	uint64_t generation;
	uint32_t apps, left;
	bool metadata; /* and for data that is being written */
	bool offers;   /* and for lost ring sets that may still be offered */
	bool stop;     /* without those that were late before */
	struct loop_timer late;
	domain_done done;
	void *data;
};

static inline struct user_domain *user_of(struct domain_tracer *domain)
{
	return container_of(domain, struct user_domain, domain);
}

static inline struct user_session *us_of(struct recording *rec)
{
	return container_of(rec, struct user_session, rec);
}

/* user.c */
struct user_session *user_session_find(struct user_domain *user, const struct session *session);
struct user_session *user_session_get(struct user_domain *user, struct session *session,
				      const struct clock_facts *clock);
bool user_eligible(const struct session *session, const struct app *app);

/* trace.c */
struct trace *trace_get(struct user_session *us, struct user_app *app,
			const struct channel *channel);
/** The trace of the session's owner, created at the start so that there is always one to read. */
void trace_prepare(struct user_session *us);
struct trace *trace_find(struct user_session *us, const struct user_app *app,
			 const struct channel *channel);
/** The beginning of the metadata of a user's trace. */
void trace_describe(struct trace *trace);

/* ring.c */
/** The ring set of the trace channel that an application records into. */
struct ring *ring_get(struct trace_channel *trace_channel, struct user_app *app);
/** Close the ring sets and trace of this application alone. */
void rings_close_of(struct user_session *us, uint64_t app);

/* state.c */
void user_save(struct domain_tracer *domain, const struct session *session,
	       struct state_space *space);
void user_restore(struct domain_tracer *domain, struct session *session,
		  const struct clock_facts *clock, struct msg_state_session *msg);
/** It may reconnect under its id. */
void absent_add(struct user_domain *user, const struct msg_state_app *msg);
/** An application connects. Return: the id that it had under an earlier daemon, or 0. */
uint64_t absent_take(struct user_domain *user, pid_t pid, uint64_t start_ticks);
void absent_free(struct user_domain *user);
void absent_check(struct loop_timer *timer);
/** Clock ticks since boot when a process began; 0: unknown or ended. */
uint64_t process_start_ticks(pid_t pid);

/* app.c */
/** No application with this id will record any more. */
void user_close_buffers(struct user_domain *user, uint64_t app);

/* offer.c */
/** Request the next ring set that the application may have. Return: whether an answer will
 *  follow. */
bool offers_request(struct user_app *app);
/** Whether a lost ring set is wanted that only the application @app could offer. */
bool offers_expected(const struct user_domain *user, uint64_t app);

/* await.c */
/** A session waits no longer for offers: complete the commands that wait for all of them. */
void offers_done(struct user_domain *user);
void awaits_finish(struct loop_work *work);

/* programs.c */
/** Keep the names of points that no rule matches. */
void announced_note(struct user_link *link);
void announced_free(struct user_session *us);

/* plan.c */
/** struct plan - the wanted state of a link; the link takes over its memory. */
struct plan {
	struct user_link *link;
	struct channel *channel; /* the one that is looked at, and the messages about it */
	struct trace_channel *trace_channel;
	struct ring *ring;
	struct arm *arms; /* sorted by arm_compare() */
	size_t nr, cap;
	uint32_t *todo; /* points that have to wait */
	size_t nr_todo, cap_todo;
};

int arm_compare(const void *a, const void *b);
/** Sort numbers of points and remove duplicates. Return: their number. */
size_t points_sort(uint32_t *points, size_t nr);
void plan_make(struct plan *plan);
/** Its points, or those to be refreshed. */
void link_each_point(struct user_link *link, void (*fn)(struct app_point *point, void *data),
		     void *data);
bool link_is_armed(const struct user_link *link, uint32_t point);

/* arm.c */
struct user_link *link_new(struct user_session *us, struct user_app *app);
void link_free(struct user_link *link);
/** Refresh all points. */
void link_touch(struct user_link *link);
void links_touch(struct user_session *us);
/** Refresh this point. */
void link_touch_point(struct user_link *link, uint32_t point);
/** Refresh those that wait: a buffer is ready, or metadata is written. */
void links_touch_pending(struct user_session *us);
/** The work of one turn; if more is left the link stays dirty. Return: number of processed
 *  points. */
size_t link_refresh(struct user_link *link);
/** The application does not have this point any more: nothing to disarm. Its armings and countings
 *  go with the next refresh, in one pass for all points that are dropped until then. */
void link_drop_point(struct user_link *link, uint32_t point);
/** Drop buffers: all, or those that the application can't write any more. */
void link_drop_buffers(struct user_link *link, bool all);

/* counts.c */
/** The account that is charged for a user's applications in the session. */
struct account_id user_account(const struct user_session *us, uid_t uid);
/** Allocate this many words at one place of each part. Return: the memory, or NULL and @err is
 *  set. */
struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err);
void counts_free_all(struct user_session *us);
/** Describe it to an application. */
void counts_describe(const struct user_session *us, const struct user_counts *counts,
		     struct msg_app_counts *ret);
/** Add the @nr words there, summed over all parts, to @sums. */
void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, struct ltt_counts *sums);

/* stats.c */
/** Whether its values have a histogram. */
static inline bool field_is_integer(const struct layout_field *field)
{
	return field->kind == LTT_KIND_INT || field->kind == LTT_KIND_ENUM;
}
/** Return: the number of the integer field, or -1. */
int shape_integer(const struct shape *shape, const char *name);
/** Whether the rule, which may be one that counts, matches points of this shape. */
bool user_rule_takes(const struct rule *rule, const struct shape *shape);
struct user_tally *tally_get(struct user_session *us, const struct channel *channel,
			     const struct rule *rule);
/** The counter of an event for the user's applications. Return: NULL if there is no memory. */
struct user_place *tally_place(struct user_session *us, struct user_tally *tally, uid_t uid,
			       const char *name);
/** Memory may be available now: retry. */
void tallies_retry(struct user_session *us);
void tallies_free(struct user_session *us);

/* count.c */
/** Send the changes of its counters to the application. */
void link_count(struct user_link *link);
bool link_is_counted(const struct user_link *link, uint32_t point);
/** The application does not have the point any more: nothing to withdraw. */
/** Remove those of removed points; @points is sorted. */
void link_uncount_points(struct user_link *link, const uint32_t *points, size_t nr);
/** Withdraw all memory for counters. */
void link_drop_counts(struct user_link *link);
void link_counts_free(struct user_link *link);

/* wait.c */
void wait_new(struct user_session *us, domain_done done, void *data);
/** The same for a stop: it does not wait for metadata, nor again for an application that did not
 *  answer before. */
void wait_stop(struct user_session *us, domain_done done, void *data);
/** The session ends: complete all waits. */
void waits_finish(struct user_session *us);
/** Metadata has been written, or can't be. */
void waits_metadata(struct user_session *us);
/** The lost buffers have been offered, or are not waited for any longer. */
void waits_offers(struct user_session *us);
/** The link has confirmed everything up to @generation (or is gone: UINT64_MAX). */
void link_confirm(struct user_link *link, uint64_t generation);
/** Nothing is pending for the link: send a sync to the application. */
void link_request_confirm(struct user_link *link);

/* point.c */
/** A registered point: decode, check, store. Return: the problem, or NULL. */
const char *point_add(struct app *app, struct msg_app_point *msg);

/* conflict.c */
void conflict_note(struct user_link *link, struct trace_channel *trace_channel, struct shape *armed,
		   struct shape *refused);
void conflicts_free(struct user_session *us);
void user_each_conflict(struct domain_tracer *domain, struct session *session,
			struct channel *channel, const struct rule *rule,
			void (*fn)(const struct domain_conflict *conflict, void *data), void *data);

/* list.c */
uint32_t user_count_apps(struct domain_tracer *domain, const struct session *session);
uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule);
void user_each_point(struct domain_tracer *domain, const struct caller *caller,
		     void (*fn)(const struct domain_point *point, void *data), void *data);

#endif
