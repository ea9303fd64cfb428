/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - clients that are told what happens to a session when it happens
 * (session_follow). A follower remembers what its client knows and tells the
 * difference, so that a change of a session only needs a call that says so. State
 * and problems come at once; losses are looked for once in a flush period, while the
 * session records. A client that does not read is dropped as any other (io/peer.h).
 * Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_FOLLOW_H
#define SESSIOND_FOLLOW_H

#include "cmd/cmd.h"

/** Does a connection follow a session already? */
bool follows(struct sessiond *sd, uint64_t client);
/** The command's client follows its session from here on; @cmd is taken over. */
void follow_begin(struct command *cmd);

/** The session's state, or its problem, may be another one. */
void follow_changed(struct sessiond *sd, struct session *session);
/** The consumer is dead, of @why (NEWS_DIED); another one has taken over (NEWS_REPLACED). */
void follow_consumer(struct sessiond *sd, enum news_kind kind, const char *why);
/** It is no more, or is about to be. */
void follow_destroyed(struct sessiond *sd, struct session *session,
		      const struct run_result *result);
/** A client is gone. */
void follow_leave(struct sessiond *sd, uint64_t client);
/** The daemon ends, and all sessions with it: followers are told. */
void follow_end(struct sessiond *sd);

#endif
