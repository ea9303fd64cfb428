/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * buffers.h - the ring sets that daemons have sent to this process, and the points that are
 * recorded into each.
 *
 * Changed by the helper thread only, under agent_lock, so that a fork copies a consistent
 * state. A ring set that a restarted daemon announces again (or any daemon, to a child after fork)
 * is *confirmed*: it gets the link's current round. agent_buffers_sweep() drops the others.
 */
#ifndef TRACER_AGENT_BUFFERS_H
#define TRACER_AGENT_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

struct msg_app_arming;
struct msg_app_buffer;
struct msg_app_buffer_offer;

/**
 * agent_buffer_add() - map a ring set, or confirm the one that is mapped.
 * @m: kept descriptors are removed from it; the rest stays the caller's.
 * Return: 0 or a negative errno; then nothing has changed.
 */
int agent_buffer_add(unsigned int link, uint32_t round, struct msg_app_buffer *m);

/** Fill in the descriptors of the ring set that @m names; -1: there are none. They remain owned
 *  by the ring set. */
void agent_buffer_offer(unsigned int link, struct msg_app_buffer_offer *m);

/** Record a point into a ring set, which replaces an earlier one of the same session and channel.
 *  @preparation: run before each record (prepare.h). Unknown points are skipped. */
void agent_buffer_arm(unsigned int link, uint32_t round, const struct msg_app_arming *m,
		      uint32_t preparation);
/** Before that, for all points of a message: the program is shown ring sets before they are
 *  recorded into (traces.h). */
void agent_buffer_expect(unsigned int link, const struct msg_app_arming *m, uint32_t preparation);
/** Show the program the ring sets that are, or will be, recorded into. */
void agent_buffers_show(void);
void agent_buffer_disarm(unsigned int link, const struct msg_app_arming *m);
void agent_buffer_drop(unsigned int link, uint64_t ring);

/** Drop ring sets that were not confirmed in round @round. */
void agent_buffers_sweep(unsigned int link, uint32_t round);
/** Drop all ring sets of a link, as its daemon does not know them any more. */
void agent_buffers_forget(unsigned int link);

/** The link's daemon is gone: threads that wait for space in its ring sets do so for some seconds
 *  at most, until the next daemon confirms them. */
void agent_buffers_leave(unsigned int link);

/** Wait for all users of ring sets that were dropped, then unmap these; if there still are some
 *  after a moment, the next call does. Called by the helper thread without agent_lock. */
void agent_buffers_reap(void);

/** Populate memory that is soon written to (populate.h). Called by the helper thread without
 *  agent_lock: a fork does not wait for it. */
void agent_buffers_populate(void);

/** The number of a session in this process; 0: the process has no buffer of it. */
uint32_t agent_buffers_session(unsigned int link, uint64_t session);

/** Whether the process has ring sets of a link. */
bool agent_buffers_any(unsigned int link);

/** Whether a ring set belongs to this process only. */
bool agent_buffers_exclusive(void);

/** Whether there is a ring set that a child of this process must not record into. */
bool agent_buffers_own(void);

/** In a forked child: record nothing into the ring sets that belong to its parent. Events are
 *  counted as lost until the child has ring sets of its own. */
void agent_buffers_disown(void);

void agent_buffers_after_fork_child(void);

#endif
