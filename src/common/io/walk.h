/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * walk.h - open a directory by its path, level by level, following no symbolic link
 * but root's and the caller's own: a link of another user could redirect writes. No component is
 * examined twice, so none can be replaced between check and use. Any thread.
 */
#ifndef IO_WALK_H
#define IO_WALK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/**
 * walk_dir() - open a directory to read.
 * @path: absolute.
 * @mode: create missing levels with this mode; 0: create none.
 * @ret_made: whether the last level is new; may be NULL.
 * Return: 0 or the code set in @err. Levels made before a failure stay.
 */
int walk_dir(const char *path, mode_t mode, int *ret_fd, bool *ret_made,
	     struct err *err) MUST_CHECK;

#endif
