/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.h - unshare() and setns(), which libltt defines in place of libc's.
 *
 * The kernel refuses user namespaces, and some others, to a process of several threads.
 * In a program with one thread the helper is the second one. So if the kernel rejects the call
 * and there is no other thread, the helper ends before the call and is started again after it.
 * Meanwhile its descriptors are in flight in a socket in the program's table, which only this
 * call uses: connections and buffers are kept.
 *
 * System calls that the program makes by its own instructions are not handled.
 */
#ifndef TRACER_AGENT_ALONE_H
#define TRACER_AGENT_ALONE_H

#include <stdbool.h>

/** Called by the helper, once a round. Return: whether it has to end now: its descriptors are
 *  sent. */
bool agent_alone_step(void);

/** Called by the helper, as it starts: the descriptor to keep open in its new table; -1: none. */
int agent_alone_fd(void);
/** Called by the helper, in its new table: receive the descriptors that were sent. */
void agent_alone_return(void);

/** The new number of a descriptor that was sent, -1: it did not arrive. */
int agent_alone_moved(int fd);

/** Called by the helper: delay its start for at most @ms, or until it has to end. */
void agent_alone_wait(int ms);

/** Any thread: whether the helper, if there is one, belongs to this process. Not in a child of
 *  vfork(), which uses its parent's memory. */
bool agent_alone_is_ours(void);
/** Any thread: the helper ends permanently, and recording stops. */
void agent_alone_quit(const char *why);

/** No helper will exist to receive a request to stop, so recording stops here. */
void agent_alone_give_up(void);

/** In the child: reset the state of a call in the parent. */
void agent_alone_after_fork_child(void);

#endif
