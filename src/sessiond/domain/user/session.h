/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - the user domain, and its state of a session: a recording, its links with
 * applications, commands that wait for them, and the part of the saved state that belongs to
 * applications. Runs on the daemon's loop.
 *
 *   user_session   a recording (recording.h)
 *    +- user_link    (session, application): the armed points (link.h)
 */
#ifndef DOMAIN_USER_SESSION_H
#define DOMAIN_USER_SESSION_H

#include "map.h"
#include "matches.h"
#include "trace.h"
#include "sessiond/domain/rec/filter.h"
#include "sessiond/domain/rec/recording.h"
#include "user.h"
#include "sessiond/domain/domain.h"
#include "base/list.h"
#include "io/loop.h"

struct user_link;

struct user_domain {
	struct domain_tracer domain;
	struct recorder *recorder;
	struct list_node apps;	  /* struct user_app */
	struct list_node presets; /* struct user_preset */
	struct list_node dirty;	  /* struct user_link */
	struct list_node absent;  /* struct absent_app */
	struct list_node silent;  /* struct silent_app */
	uint32_t nr_silent;
	struct loop_timer look; /* checks whether absent applications have ended */
	struct loop_work refresh;
	struct loop_timer turn; /* time of the next refresh, after a long one */
	uint64_t turn_ns;
	struct list_node awaits;  /* struct offers_wait */
	struct loop_work settled; /* completes @awaits */
	uint32_t next_serial;
	struct user_matches matches; /* of the rule that was requested last */
	struct fire *fire;	     /* NULL: no trigger watches applications so far */
	struct loop_work fire_tidy;
};

struct user_session {
	struct recording rec;
	struct user_domain *user;
	uint64_t generation;	    /* number of the last change; see user_wait */
	struct list_node links;	    /* struct user_link, by `in_session` */
	struct list_node waits;	    /* struct user_wait */
	struct list_node tallies;   /* struct user_tally */
	struct idmap tallies_by_rule;
	struct list_node counts;    /* struct user_counts */
	struct user_maps maps;
	struct list_node conflicts; /* struct conflict_note; its points may have been removed */
	uint32_t nr_conflicts;
	uint32_t nr_silent; /* applications that can't be recorded; see app.h */
	struct event_filters filters;
	struct kept kept;
	struct loop_timer apart; /* closes shared buffers that were damaged, when unused */
	uint64_t apart_since;	 /* generation of the last change by which one became unused */
	char **paths_used;   /* of traces of processes, also of closed ones; see trace.c */
	uint64_t restored_s; /* CLOCK_REALTIME: when it was taken over from an earlier daemon */
	struct shape **announced; /* points of the session's applications, if no rule matches one */
	uint32_t nr_announced;
	bool more_announced; /* there are more of these than are kept */
	bool matched;	     /* a rule matched a point: no names are kept any more */
};

static inline struct user_domain *user_of(struct domain_tracer *domain)
{
	return container_of(domain, struct user_domain, domain);
}

static inline struct user_session *us_of(struct recording *rec)
{
	return container_of(rec, struct user_session, rec);
}

struct user_session *user_session_find(struct user_domain *user, const struct session *session);
struct user_session *user_session_get(struct user_domain *user, struct session *session,
				      const struct clock_facts *clock);
bool user_eligible(const struct session *session, const struct app *app);

/*
 * Commands that wait until a change is in force in all applications. Owned by the session;
 * each is completed once.
 */

/** A command that waits until a change is in force everywhere. */
struct user_wait {
	struct list_node node;
	struct user_session *us;
	uint64_t generation;
	uint32_t apps, left;
	bool metadata; /* wait until metadata is written, too */
	bool offers;   /* wait for lost ring sets that may still be offered, too */
	bool stop;     /* skip applications that missed the deadline of an earlier wait */
	struct loop_timer timeout;
	domain_done done;
	void *data;
};

void wait_new(struct user_session *us, domain_done done, void *data);
/** Wait until all metadata is written, for one second at most. */
void wait_metadata(struct user_session *us, domain_done done, void *data);
/** wait_new() for a stop: it does not wait for metadata, nor again for an application that did not
 *  answer in time before. */
void wait_stop(struct user_session *us, domain_done done, void *data);
/** Complete all waits, as the session ends. */
void waits_finish(struct user_session *us);
/** Continue waits for metadata, which is written, or can't be. */
void waits_on_metadata_written(struct user_session *us);
/** Continue waits for lost ring sets, which were offered, or are not waited for any more. */
void waits_on_rings_offered(struct user_session *us);
/** Continue waits for a link that has confirmed all changes up to @generation; UINT64_MAX: it is
 *  being freed. */
void link_confirm(struct user_link *link, uint64_t generation);
/** Send a sync message to the application, when all changes were sent. */
void link_request_confirm(struct user_link *link);

/*
 * The part of the saved state that belongs to applications, and the applications of an
 * earlier daemon that may reconnect. Runs on the daemon's loop.
 */

/** An application of an earlier daemon that may reconnect. */
struct absent_app {
	struct list_node node;
	uint64_t id;
	pid_t pid;
	uint64_t start_ticks;
};

void user_save(struct domain_tracer *domain, const struct session *session,
	       struct state_space *space);
void user_restore(struct domain_tracer *domain, struct session *session,
		  const struct clock_facts *clock, struct msg_state_session *msg);
/** Add an application that may reconnect. */
void absent_add(struct user_domain *user, const struct msg_state_app *msg);
/** Remove an application that connects again. Return: its id under an earlier daemon; 0: none. */
uint64_t absent_take(struct user_domain *user, pid_t pid, uint64_t start_ticks);
void absent_free(struct user_domain *user);
void absent_check(struct loop_timer *timer);
/** Start time of a process in clock ticks since boot; 0: unknown or ended. */
uint64_t process_start_ticks(pid_t pid);

#endif
