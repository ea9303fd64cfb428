/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * folder.h - /sys/kernel/debug/ltt: `available`, the sources of events and their names; `active`,
 * those that have a listener: source, name, how often, and the channels or the function; and the
 * program of viewer.h.
 */
#ifndef KMOD_FOLDER_H
#define KMOD_FOLDER_H

/** A kernel without debugfs has none of this, and it is no error. */
void folder_init(void);
/** Waits for its readers. */
void folder_fini(void);

#endif
