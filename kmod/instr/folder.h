/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * folder.h - /sys/kernel/debug/ltt, and in it two lists: `available`, the sources of events, those
 * of the kernel, of modules and of the recorder; `active`, those that have a listener, with how
 * often, and the channels or the function.
 */
#ifndef KMOD_INSTR_FOLDER_H
#define KMOD_INSTR_FOLDER_H

struct dentry;
struct seq_file;

/** struct folder_recorder - the recorder's lines: of @available those of sources that are there by
 *  it alone. */
struct folder_recorder {
	void (*available)(struct seq_file *to);
	void (*active)(struct seq_file *to);
};

/** The recorder's lines come before the others, until this is called with NULL: then it is called
 *  no more. Return: the folder, for its own files, which it removes. */
struct dentry *ltt_folder_join(const struct folder_recorder *with);

/** A kernel without debugfs has none of this, and it is no error. */
void instr_folder_init(void);
/** Waits for its readers. */
void instr_folder_fini(void);

#endif
