/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spawn.h - the calls that make processes and threads, which libltt defines in place of libc's.
 *
 * The kernel counts the helper as a process of its user (RLIMIT_NPROC) and as a task of its cgroup
 * (pids.max). A call that fails for such a limit is repeated without the helper, which departs
 * (alone.h). vfork() and clone() are in clone.h.
 */
#ifndef TRACER_AGENT_HOST_SPAWN_H
#define TRACER_AGENT_HOST_SPAWN_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/** In the constructor: finds libc's functions, since their callers may be signal handlers. */
void agent_spawn_init(void);

/** libltt's fork(), whichever one its name refers to. */
pid_t agent_fork(void);
/** pthread_create(), for threads of libltt. */
int agent_spawn_thread(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

/** Whether a call that failed with this errno is to be repeated: the helper has ended for it. */
bool agent_spawn_again(int err);

#endif
