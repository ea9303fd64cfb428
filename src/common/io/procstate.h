/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* procstate.h - facts that the kernel reports about another process. No state; any thread. */
#ifndef IO_PROCSTATE_H
#define IO_PROCSTATE_H

#include <stdbool.h>
#include <sys/types.h>

/** Whether a process has been killed and has not ended yet: a thread of it waits in the kernel,
 *  where SIGKILL is not delivered. false: also where that is not known. */
bool procstate_is_killed(pid_t pid);

#endif
