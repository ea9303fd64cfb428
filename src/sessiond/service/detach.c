/* SPDX-License-Identifier: GPL-2.0-only */
#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/macros.h"

/* The daemon sends its status as one byte; without a byte it has failed and printed an error.
 * @child is not the daemon but the process that has forked it. */
static void wait_ready(int fd, pid_t child)
{
	unsigned char status = 1;
	ssize_t n;

	do
		n = read(fd, &status, 1);
	while (n < 0 && errno == EINTR);
	waitpid(child, NULL, 0);
	_exit(status);
}

int detach(void)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0) {
		close(fds[1]);
		wait_ready(fds[0], pid);
	}
	close(fds[0]);
	setsid();
	/* and once more, so that we can't get a terminal again */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0)
		_exit(0);
	return fds[1];
}

static void detach_print(int fd, unsigned char status)
{
	while (write(fd, &status, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

void detach_failed(int fd, int status)
{
	if (fd >= 0)
		detach_print(fd, (unsigned char)status);
}

void detach_ready(int fd)
{
	detach_print(fd, 0);
}
