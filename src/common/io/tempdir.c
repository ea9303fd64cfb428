/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"

/* Waits for the end of the process, also by SIGKILL. */
static void tempdir_remove_later(const char *dir, int until_fd) __attribute__((noreturn));

static void tempdir_remove_later(const char *dir, int until_fd)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;
	char byte;

	/* it is no part of the job that a shell waits for, or stops */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	while (read(until_fd, &byte, 1) < 0 && errno == EINTR)
		;
	dir_remove(AT_FDCWD, dir);
	_exit(0);
}

/* Return: 0 or the code in @err. The descriptor stays open until this process ends. */
static int tempdir_watch(const char *dir, struct err *err)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, ERR_INTERNAL, errno, "can't make a pipe");
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		tempdir_remove_later(dir, fds[0]);
	}
	close(fds[0]);
	if (pid > 0)
		return 0;
	close(fds[1]);
	return err_errno(err, ERR_INTERNAL, errno, "can't start a process");
}

int tempdir_new(const char *name, char **ret, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	AUTO_FREE char *dir = xasprintf("%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);

	if (!mkdtemp(dir))
		return err_errno(err, ERR_OUTPUT, errno, "can't create %s", dir);
	if (tempdir_watch(dir, err)) {
		dir_remove(AT_FDCWD, dir);
		return err->code;
	}
	*ret = TAKE(dir);
	return 0;
}
