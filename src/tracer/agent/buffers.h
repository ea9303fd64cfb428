/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * buffers.h - the ring sets that daemons have given to this process, and
 * what is recorded into each.
 *
 * Changed by the helper thread alone, under agent_lock, so that a fork sees it
 * whole; the child goes on with a copy. A ring set that a daemon announces anew when it
 * came back (or to a child after fork) is *confirmed*: it carries the link's present
 * round. agent_buffers_sweep() drops what was not.
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
 * @m: what is kept of its descriptors is taken out; the rest stays the caller's.
 * Return: 0 or a negative errno; then nothing has changed.
 */
int agent_buffer_add(unsigned int link, uint32_t round, struct msg_app_buffer *m);

/** Fill in the descriptors of the ring set that @m names; -1: there are none. They
 *  stay ours, as long as the ring set does. */
void agent_buffer_offer(unsigned int link, struct msg_app_buffer_offer *m);

/** Record a point into a ring set; one that it was recorded into before, of the
 *  same session and channel, is relieved of it. Unknown ones are skipped. */
void agent_buffer_arm(unsigned int link, uint32_t round, const struct msg_app_arming *m);
void agent_buffer_disarm(unsigned int link, const struct msg_app_arming *m);
void agent_buffer_drop(unsigned int link, uint64_t ring);

/** Drop what round @round has not confirmed. */
void agent_buffers_sweep(unsigned int link, uint32_t round);
/** Drop everything of a link: its daemon knows nothing of it any more. */
void agent_buffers_forget(unsigned int link);

/** Wait for all users of ring sets that were dropped, then unmap these. Called by the
 *  helper thread without agent_lock: it may wait for a probe of the program. */
void agent_buffers_reap(void);

/** This process's number of a session; 0: it has no buffer of it. */
uint32_t agent_buffers_session(unsigned int link, uint64_t session);

/** Does any set belong to this process alone? */
bool agent_buffers_exclusive(void);

/** Is any set one that a child of this process must not record into? */
bool agent_buffers_own(void);

void agent_buffers_after_fork_child(void);

#endif
