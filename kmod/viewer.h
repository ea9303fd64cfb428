/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that the module carries with it: ltt-view, which shows traces and needs no other file.
 * Root reads it from /sys/kernel/debug/ltt/ltt-view. It is there if the module was built with
 * LTT_VIEW=FILE, and takes its size of the kernel's memory.
 */
#ifndef LTT_VIEWER_H
#define LTT_VIEWER_H

struct dentry;

/** Put the program into the folder (instr/folder.h). Return: the file, for debugfs_remove(). */
struct dentry *viewer_add(struct dentry *folder);

#endif
