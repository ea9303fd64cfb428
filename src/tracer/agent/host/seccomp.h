/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * seccomp.h - protection from seccomp filters of the program that kill a thread or the process for
 * a system call that they do not allow: they usually do not allow the calls of libltt.
 *
 * Before a filter is installed by prctl() or syscall(), as libseccomp does, it is run here for each
 * of libltt's calls, as the kernel would run it. A filter that was inherited across exec() is
 * unknown, so the calls are tried in child processes. A call that the helper can do without is not
 * made any more (sys_call()). If the helper can work beneath the filter, the thread that installs
 * the filter suspends it, and starts it again (alone.h). Else it departs before, and the program
 * records for the rules that are in force; where recording itself would kill the program, the
 * helper ends, and recording stops: the program continues as without libltt.
 *
 * A filter that rejects calls with an error is ignored, unless the helper could not work: it
 * would not notice the end of the program.
 */
#ifndef TRACER_AGENT_HOST_SECCOMP_H
#define TRACER_AGENT_HOST_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct agent_filter - consequences for the call that installs a filter.
 * @suspends: the helper must be suspended for it, or it would be outside of the filter.
 * @forbids: agent_filter_forbid() is called with it after the call, if that has succeeded.
 */
struct agent_filter {
	bool suspends;
	uint32_t forbids;
};

/** Called by any thread before it installs a filter by prctl(PR_SET_SECCOMP, @mode, @program), or
 *  by seccomp() with @mode and @flags. */
struct agent_filter agent_filter_expect(unsigned int mode, unsigned int flags, const void *program);

/** The helper does not make these calls any more: bits of sys_optional(). */
void agent_filter_forbid(uint32_t forbids);

/** In the parent, after a fork: daemons learn that a filter keeps its children from recording. */
void agent_filter_after_fork_parent(void);

/** Called by the helper before its first other system call. Return: whether it may make them. */
bool agent_filter_allows_helper(void);

/** Else: whether it may connect to daemons to report that. */
bool agent_filter_allows_farewell(void);

/** Whether a filter prevents the start of a helper in a forked child. */
bool agent_filter_is_fatal(void);

#endif
