/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dir.h - the entries of a directory, read by its descriptor. Owned by the caller. */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include <dirent.h>
#include <stdint.h>
#include <sys/stat.h>

#include "macros.h"

/**
 * dir_open() - open a directory; the stream does not share its position with @at_fd.
 * @name: relative to @at_fd, "." for @at_fd itself; a symbolic link is not followed.
 * Return: NULL with errno set.
 */
DIR *dir_open(int at_fd, const char *name);
/** The next entry except "." and ".."; NULL: after the last one, or @dir is NULL. */
struct dirent *dir_next(DIR *dir);
/** Remove the contents of directory @name, down to @depth levels; entries that can't be removed
 *  stay. */
void dir_empty(int at_fd, const char *name, unsigned int depth);

/** Remove @name with its contents, of any depth: at most a dozen directories are open at a time. */
void dir_remove(int at_fd, const char *name);

/** Time of the last write, CLOCK_REALTIME. */
static inline uint64_t stat_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/** Size of an open file; 0: not known. */
static inline uint64_t fd_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static inline void cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR CLEANUP(cleanup_dir)

#endif
