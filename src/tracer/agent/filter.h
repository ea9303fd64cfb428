/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter.h - seccomp filters that end a thread or the program for a system call that it does not
 * list. libltt's calls are its own, and not on the list of a program that does not know of them.
 *
 * A filter that is installed by prctl() or syscall(), as libseccomp does, is run here first, for
 * each of our calls, as the kernel would run it. One that reached the process by exec() is not
 * known; there the calls are tried in a child. Where one of them would end the program, the helper
 * ends first, for good, and nothing is recorded from then on: the program goes on as without us.
 *
 * A filter that rejects calls with an error is of no concern, unless the helper could not do its
 * work: it would not notice the end of the program.
 */
#ifndef TRACER_AGENT_FILTER_H
#define TRACER_AGENT_FILTER_H

#include <stdbool.h>

/** Any thread, before it installs a filter: as prctl(PR_SET_SECCOMP, @mode, @program), or as
 *  seccomp() with @mode and @flags. */
void agent_filter_expect(unsigned int mode, unsigned int flags, const void *program);

/** The helper, before its first other call. Return: whether it may make them. */
bool agent_filter_allows_helper(void);

/** Is there a filter that does not let a helper start? */
bool agent_filter_is_fatal(void);

#endif
