/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/mem.h"

#define OTHERS (S_IRWXG | S_IRWXO)
#define TRIES 100 /* each was lost to another process that replaced the file meanwhile */

enum { REPLACED = 1 }; /* a named outcome: to be tried again */

static bool is_still_at(int dir_fd, const char *path, const struct stat *st)
{
	struct stat now;

	return fstatat(dir_fd, path, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st->st_dev &&
	       now.st_ino == st->st_ino;
}

/* Only the process that has the lock replaces the file, and a lock counts only on the file
 * that is there: so two processes never have it. */
static int try_take(int dir_fd, const char *path, int *ret_fd)
{
	AUTO_FD int fd =
		openat(dir_fd, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return -errno;
		*ret_fd = TAKE_FD(fd);
		return -EWOULDBLOCK;
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (!is_still_at(dir_fd, path, &st))
		return REPLACED;
	if (st.st_mode & OTHERS) /* others may have it open, even after a change of its mode */
		return unlinkat(dir_fd, path, 0) < 0 ? -errno : REPLACED;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int lockfile_lock(int dir_fd, const char *path, int *ret_fd)
{
	int ret = REPLACED;

	for (int i = 0; i < TRIES && ret == REPLACED; i++)
		ret = try_take(dir_fd, path, ret_fd);
	return ret == REPLACED ? -EBUSY : ret;
}
