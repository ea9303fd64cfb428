/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork.h - handles fork() in libltt. The child inherits the mapped rings and all hooks, so it
 * records from its first instruction; its own helper then registers the child, and the daemon
 * confirms or replaces the rings. If rings belong to the parent only, fork() returns in the child
 * after that, or after a timeout.
 */
#ifndef TRACER_AGENT_HOST_FORK_H
#define TRACER_AGENT_HOST_FORK_H

/** Return: 0 or a negative errno: then the helper must not be started either. */
int agent_fork_init(void);

#endif
