/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_fds.h - descriptors that are left open: no sanitizer looks for them. */
#ifndef FUZZ_FDS_H
#define FUZZ_FDS_H

#include <fcntl.h>

#define FUZZ_FDS 256

/** How many of the first descriptors are open. */
static inline int open_fds(void)
{
	int nr = 0;

	for (int fd = 0; fd < FUZZ_FDS; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

#endif
