/* SPDX-License-Identifier: GPL-2.0-only */
/* statfs.h - facts about a file system that may not answer. */
#ifndef CTL_STATFS_H
#define CTL_STATFS_H

#include <sys/statvfs.h>

#include "base/macros.h"

/**
 * statfs_ask() - statvfs(), for at most @limit_ms. A child process calls it: the kernel may hold a
 * process that uses a file system whose server or disk hangs, and its threads, for ever.
 * Return: 0, or an errno, ETIMEDOUT among them.
 */
int statfs_ask(const char *path, int limit_ms, struct statvfs *ret) MUST_CHECK;

#endif
