/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h - the helper thread: one in each process, started by the constructor
 * and again in the child of a fork.
 *
 * It has all signals blocked, a small stack and a separate descriptor table: a program
 * that closes all descriptors does not close those of the helper, and the helper does not
 * keep pipes of the program open. It sleeps in poll(), without a timeout unless it must
 * retry a connection.
 */
#ifndef TRACER_AGENT_THREAD_H
#define TRACER_AGENT_THREAD_H

#include <signal.h>
#include <stdbool.h>

/*
 * Signal that wakes the helper: sent to the helper thread only, where it is blocked and read
 * from a signalfd; a blocked signal is queued even if the program ignores it. It has no
 * other use on Linux.
 */
#ifdef SIGSTKFLT
#define AGENT_SIGNAL SIGSTKFLT
#else
#define AGENT_SIGNAL SIGURG
#endif

/**
 * agent_thread_start() - start the helper.
 * @delay_ms: time that it sleeps first, as a forked child often calls exec at once.
 * Return: 0 or a negative errno; the process continues without a helper.
 */
int agent_thread_start(int delay_ms);

/** Note that no helper will be started any more, and wake all threads that wait for it. @why: for
 *  the debug message. */
void agent_thread_retire(const char *why);

/** Return: tid of the helper; -1: it is starting, its tid is not known yet; 0: there is none. */
int agent_thread_id(void);

/** Whether the calling thread is the helper. */
bool agent_thread_is_helper(void);

/** Wait until the helper, which has been requested to end, is not counted as a thread any more. */
void agent_thread_join(void);
/** The same, for at most @ms. Return: whether it has ended; else it does so later. */
bool agent_thread_join_within(int ms);

/** Lock the state that a forked child inherits; the helper holds the lock while it changes it. */
void agent_lock(void);
bool agent_try_lock(void);
void agent_unlock(void);

/** Whether the daemons have confirmed all points up to this generation (points.h). */
bool agent_thread_is_confirmed(unsigned int generation);
/** Wait for that at most @timeout_ms (-1: without limit). Return: whether it is confirmed. */
bool agent_thread_wait_confirmed(unsigned int generation, int timeout_ms);

/** In a child: the parent's announcements must be repeated. */
void agent_thread_unsettle(void);

/** In the child: there is no helper (yet). */
void agent_thread_after_fork_child(void);

#endif
