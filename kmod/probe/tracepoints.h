/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoints.h - registers an event for each tracepoint of the kernel's trace headers, and
 * connects it to the tracepoint of the running kernel as modules are loaded and unloaded. Process
 * context only.
 */
#ifndef KMOD_TRACEPOINTS_H
#define KMOD_TRACEPOINTS_H

int tracepoints_init(void);
void tracepoints_fini(void);

#endif
