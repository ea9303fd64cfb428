/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.h - ends the helper while its process must do without it, and starts it again.
 *
 * For a call that changes per-thread state of the kernel, the main thread suspends the helper
 * (shadow.h): it ends, and the main thread starts another one after the call. The kernel also
 * refuses some of these calls to a process of several threads. Meanwhile the helper's descriptors
 * are in flight to a socket in the program's descriptor table, so that connections and buffers are
 * kept.
 *
 * The helper departs, which is to stay away, where it can't have the main thread's state, as no
 * thread can be started or a seccomp filter forbids its calls; where the user may have no more
 * processes; and in a program that counts its threads (census.h), which relies on the number from
 * then on. The program records as before, and its connections stay open in that socket, so that
 * daemons do not close buffers that only this process writes to; daemons know that no message is
 * read any more (APP_SILENCE_LATER).
 *
 * System calls that the program makes without libc are not handled. The helper finds their effect
 * when a daemon's message arrives, and leaves: recording stops (APP_SILENCE_ALL).
 */
#ifndef TRACER_AGENT_HOST_ALONE_H
#define TRACER_AGENT_HOST_ALONE_H

#include <stdbool.h>
#include <stdint.h>

/* Of /proc/self/task: one for each of two threads, and those of any directory. */
#define AGENT_LINKS_OF_TWO 4

enum agent_alone_step {
	AGENT_ALONE_STAYS,
	AGENT_ALONE_SENT, /* the helper must end: its descriptors were sent */
	AGENT_ALONE_LEFT, /* it must end: nothing is recorded any more */
};

/** Called by the helper in each round. */
enum agent_alone_step agent_alone_step(void);

/** Called by the helper, as it starts: the descriptor to keep open in its new table; -1: none. */
int agent_alone_fd(void);
/** Called by the helper, in its new table: receive the descriptors that were sent. */
void agent_alone_return(void);

/** The new number of a descriptor that was sent; -1: it was not received. */
int agent_alone_moved(int fd);

/** Called by the helper: delay its start for at most @ms, or until it must end. */
void agent_alone_wait(int ms);

/** Any thread: whether the helper, if there is one, belongs to this process. Not in a child of
 *  vfork(), which uses its parent's memory. */
bool agent_alone_is_ours(void);
/** Any thread: the helper ends permanently, and recording stops. */
void agent_alone_quit(const char *why);

/**
 * agent_alone_suspend() - before a call that changes per-thread state of the kernel.
 *
 * In other threads than the main thread nothing is done. If the helper can't be started again, it
 * departs. If it does not end within a second, or can't be waited for here, it leaves as soon as it
 * can. Preserves errno.
 * Return: whether the helper has ended, and agent_alone_resume() must follow: until then signals
 * are blocked.
 */
bool agent_alone_suspend(uint64_t *ret_mask);
/** The calling thread starts the helper again, which so has the thread's state. */
void agent_alone_resume(uint64_t mask);

/** The same before a call of this thread alone, beneath which no helper can be started: it departs.
 *  @reason: enum app_reason. */
void agent_alone_forgo(uint8_t reason);

/** The program relies on having one thread: if this is the only one besides the helper, the helper
 *  departs. Return: whether it has; else the program has other threads, or may not wait here.
 *  Preserves errno. */
bool agent_alone_depart(void);
/** Any thread: the helper departs. @reason: enum app_reason. Return and errno: the same. */
bool agent_alone_depart_for(uint8_t reason);
/** Whether the helper has departed; forked children have none either. */
bool agent_alone_has_departed(void);

/** Any thread: the helper ends as soon as it can, and recording stops. @reason: enum app_reason. */
void agent_alone_must_leave(uint8_t reason);

/** Stop recording, as no helper will exist that could receive a request to stop. */
void agent_alone_give_up(void);

/** In the child: reset the state of a call in the parent. @may_call: no filter forbids it. */
void agent_alone_after_fork_child(bool may_call);

#endif
