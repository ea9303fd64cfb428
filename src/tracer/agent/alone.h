/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.h - unshare() and setns(), which libltt defines in place of libc's.
 *
 * The kernel refuses user namespaces, and some others, to a process of several threads.
 * The helper would be the second of a program that has one. So where the kernel refuses
 * and there is no other thread, the helper ends for the call and is started anew behind
 * it. Its descriptors are in flight meanwhile, in a socket of the program's table that
 * nothing but this call sees: connections and buffers stay as they are.
 *
 * A system call by an instruction of the program's own passes this by.
 */
#ifndef TRACER_AGENT_ALONE_H
#define TRACER_AGENT_ALONE_H

#include <stdbool.h>

/** The helper, once a round. Return: whether it has to end now: its descriptors are sent. */
bool agent_alone_step(void);

/** The helper, as it starts: what must stay open in its new table of descriptors; -1: nothing. */
int agent_alone_fd(void);
/** The helper, in its new table: receive what was sent. */
void agent_alone_return(void);

/** The new number of a descriptor that was sent, -1: it is not there. */
int agent_alone_moved(int fd);

/** The helper, while it waits at its start: at most @ms, or until it has to end. */
void agent_alone_wait(int ms);

/** Any thread: is the helper, if there is one, of this process? Not in a child of vfork(), which
 *  sees its parent's memory. */
bool agent_alone_is_ours(void);
/** Any thread: the helper ends permanently, and recording stops. */
void agent_alone_quit(const char *why);

/** No helper will ever take an order to stop, so recording stops here. */
void agent_alone_give_up(void);

/** In the child: reset the state of a call in the parent. */
void agent_alone_after_fork_child(void);

#endif
