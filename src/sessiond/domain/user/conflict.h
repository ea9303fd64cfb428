/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conflict.h - points that were not armed because another event of the same name has another
 * format. Owned by the session.
 */
#ifndef DOMAIN_USER_CONFLICT_H
#define DOMAIN_USER_CONFLICT_H

#include "sessiond/domain/rec/recording.h"

struct trace_channel;
struct user_link;
struct user_session;

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

#endif
