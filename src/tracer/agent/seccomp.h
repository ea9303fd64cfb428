/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * seccomp.h - protection from seccomp filters of the program that kill a thread or the process for
 * a system call that they do not allow: they usually do not allow the calls of libltt.
 *
 * Before a filter is installed by prctl() or syscall(), as libseccomp does, it is run here for each
 * of libltt's calls, as the kernel would run it. A filter that was inherited across exec() is
 * unknown, so the calls are tried in a child process. If a call would kill the program, the helper
 * ends first, permanently, and recording stops: the program continues as without libltt.
 *
 * A filter that rejects calls with an error is ignored, unless the helper could not work: it
 * would not notice the end of the program.
 */
#ifndef AGENT_SECCOMP_H
#define AGENT_SECCOMP_H

#include <stdbool.h>

/** Called by any thread before it installs a filter by prctl(PR_SET_SECCOMP, @mode, @program), or
 *  by seccomp() with @mode and @flags. */
void agent_filter_expect(unsigned int mode, unsigned int flags, const void *program);

/** In the parent, after a fork: daemons learn that a filter keeps its children from recording. */
void agent_filter_after_fork_parent(void);

/** Called by the helper before its first other system call. Return: whether it may make them. */
bool agent_filter_allows_helper(void);

/** Whether a filter prevents the start of a helper. */
bool agent_filter_is_fatal(void);

#endif
