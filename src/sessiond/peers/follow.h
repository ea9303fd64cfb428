/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - clients that receive the changes of a session as they happen (session_follow). A
 * follower stores the state that its client has, and sends the difference, so that a change of a
 * session only needs a call without arguments. State and problems are sent at once; losses are
 * checked once in a flush period, while the session records. A client that does not read is
 * disconnected like any other (io/peer.h). Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_PEERS_FOLLOW_H
#define SESSIOND_PEERS_FOLLOW_H

#include "sessiond/cmd/cmd.h"

/** Whether a connection follows a session already. */
bool follows(struct sessiond *sd, uint64_t client);
/** Let the command's client follow the session from now on; takes ownership of @cmd. */
void follow_begin(struct command *cmd);

/** Send the session's state and problem to its followers, if they have changed. */
void follow_changed(struct sessiond *sd, struct session *session);
/** Report that the consumer of some sessions has died, for the reason @why (NEWS_DIED), or that
 *  another one has taken over (NEWS_REPLACED). */
void follow_consumer(struct sessiond *sd, const struct consumer *consumer, enum news_kind kind,
		     const char *why);
/** Report that the session is destroyed. */
void follow_destroyed(struct sessiond *sd, struct session *session,
		      const struct run_result *result);
/** Remove a client that has disconnected. */
void follow_leave(struct sessiond *sd, uint64_t client);
/** Notify all followers that the daemon ends, and all sessions with it. */
void follow_end(struct sessiond *sd);

#endif
