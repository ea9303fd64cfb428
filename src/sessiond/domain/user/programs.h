/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h - programs that record nothing, and names of points that no rule matches, for messages
 * about a session that recorded nothing. Owned by the session.
 */
#ifndef DOMAIN_USER_PROGRAMS_H
#define DOMAIN_USER_PROGRAMS_H

struct user_link;
struct user_session;

/** The application, or the recording, ends: count it if a problem kept it from recording. */
void unrecorded_note(struct user_link *link);
/** Keep the names of points that no rule matches. */
void announced_note(struct user_link *link);
void announced_free(struct user_session *us);

#endif
