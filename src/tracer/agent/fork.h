/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork.h - handles fork() in libltt. The child inherits the
 * mapped rings and all hooks, so it records on from its first instruction; a
 * helper of its own then registers it and has the rings confirmed or replaced. If rings belong
 * to the parent alone, fork() returns in the child after that, or after a timeout.
 */
#ifndef TRACER_AGENT_FORK_H
#define TRACER_AGENT_FORK_H

/** Return: 0 or a negative errno: then the helper must not be started either. */
int agent_fork_init(void);

#endif
