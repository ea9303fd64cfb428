/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"

#define SUFFIX 6u /* characters that mkdtemp() replaces */

/** The answer of the process that makes and removes the directory. */
struct tempdir_made {
	int error;
	char suffix[SUFFIX];
};

/* Makes the directory, and removes it at the end of the other process: also if that is killed
 * before it has the answer. */
static void tempdir_serve(char *dir, int to_fd, int until_fd) __attribute__((noreturn));

static void tempdir_serve(char *dir, int to_fd, int until_fd)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct tempdir_made made = { 0 };
	sigset_t all;
	char byte;

	/* it is no part of the job that a shell waits for, or stops */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	made.error = mkdtemp(dir) ? 0 : errno;
	memcpy(made.suffix, dir + strlen(dir) - SUFFIX, SUFFIX);
	(void)!write(to_fd, &made, sizeof(made));
	while (!made.error && read(until_fd, &byte, 1) < 0 && errno == EINTR)
		;
	if (!made.error)
		dir_remove(AT_FDCWD, dir);
	_exit(0);
}

/* The write end of @until stays open until this process ends. */
static int tempdir_start(char *dir, const int to[2], const int until[2], struct err *err)
{
	struct tempdir_made made = { .error = ECHILD };
	pid_t pid = fork();

	if (pid == 0) {
		close(to[0]);
		close(until[1]);
		tempdir_serve(dir, to[1], until[0]);
	}
	if (pid < 0)
		return err_errno(err, ERR_INTERNAL, errno, "can't start a process");
	close(to[1]);
	while (read(to[0], &made, sizeof(made)) < 0 && errno == EINTR)
		;
	if (made.error)
		return err_errno(err, ERR_OUTPUT, made.error, "can't create %s", dir);
	memcpy(dir + strlen(dir) - SUFFIX, made.suffix, SUFFIX);
	return 0;
}

int tempdir_new(const char *name, char **ret, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	AUTO_FREE char *dir = xasprintf("%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	int to[2], until[2];

	if (pipe2(to, O_CLOEXEC) < 0)
		return err_errno(err, ERR_INTERNAL, errno, "can't make a pipe");
	if (pipe2(until, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return err_errno(err, ERR_INTERNAL, errno, "can't make a pipe");
	}
	if (tempdir_start(dir, to, until, err) == 0)
		*ret = TAKE(dir);
	close(to[0]);
	close(until[0]);
	return err->code;
}
