/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - call stacks of the kernel, and of the current program. Used
 * wherever events are recorded; nothing sleeps.
 */
#ifndef KMOD_STACKS_H
#define KMOD_STACKS_H

#include <linux/types.h>

#define STACKS_MAX 128 /* addresses of one stack; further callers are omitted */

/** Both return: how many addresses, the innermost first. Of the kernel: without our own. */
u32 stacks_kernel(unsigned long *ret);
/** As far as the program keeps frame pointers: 0 of a thread of the kernel. */
u32 stacks_user(unsigned long *ret);

#endif
