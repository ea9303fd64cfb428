/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * changes.h - events for changes of the state that dumps show and no tracepoint of the kernel does:
 * an interrupt handler is connected or disconnected; a network interface goes up or down, or has
 * another name. They are recorded as all others, trackers included.
 */
#ifndef KMOD_DUMP_CHANGES_H
#define KMOD_DUMP_CHANGES_H

/** Return: 0 or -errno. */
int changes_init(void);
/** No event may be enabled any more. */
void changes_fini(void);

#endif
