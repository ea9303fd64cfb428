/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rights.h - calls by which a thread changes its own rights: capabilities, users and groups by
 * syscall(), seccomp filters, Landlock and other per-thread state of the kernel. The helper is
 * suspended for them (alone.h).
 *
 * libltt defines prctl(), capset(), setfsuid(), setfsgid() and personality(), and on x86 iopl() and
 * ioperm(), in place of libc's; syscall() comes here, too. libc's own set*id functions change all
 * threads, the helper as well (identity.c). Scheduling, priorities, memory policies and timers are
 * left alone: they restrict nothing, and the helper sleeps.
 */
#ifndef TRACER_AGENT_HOST_RIGHTS_H
#define TRACER_AGENT_HOST_RIGHTS_H

#include <sys/types.h>

/** Perform the system call, with the helper suspended if it is one of these. Return: the kernel's
 *  result. */
long agent_rights_call(long nr, long a, long b, long c, long d, long e);

/** The functions of these names, whichever ones the names refer to. */
int agent_prctl(int option, long a, long b, long c, long d);
int agent_capset(void *header, const void *data);
int agent_setfsuid(uid_t user);
int agent_setfsgid(gid_t group);
int agent_personality(unsigned long persona);
long agent_syscall(long nr, ...) __attribute__((visibility("hidden")));

#endif
