/* SPDX-License-Identifier: GPL-2.0-only */
/* trace.h - the traces that other modules create (ltt_trace.h). */
#ifndef KMOD_TRACE_TRACE_H
#define KMOD_TRACE_TRACE_H

struct module;

/** When the module is loaded. Return: 0 or -errno. */
int traces_init(void);
/** Return: the number of the trace of this name; -ENOENT; -EPERM: it is not of @owner. */
int trace_find(const char *name, const struct module *owner);

/** Before it is unloaded: there is no module left that could have a trace. */
void traces_fini(void);

#endif
