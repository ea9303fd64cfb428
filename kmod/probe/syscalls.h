/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscalls.h - the events of system calls: one for the entry and one for the exit of each call of
 * the running kernel, including those of 32-bit programs. Names and types of the arguments come
 * from the running kernel. Created when the module is loaded.
 */
#ifndef KMOD_SYSCALLS_H
#define KMOD_SYSCALLS_H

#include "event.h"

#define SYSCALL_ARGS 6

enum syscall_side { SYSCALL_ENTRY, SYSCALL_EXIT, NR_SYSCALL_SIDES };

int syscalls_init(void);
void syscalls_fini(void);

/** The event of call number @nr; the event of unknown calls if it has no name. Never NULL. */
struct event *syscalls_event(enum syscall_side side, bool compat, long nr);
/** Whether it is an event of unknown calls: their payload begins with the call's number. */
bool syscalls_is_unknown(const struct event *event);

#endif
