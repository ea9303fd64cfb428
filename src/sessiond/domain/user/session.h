/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - the user domain, and its state of a session: a recording, and its links with
 * applications. Runs on the daemon's loop.
 *
 *   user_session   a recording (recording.h)
 *    +- user_link    (session, application): the armed points (link.h)
 */
#ifndef DOMAIN_USER_SESSION_H
#define DOMAIN_USER_SESSION_H

#include "kept.h"
#include "sessiond/domain/rec/filter.h"
#include "sessiond/domain/rec/recording.h"
#include "user.h"

struct user_domain {
	struct domain_tracer domain;
	struct recorder *recorder;
	struct list_node apps;	 /* struct user_app */
	struct list_node dirty;	 /* struct user_link */
	struct list_node absent; /* struct absent_app */
	struct list_node silent; /* struct silent_app */
	uint32_t nr_silent;
	struct loop_timer look;	 /* checks whether absent applications have ended */
	struct loop_work refresh;
	struct loop_timer turn; /* time of the next refresh, after a long one */
	uint64_t turn_ns;
	struct list_node awaits;  /* struct offers_wait */
	struct loop_work settled; /* completes @awaits */
	uint32_t next_serial;
};

struct user_session {
	struct recording rec;
	struct user_domain *user;
	uint64_t generation;	    /* number of the last change; see user_wait */
	struct list_node links;	    /* struct user_link, by `in_session` */
	struct list_node waits;	    /* struct user_wait */
	struct list_node tallies;   /* struct user_tally */
	struct list_node counts;    /* struct user_counts */
	struct list_node conflicts; /* struct conflict_note; its points may have been removed */
	uint32_t nr_conflicts;
	uint32_t nr_silent; /* applications that can't be recorded; see silent.h */
	struct event_filters filters;
	struct kept kept;
	struct shape **announced; /* points of a scoped session's applications without a rule */
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

#endif
