/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memgroup.h - memory that the control groups of this process still allow (cgroup v2, or
 * the memory controller of v1). An allocation beyond the limit does not fail: the kernel
 * kills a process of the group.
 */
#ifndef IO_MEMGROUP_H
#define IO_MEMGROUP_H

#include <stdint.h>

/** Return: bytes that all groups from that of this process up to the root still allow; file caches
 *  that the kernel can drop count as free. UINT64_MAX: no limit, or it can't be read. */
uint64_t memgroup_available(void);

#endif
