/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.h - unshare() and setns(), which libltt defines in place of libc's.
 *
 * The kernel refuses user namespaces, and some others, to a process of several threads. In a
 * program of one thread the helper is a second thread. If the kernel rejects the call and there is
 * no other thread, the helper ends, the call is repeated, and the helper is started again.
 * Meanwhile its descriptors are in flight in a socket in the program's descriptor table, so that
 * connections and buffers are kept.
 *
 * In a program that counts its threads the helper ends, too (census.h), and stays away, since the
 * program relies on the number from then on. It records as before, and its connections stay open in
 * the socket, so that daemons do not close buffers that only this process writes to; daemons know
 * that no message is read any more (APP_SILENCE_LATER).
 *
 * System calls that the program makes without libc are not handled.
 */
#ifndef TRACER_AGENT_ALONE_H
#define TRACER_AGENT_ALONE_H

#include <stdbool.h>

/* Of /proc/self/task: one for each of two threads, and those of any directory. */
#define AGENT_LINKS_OF_TWO 4

/** Called by the helper in each round. Return: whether it must end now; its descriptors were
 *  sent. */
bool agent_alone_step(void);

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

/** Any thread: end the helper, and never start another in this process or in children that it
 *  forks. Recording continues. Return: whether it has ended; else the program has other threads, or
 *  may not wait here. Preserves errno. */
bool agent_alone_depart(void);
/** Whether agent_alone_depart() has ended it. */
bool agent_alone_has_departed(void);

/** Stop recording, as no helper will exist that could receive a request to stop. */
void agent_alone_give_up(void);

/** In the child: reset the state of a call in the parent. */
void agent_alone_after_fork_child(void);

/** The functions of these names, whichever ones the names refer to. */
int agent_alone_unshare(int flags);
int agent_alone_setns(int fd, int flags);

#endif
