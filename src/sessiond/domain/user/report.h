/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - reports to clients: applications and points, and those that are not recorded, with the
 * reasons.
 */
#ifndef DOMAIN_USER_REPORT_H
#define DOMAIN_USER_REPORT_H

#include "sessiond/domain/domain.h"
#include "sessiond/domain/rec/recording.h"

struct trace_channel;
struct user_app;
struct user_link;
struct user_session;

/* Counts and listings of the user domain, for clients. */

uint32_t user_count_apps(struct domain_tracer *domain, const struct session *session);
uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule, uint32_t *ret_never);
const char *user_nearest_point(struct domain_tracer *domain, const struct session *session,
			       const char *name);
void user_each_point(struct domain_tracer *domain, const struct caller *caller,
		     void (*fn)(const struct domain_point *point, void *data), void *data);

/*
 * Points that were not armed because another event of the same name has another
 * format. Owned by the session.
 */

/** A point that was not armed because of its format. */
struct conflict_note {
	struct list_node node;
	const struct channel *channel;
	struct shape *armed, *refused;
	uint32_t pid;
};

void conflict_note(struct user_link *link, struct trace_channel *trace_channel, struct shape *armed,
		   struct shape *refused);
void conflicts_free(struct user_session *us);
void user_each_conflict(struct domain_tracer *domain, struct session *session,
			struct channel *channel, const struct rule *rule,
			void (*fn)(const struct domain_conflict *conflict, void *data), void *data);

/*
 * Programs that record nothing, and names of points that no rule matches, for messages
 * about a session that recorded nothing. Owned by the session.
 */

/** The application, or the recording, ends: count it if a problem kept it from recording. */
void unrecorded_note(struct user_link *link);
/** The application begins before all its points are armed: count it, unless an earlier daemon has
 *  armed them. */
void unarmed_note(struct user_link *link);
/** It has begun before a daemon answered: count it in sessions that recorded then, and that want
 *  points of it that were not armed. */
void begun_note(struct user_app *app);
/** Keep the names of points that no rule matches. */
void announced_note(struct user_link *link);
void announced_free(struct user_session *us);

#endif
