/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watchers.h - clients that receive notifications of triggers (trigger_watch). One that does not
 * read is sent the number of notifications that it missed, once it reads again. Owned by the
 * daemon; runs on its loop.
 */
#ifndef SESSIOND_TRIGGER_WATCHERS_H
#define SESSIOND_TRIGGER_WATCHERS_H

#include "sessiond/cmd/cmd.h"
#include "sessiond/core/trigger.h"

bool watchers_have(struct sessiond *sd, uint64_t client);
/** Let the command's client watch a trigger, or all: takes ownership of @cmd. @name: copied. */
void watchers_begin(struct command *cmd, const char *name, uid_t uid);
/** Send @nr firings. */
void watchers_fired(struct sessiond *sd, const struct trigger *trigger, const struct firing *firing,
		    uint64_t nr);
/** Send the end of an action. @problem: NULL: it ended well; @text: its result. */
void watchers_action(struct sessiond *sd, const struct trigger *trigger,
		     const struct trigger_action *action, const char *problem, const char *text);
/** Remove a client that has disconnected. */
void watchers_leave(struct sessiond *sd, uint64_t client);
/** Notify all that the daemon ends. */
void watchers_end(struct sessiond *sd);

#endif
