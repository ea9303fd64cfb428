/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dirid.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int dirid_of(int fd, struct dirid *ret)
{
	struct statx st;

	/* the identity does not change, and a server that hangs must not delay the caller */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_BTIME, &st) < 0)
		return -errno;
	ret->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	ret->ino = st.stx_ino;
	ret->born_ns = 0;
	if (st.stx_mask & STATX_BTIME)
		ret->born_ns = (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
	return 0;
}

int dirid_open(const char *path, const struct dirid *wanted)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirid found = { 0 };
	int ret = fd < 0 ? -errno : dirid_of(fd, &found);

	if (ret < 0)
		return ret;
	if (!dirid_equal(&found, wanted))
		return -ESTALE;
	return TAKE_FD(fd);
}
