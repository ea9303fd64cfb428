/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdlib.h>

#include "tracer/base/env.h"
#include "tracer/base/sys.h"

/* The table is copied first: after that, closing a descriptor does not affect the program. */
static int leave_and_close(unsigned int first, int keep)
{
	unsigned int behind = keep < 0 ? first : (unsigned int)keep + 1;

	if (sys_call(SYS_close_range, behind, ~0u, CLOSE_RANGE_UNSHARE) != 0)
		return -errno;
	if (behind > first + 1)
		sys_call(SYS_close_range, first, behind - 2, 0);
	return 0;
}

/* Before Linux 5.9. /proc/self would show the process's table. */
static int leave_then_close(int keep)
{
	DIR *dir;

	if (sys_call(SYS_unshare, CLONE_FILES) < 0)
		return -errno;
	dir = opendir("/proc/thread-self/fd");
	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd != dirfd(dir) && fd != keep && fd > STDERR_FILENO)
			sys_close(fd);
	}
	closedir(dir);
	return 0;
}

int agent_private_table(int keep)
{
	int err = leave_and_close(STDERR_FILENO + 1, keep);

	if (err == -ENOSYS || err == -EINVAL || err == -EPERM)
		err = leave_then_close(keep);
	if (err < 0)
		return err;
	sys_close(STDIN_FILENO);
	sys_close(STDOUT_FILENO);
	if (!tracer_env.debug)
		sys_close(STDERR_FILENO);
	return 0;
}
