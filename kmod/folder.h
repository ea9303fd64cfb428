/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * folder.h - in /sys/kernel/debug/ltt (instr/folder.h): events that only the recorder has in
 * `available`; the events of channels in `active`; the counts of channels in `stats`; `control`
 * (trace/control.h); and the program of viewer.h.
 */
#ifndef KMOD_FOLDER_H
#define KMOD_FOLDER_H

/** A kernel without debugfs has none of this, and it is no error. */
void folder_init(void);
/** Waits for its readers. */
void folder_fini(void);

#endif
