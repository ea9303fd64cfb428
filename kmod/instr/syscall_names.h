/* SPDX-License-Identifier: GPL-2.0-only */
/* syscall_names.h - the system calls of the kernel that the module was built for. */
#ifndef KMOD_INSTR_SYSCALL_NAMES_H
#define KMOD_INSTR_SYSCALL_NAMES_H

#include <linux/types.h>

#define SYSCALL_NUMBERS 512

struct seq_file;

/** Return: the name without `sys_`; NULL: no call has that number. @compat: of 32-bit programs. */
const char *ltt_syscall_name(bool compat, u32 nr);
/** A line for each. */
void syscall_names_show(struct seq_file *to);

#endif
