/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - call stacks of the kernel, and of the current program. Called in any
 * context; nothing sleeps.
 */
#ifndef KMOD_STACKS_H
#define KMOD_STACKS_H

#include <linux/types.h>

#define STACKS_MAX 128 /* addresses of one stack; further callers are omitted */

/** The stack of the kernel, without functions of this module. Return: number of addresses; the
 *  innermost comes first. */
u32 stacks_kernel(unsigned long *ret);
/** The stack of the program, as far as it has frame pointers. Return: as above; 0 for a kernel
 *  thread. */
u32 stacks_user(unsigned long *ret);

#endif
