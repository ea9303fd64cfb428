/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall_probe.h - one probe for the entries of all system calls and one for the exits, registered
 * while any call is recorded; a call that is not recorded costs a table lookup. The probes run in
 * the calling task, before and after the call.
 */
#ifndef KMOD_SYSCALL_PROBE_H
#define KMOD_SYSCALL_PROBE_H

#include "syscalls.h"

extern const struct event_kind syscall_kinds[NR_SYSCALL_SIDES];

int syscall_probe_init(void);
void syscall_probe_fini(void);

#endif
