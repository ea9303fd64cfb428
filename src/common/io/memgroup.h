/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memgroup.h - how much memory the control groups of this process still allow (cgroup v2, or
 * the memory controller of v1). Memory that is taken beyond that does not fail: the kernel
 * kills a process of the group.
 */
#ifndef IO_MEMGROUP_H
#define IO_MEMGROUP_H

#include <stdint.h>

/** Return: bytes that the tightest group up the tree has left, file caches that the kernel would
 *  drop counted as left; UINT64_MAX: no limit, or none that can be read. */
uint64_t memgroup_available(void);

#endif
