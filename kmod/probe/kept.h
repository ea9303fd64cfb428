/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kept.h - a small number that the entry of a system call keeps for the task's exit of it, where
 * the call overwrites its own input. The table has one slot for each 65536th thread id: of two
 * tasks that share one, the later one's number is there, and none for the other.
 */
#ifndef KMOD_KEPT_H
#define KMOD_KEPT_H

#include <linux/types.h>

#define KEPT_MAX 1023u /* greater numbers are kept as this one */

/** Make the table, if it is not there yet, and forget all numbers. Process context. Return: 0 or
 *  -ENOMEM. */
int kept_begin(void);
void kept_fini(void);
/** Of the current task, in any context; after kept_begin(). */
void kept_put(u32 number);
/** Return: the current task's number; 0: none was kept. */
u32 kept_get(void);

#endif
