/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/mem.h"

int lockfile_lock(int dir_fd, const char *path, int *ret_fd)
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
	*ret_fd = TAKE_FD(fd);
	return 0;
}
