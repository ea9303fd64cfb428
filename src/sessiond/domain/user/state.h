/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the part of the saved state that belongs to applications, and the applications of an
 * earlier daemon that may reconnect. Runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_STATE_H
#define DOMAIN_USER_STATE_H

#include "io/loop.h"
#include "sessiond/domain/domain.h"

struct user_domain;

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
