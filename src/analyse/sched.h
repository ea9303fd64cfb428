/* SPDX-License-Identifier: GPL-2.0-only */
/* sched.h - the meaning of the events sched_* and syscall_* of our kernel tracer and of LTTng's.
 * Pure. */
#ifndef ANALYSE_SCHED_H
#define ANALYSE_SCHED_H

#include <stdbool.h>

struct event;
struct value;

/** The names of the events, for view_select.names. */
#define SCHED_EVENTS "sched_switch,sched_wakeup,sched_wakeup_new,sched_waking"

/** Those of sched_call_of(). */
#define SCHED_CALLS "syscall_entry_*,syscall_exit_*,compat_syscall_entry_*,compat_syscall_exit_*"

enum sched_kind { SCHED_NONE, SCHED_SWITCH, SCHED_WAKE };

/**
 * struct sched_action
 * @next: the thread that runs from now on, or that may run; NULL: it is an idle one.
 * @prev: the one that ran before; NULL likewise. @preempted: it could have run on.
 * @dead: it has ended. @uninterruptible: signals don't wake it.
 */
struct sched_action {
	enum sched_kind kind;
	const struct value *next, *prev;
	bool preempted, dead, uninterruptible;
};

struct sched_action sched_action_of(const struct event *event);

/** The system call that the event's thread enters; "": it leaves one; NULL: neither. Valid as long
 *  as the view. */
const char *sched_call_of(const struct event *event);

#endif
