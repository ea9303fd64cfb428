/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rootpath.h - opens files by paths below /proc/PID/root, the root directory of a process, as in a
 * container. Links below it are followed within that root: an absolute one, or a `..`, does not
 * lead to a file of this process's own root.
 */
#ifndef IO_ROOTPATH_H
#define IO_ROOTPATH_H

#include <stdbool.h>

#include "base/macros.h"

/** Whether @path is below the root directory of a process. */
bool rootpath_is(const char *path);
/** rootpath_open() - open(2) of any path. Return: descriptor or negative errno; -ENOSYS: it is
 *  below the root directory of a process, which takes Linux 5.6. */
int rootpath_open(const char *path, int flags) MUST_CHECK;

#endif
