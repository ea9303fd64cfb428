/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dir.h - the entries of a directory, read by its descriptor. Owned by the caller. */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include <dirent.h>

#include "macros.h"

/**
 * dir_open() - with a position of its own.
 * @name: beneath @at_fd, "." for that itself; a symbolic link is not followed.
 * Return: NULL with errno set.
 */
DIR *dir_open(int at_fd, const char *name);
/** The next entry but "." and ".."; NULL: there is none any more, or no @dir. */
struct dirent *dir_next(DIR *dir);
/** Remove what is in it, @depth levels of directories deep; what can't be removed stays. */
void dir_empty(int at_fd, const char *name, unsigned int depth);

/** Remove @name with all that is in it, however deep: at most a dozen levels are open at a time. */
void dir_remove(int at_fd, const char *name);

static inline void cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR CLEANUP(cleanup_dir)

#endif
