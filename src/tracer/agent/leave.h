/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * leave.h - a program whose main() leaves by pthread_exit().
 *
 * Such a process goes on until the last of its threads ends: libc counts them, and
 * the last one calls exit(0). The helper thread is counted, too. Were it the last,
 * the process would never end; and it must not call exit(0), as the program's
 * files are not in its table of descriptors. So it has to end just before the last of the
 * program's threads:
 *
 * - main() leaves and is the last: its destructor of thread-specific data waits
 *   until the helper has gone, and libc goes on as if there had never been one.
 * - main() leaves others behind: a thread that does nothing takes its place, and
 *   the helper watches those others (by pidfd where the kernel has them for
 *   threads). When only the two are left the helper goes, then that thread, from
 *   which libc calls exit(0).
 *
 * - main() ends without libc's knowledge, by a system call of its own or by a seccomp
 *   filter. The helper finds it dead: it looks after ever longer times from the moment that
 *   syscall() or prctl() was called for either. It ends when there is no other thread, with
 *   the status that the process has without it.
 *
 * None of this runs if main() returns or a thread calls exit().
 *
 * Other threads are found in /proc/self/task. A thread that libc does not count, made by a
 * bare clone() or by the kernel for io_uring, counts here: the process goes on
 * until it has ended, too.
 */
#ifndef TRACER_AGENT_LEAVE_H
#define TRACER_AGENT_LEAVE_H

#include <stdbool.h>

/** In the constructor, before the helper is started. */
void agent_leave_init(void);

/** In the child of a fork: the thread that forked is its main thread. */
void agent_leave_after_fork_child(void);

/**
 * agent_leave_step() - the helper, once a round.
 * Return: whether it has to end now.
 */
bool agent_leave_step(void);

/** Return: tid of a thread that is neither main(), the helper, nor in main()'s place; 0: none. */
int agent_leave_other_thread(void);

/** The descriptor that the helper has to poll, or -1. */
int agent_leave_fd(void);
/** The helper is in another table of descriptors. */
void agent_leave_moved(void);
/** Milliseconds until the helper has to look again, or -1. */
int agent_leave_timeout_ms(void);

/** Any thread: main() may end without libc's knowledge, so it is polled from now on. */
void agent_leave_expect(void);
/** The calling thread is about to, by a system call. */
void agent_leave_by_exit(int code);

/**
 * agent_leave_block() - the helper, last of all: keep its descriptors open until the
 * process is gone, as exit handlers may still trace and a daemon that sees a
 * connection end closes the buffers that this process alone writes to.
 */
void agent_leave_block(void);

#endif
