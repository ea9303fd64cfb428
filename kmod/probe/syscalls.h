/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscalls.h - the events of system calls: one for the entry and one for the exit of each call of
 * the running kernel, including those of 32-bit programs. Names and types of the arguments come
 * from the running kernel. An exit has the result, and the outputs of the call. Created when the
 * module is loaded.
 */
#ifndef KMOD_SYSCALLS_H
#define KMOD_SYSCALLS_H

#include "event.h"
#include "syscall_outputs.h"

#define SYSCALL_ARGS 6

enum syscall_side { SYSCALL_ENTRY, SYSCALL_EXIT, NR_SYSCALL_SIDES };

/** struct call - one event, of a call that has a name. @outputs: of an exit; or NULL. */
struct call {
	struct event event;
	struct call *made_before;
	const struct outputs *outputs;
	struct field fields[];
};

int syscalls_init(void);
void syscalls_fini(void);

/** The event of call number @nr; the event of unknown calls if it has no name. Never NULL. */
struct event *syscalls_event(enum syscall_side side, bool compat, long nr);
/** Whether it is an event of unknown calls: their payload begins with the call's number. */
bool syscalls_is_unknown(const struct event *event);

#endif
