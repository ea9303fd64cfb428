/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pidinfo.h - facts of a process by its pidfd, in the kernel's numbers (linux/pidfd.h): since Linux
 * 6.13, and PIDINFO_EXIT since 6.15. */
#ifndef IO_PIDINFO_H
#define IO_PIDINFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#define PIDINFO_EXIT (1u << 3)

/** struct pidinfo - @mask: wanted facts, then those that are known. @exit_code: as of waitpid(), of
 *  a process whose parent has read it; of PIDINFO_EXIT. */
struct pidinfo {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

_Static_assert(sizeof(struct pidinfo) == 64, "the size is a part of the number");

#define PIDINFO_GET _IOWR(0xff, 11, struct pidinfo)

static inline bool pidinfo_has_exit(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname kernel;

	return uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 15));
}

#endif
