/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoints.h - the events compiled from the kernel's trace headers, and which
 * tracepoint each has in the running kernel, as modules come and go. Tasks only.
 */
#ifndef KMOD_TRACEPOINTS_H
#define KMOD_TRACEPOINTS_H

struct tracepoint;

int tracepoints_init(void);
void tracepoints_fini(void);

/** A tracepoint of the kernel itself (not of a module), or NULL. */
struct tracepoint *tracepoints_find(const char *name);

#endif
