/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h - the helper thread: one a process, started by the constructor
 * and again in the child of a fork.
 *
 * It has all signals blocked, a small stack and a descriptor table of its own:
 * what it opens is in no table of the program, survives a program that closes
 * everything, and keeps no pipe of the program open. It sleeps in poll() without
 * a timer unless a daemon has to be tried again.
 */
#ifndef TRACER_AGENT_THREAD_H
#define TRACER_AGENT_THREAD_H

#include <signal.h>
#include <stdbool.h>

/*
 * Wakes the helper: sent to this thread alone, where it is blocked and read by a
 * signalfd; a blocked signal is queued even if the program ignores it. Nothing
 * else uses this one.
 */
#ifdef SIGSTKFLT
#define AGENT_SIGNAL SIGSTKFLT
#else
#define AGENT_SIGNAL SIGURG
#endif

/**
 * agent_thread_start() - start the helper.
 * @delay_ms: how long it stays asleep first: a forked child often execs at once.
 * Return: 0 or a negative errno; the process goes on without.
 */
int agent_thread_start(int delay_ms);

/** There is no helper, and none will be started: do not wait for it. */
void agent_thread_retire(const char *why);

/** tid of the helper; 0 while there is none. */
int agent_thread_id(void);

/** Wait until the helper, which was told to end, is not counted as a thread any more. */
void agent_thread_join(void);

/** Held by the helper while what a child inherits is being changed. */
void agent_lock(void);
void agent_unlock(void);

/** Whether the daemon has confirmed everything that was announced up to this generation. */
bool agent_thread_is_confirmed(unsigned int generation);
/** Wait for that at most @timeout_ms (-1: without limit). Return: whether it is confirmed. */
bool agent_thread_wait_confirmed(unsigned int generation, int timeout_ms);

/** In a child: what the parent announced has to be announced again. */
void agent_thread_unsettle(void);

/** In the child: there is no helper (yet). */
void agent_thread_after_fork_child(void);

#endif
