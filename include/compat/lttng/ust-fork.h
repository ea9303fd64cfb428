/* SPDX-License-Identifier: MIT */
/*
 * lttng/ust-fork.h - calls that a program makes around fork(), clone(), setns(), unshare() and
 * changes of its user. libltt needs none of them: they do nothing.
 */
#ifndef LTT_LTTNG_UST_FORK_H
#define LTT_LTTNG_UST_FORK_H

#include <signal.h>

static inline void lttng_ust_before_fork(sigset_t *signals)
{
	(void)signals;
}

static inline void lttng_ust_after_fork_parent(sigset_t *signals)
{
	(void)signals;
}

static inline void lttng_ust_after_fork_child(sigset_t *signals)
{
	(void)signals;
}

#define LTT__LTTNG_AFTER(call) \
	static inline void lttng_ust_after_##call(void) {}
LTT__LTTNG_AFTER(setns)
LTT__LTTNG_AFTER(unshare)
LTT__LTTNG_AFTER(setuid)
LTT__LTTNG_AFTER(seteuid)
LTT__LTTNG_AFTER(setreuid)
LTT__LTTNG_AFTER(setresuid)
LTT__LTTNG_AFTER(setgid)
LTT__LTTNG_AFTER(setegid)
LTT__LTTNG_AFTER(setregid)
LTT__LTTNG_AFTER(setresgid)
#undef LTT__LTTNG_AFTER

#endif
