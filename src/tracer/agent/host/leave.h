/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * leave.h - ends the helper in a program whose main thread ends by pthread_exit().
 *
 * Such a process continues until the last of its threads ends: libc counts them, and
 * the last one calls exit(0). The helper thread is counted, too. If it were the last,
 * the process would never end; and it must not call exit(0), as it has another table of descriptors
 * than the program. So it must end just before the last of the program's threads:
 *
 * - The main thread ends as the last one: its destructor of thread-specific data waits
 *   until the helper has ended, and libc calls exit(0).
 * - The main thread ends before others: a substitute thread is started, which only sleeps,
 *   and the helper watches the others (by pidfd, if the kernel supports it for
 *   threads). When only these two are left, the helper ends, then the substitute thread,
 *   from which libc calls exit(0).
 * - The main thread ends without libc's knowledge, by a direct system call or because of a seccomp
 *   filter. The helper polls for that, at growing intervals, from the time that syscall()
 *   or prctl() was called for either. It ends when there is no other thread, with the status that
 *   the process would have without it.
 *
 * If main() returns or a thread calls exit(), none of this is needed.
 *
 * Other threads are found in /proc/self/task. Threads that libc does not count, made by
 * clone() directly or by the kernel for io_uring, are waited for, too.
 */
#ifndef TRACER_AGENT_HOST_LEAVE_H
#define TRACER_AGENT_HOST_LEAVE_H

#include <stdbool.h>

/** Called by the constructor, before the helper is started. */
void agent_leave_init(void);

/** In the child of a fork: the thread that forked is its main thread. */
void agent_leave_after_fork_child(void);

/**
 * agent_leave_step() - called by the helper in each round.
 * Return: whether it must end now.
 */
bool agent_leave_step(void);

/** Whether the calling thread is the main thread. No system call where libltt was loaded by it. */
bool agent_leave_is_main(void);
/** Any thread: whether the main thread has not ended, as far as is known. */
bool agent_leave_is_main_there(void);

/** Return: tid of a thread other than the main thread, the helper and the substitute; 0: none. */
int agent_leave_other_thread(void);

/** The descriptor that the helper must poll, or -1. */
int agent_leave_fd(void);
/** The helper is in another table of descriptors. */
void agent_leave_moved(void);
/** Milliseconds until the helper must check again, or -1. */
int agent_leave_timeout_ms(void);

/** Any thread: poll the main thread from now on, as it may end without libc's knowledge. */
void agent_leave_expect(void);
/** The calling thread is about to end by a system call. */
void agent_leave_by_exit(int code);

/**
 * agent_leave_block() - the helper, last of all: keep its descriptors open until the
 * process is gone, as exit handlers may still trace and a daemon that sees a
 * connection end closes the buffers that this process alone writes to.
 */
void agent_leave_block(void);

#endif
