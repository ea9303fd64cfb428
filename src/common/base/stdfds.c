/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stdfds.h"

#include <fcntl.h>
#include <unistd.h>

void stdfds_open(void)
{
	int fd;

	do /* the lowest number that is free is used */
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
