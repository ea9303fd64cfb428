/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * folder.h - /sys/kernel/debug/ltt, and in it `active`: the sources of events that have a listener,
 * with name, how often, and the channels or the function.
 */
#ifndef KMOD_INSTR_FOLDER_H
#define KMOD_INSTR_FOLDER_H

struct dentry;
struct seq_file;

/** The recorder shows its events in `active`, before the others, until this is called with NULL:
 *  then it is called no more. Return: the folder, for its own files, which it removes. */
struct dentry *ltt_folder_join(void (*show)(struct seq_file *to));

/** A kernel without debugfs has none of this, and it is no error. */
void instr_folder_init(void);
/** Waits for its readers. */
void instr_folder_fini(void);

#endif
