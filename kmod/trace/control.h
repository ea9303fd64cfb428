/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - traces inside of the kernel (ltt_trace.h) that a shell controls, by lines of text
 * which are written to /sys/kernel/debug/ltt/control or to /dev/ltt. Such a trace has no reader but
 * its text (text_folder.h), and holds the module. Process context only.
 */
#ifndef KMOD_TRACE_CONTROL_H
#define KMOD_TRACE_CONTROL_H

#include <linux/types.h>

struct file;

/** The write() of both files: runs the first line, which ends with a newline. Return: its bytes; or
 *  -errno, and the kernel's log has the reason in one line. */
ssize_t control_write(struct file *file, const char __user *from, size_t size, loff_t *pos);

#endif
