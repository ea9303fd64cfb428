/* SPDX-License-Identifier: GPL-2.0-only */
/* callbacks.h - functions of other modules at tracepoints and places (ltt_probe.h). Process context
 * only. */
#ifndef KMOD_CALLBACKS_H
#define KMOD_CALLBACKS_H

struct seq_file;
struct tracepoint;

int callbacks_init(void);
/** No module that uses ltt_probe.h may be loaded any more. */
void callbacks_fini(void);

/** A line for each pair that is registered: source, name, how often, of which module. */
void callbacks_show(struct seq_file *to);

/** A line for each tracepoint of the kernel and of modules. */
void callbacks_show_tracepoints(struct seq_file *to);

/** A tracepoint of the kernel itself (not of a module), or NULL. Exported to ltt.ko. */
struct tracepoint *ltt_tracepoint_find(const char *name);

#endif
