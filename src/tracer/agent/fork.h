/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork.h - what happens to libltt around fork(). The child inherits the
 * mapped rings and all hooks, so it records on from its first instruction; a
 * helper of its own then registers it and has the rings confirmed or replaced. Where
 * rings are the parent's alone, fork() returns in the child when that is done, or has
 * taken too long.
 */
#ifndef TRACER_AGENT_FORK_H
#define TRACER_AGENT_FORK_H

/** Return: 0 or a negative errno: then there must be no helper either. */
int agent_fork_init(void);

#endif
