/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "procstate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

bool procstate_is_killed(pid_t pid)
{
	char path[40], status[4096];
	const char *pending;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, status, sizeof(status) - 1);
	close(fd);
	status[MAX(len, 0)] = '\0';
	pending = strstr(status, "\nShdPnd:");
	return pending && (strtoull(pending + 8, NULL, 16) >> (SIGKILL - 1) & 1);
}
