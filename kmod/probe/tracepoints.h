/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoints.h - registers an event for each tracepoint of the kernel's trace headers, and
 * connects it to the tracepoint of the running kernel as modules are loaded and unloaded. Process
 * context only.
 */
#ifndef KMOD_TRACEPOINTS_H
#define KMOD_TRACEPOINTS_H

struct tracepoint;

int tracepoints_init(void);
void tracepoints_fini(void);

/** A tracepoint of the kernel itself (not of a module), or NULL. */
struct tracepoint *tracepoints_find(const char *name);

#endif
