/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shadow.h - the helper is the main thread's shadow: its per-thread state of the kernel (users,
 * groups, capabilities, filters, namespaces, root directory) is the main thread's.
 *
 * Else the helper would be a way out of a sandbox, as it shares the program's memory. clone() gives
 * a new thread all of this state, and no other call does. So the main thread ends the helper before
 * a call that changes some of it, and starts it again after the call (agent_alone_suspend()). A
 * call of another thread changes nothing: the main thread still has the rights that the helper has.
 */
#ifndef TRACER_AGENT_HOST_SHADOW_H
#define TRACER_AGENT_HOST_SHADOW_H

#include <stdbool.h>

/** Whether the calling thread can start threads: not after unshare() of a pid or time namespace. */
bool agent_shadow_can_begin(void);

/**
 * agent_shadow_is_true() - whether the helper, which calls it, has the main thread's state.
 *
 * It has not if the program made a system call by an instruction of its own. State that can't be
 * read counts as equal. libc's set*id functions change one thread after the other, so this waits
 * for up to 50 ms.
 */
bool agent_shadow_is_true(void);

#endif
