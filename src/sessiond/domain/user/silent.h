/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * silent.h - applications that can't record any more, since a seccomp filter of theirs would end
 * them for libltt's system calls. They are remembered until they end, as they are not connected any
 * more: sessions that would record them report them. Owned by the user domain; runs on the daemon's
 * loop.
 */
#ifndef DOMAIN_USER_SILENT_H
#define DOMAIN_USER_SILENT_H

#include "user.h"

struct user_session;

void silent_free(struct user_domain *user);
/** A session starts: it has a problem if it should record silent applications. */
void silent_start(struct user_session *us);
/** Call @fn for each silent application that a rule of the session would record, and for those with
 *  silent children. @channel, @rule: as of user_each_refusal(). */
void silent_each(const struct user_session *us, const struct channel *channel,
		 const struct rule *rule,
		 void (*fn)(const struct domain_refusal *refusal, void *data), void *data);

#endif
