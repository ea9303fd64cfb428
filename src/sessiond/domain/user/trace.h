/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - the traces and ring sets that applications record into: made, kept after the end of
 * their process, and given back by applications after the daemons were killed. Owned by the
 * recording. Runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_TRACE_H
#define DOMAIN_USER_TRACE_H

#include <stdint.h>

#include "sessiond/domain/rec/recording.h"
#include "user.h"

struct user_app;
struct user_session;

struct trace *trace_get(struct user_session *us, struct user_app *app,
			const struct channel *channel);
/** Create the trace of the session's owner at the start, so that readers always find a trace. */
void trace_prepare(struct user_session *us);
/** Free the paths that the session's processes have used. */
void paths_used_free(struct user_session *us);
struct trace *trace_find(struct user_session *us, const struct user_app *app,
			 const struct channel *channel);
/** Append the beginning of the metadata of a user's trace. */
void trace_describe(struct trace *trace);

/* The ring sets that applications record into. Owned by the recording. */

/** The ring set of the trace channel that an application records into. */
struct ring *ring_get(struct trace_channel *trace_channel, struct user_app *app);
/** The consumer has found a ring set damaged. The processes that shared it get buffers of their
 *  own, and the one that damages its own is reported. */
void user_damaged(struct domain_tracer *domain, struct session *session, uint64_t ring);
/** Close damaged ring sets into which no process records any more. */
void damaged_close(struct loop_timer *timer);
/** Close the ring sets and the trace that belong to this application only. */
void rings_close_of(struct user_session *us, uint64_t app);

/*
 * Buffers of processes that have ended, in sessions for snapshots: the next snapshots have
 * their last events, too. The last KEPT_MOST processes' are kept, as long as the quota has room for
 * the buffers of another process. Part of struct user_session.
 */

#define KEPT_MOST 16u

/** Ids of processes, the first that ended first. */
struct kept {
	uint64_t apps[KEPT_MOST];
	uint32_t nr;
};

/** The process has ended: keep its own buffers, or close them. */
void kept_add(struct user_session *us, uint64_t app);

/*
 * Ring sets that an application still holds after the session daemon lost its own
 * descriptors, and the commands that wait for them.
 */

/** Request the next ring set that the application may have. Return: whether an answer will
 *  follow. */
bool offers_request(struct user_app *app);
/** Whether a lost ring set is wanted that only the application @app could offer. */
bool offers_expected(const struct user_domain *user, uint64_t app);
/** A session does not wait for offers any more: if none does, complete the commands that wait. */
void offers_done(struct user_domain *user);
void awaits_finish(struct loop_work *work);

#endif
