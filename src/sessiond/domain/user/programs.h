/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h - names of points that no rule matches, for messages about a session that recorded
 * nothing. Owned by the session.
 */
#ifndef DOMAIN_USER_PROGRAMS_H
#define DOMAIN_USER_PROGRAMS_H

struct user_link;
struct user_session;

/** Keep the names of points that no rule matches. */
void announced_note(struct user_link *link);
void announced_free(struct user_session *us);

#endif
