/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter.h - seccomp filters that kill a thread or the program for a system call that is not in
 * their list. The list of a program usually lacks the calls of libltt.
 *
 * A filter that is installed by prctl() or syscall(), as libseccomp does, is first run here for
 * each of libltt's calls, as the kernel would run it. A filter that was inherited across exec()
 * is unknown; then the calls are tried in a child. If one of them would end the program, the
 * helper ends first, permanently, and recording stops: the program continues as without libltt.
 *
 * A filter that rejects calls with an error is ignored, unless the helper could not work: it
 * would not notice the end of the program.
 */
#ifndef TRACER_AGENT_FILTER_H
#define TRACER_AGENT_FILTER_H

#include <stdbool.h>

/** Any thread, before it installs a filter: as prctl(PR_SET_SECCOMP, @mode, @program), or as
 *  seccomp() with @mode and @flags. */
void agent_filter_expect(unsigned int mode, unsigned int flags, const void *program);

/** The helper, before its first other call. Return: whether it may make them. */
bool agent_filter_allows_helper(void);

/** Whether a filter prevents the start of a helper. */
bool agent_filter_is_fatal(void);

#endif
