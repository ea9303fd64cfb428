/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ends.h - programs that are ended by a signal. While a trigger has that condition, the daemon has
 * a pidfd of each connected application of its users; when the process has ended and its parent
 * has read its status, the kernel has that for the pidfd, too, also if the process is not the
 * daemon's child (since Linux 6.15). Before that, a daemon of root receives process events, and the
 * pidfd only shows that there will be none any more. Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_TRIGGER_ENDS_H
#define SESSIOND_TRIGGER_ENDS_H

#include "exits.h"
#include "sessiond/core/trigger.h"

struct peer;
struct sessiond;

struct ends {
	struct sessiond *sd;
	struct list_node watches; /* struct ends_watch */
	struct exits exits;	  /* unless pidfds have the status */
};

void ends_init(struct ends *ends, struct sessiond *sd);
void ends_fini(struct ends *ends);
/** Whether the kernel has this, for this daemon. Return: 0 or the code set in @err. */
int ends_check(struct ends *ends, struct err *err) MUST_CHECK;
/** An application has connected. @name: of its program. */
void ends_app_begun(struct ends *ends, const struct peer *peer, const char *name);
/** A trigger with this condition was added, restored or removed. */
void ends_refresh(struct ends *ends);
/** Return: connected applications that it is about. */
uint32_t ends_matching(const struct ends *ends, const struct trigger *trigger);
/** Return: times that the kernel had no room for more ends, which may not have fired. */
uint64_t ends_lost(const struct ends *ends);

#endif
