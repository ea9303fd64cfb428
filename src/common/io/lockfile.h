/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lockfile.h - a file that is locked by one process at a time. Other users can't open it, as
 * flock() allows each user with read permission to lock a file. The file is never removed.
 */
#ifndef IO_LOCKFILE_H
#define IO_LOCKFILE_H

#include "base/macros.h"

/**
 * lockfile_lock() - lock the file at @path, which is created if it is missing.
 * @dir_fd: base of a relative @path, as for openat().
 * @ret_fd: the descriptor that holds the lock. With -EWOULDBLOCK: one of the file that is
 *	    locked by another process, to read it and close it.
 *
 * Return: 0 or negative errno.
 */
int lockfile_lock(int dir_fd, const char *path, int *ret_fd) MUST_CHECK;

#endif
