/* SPDX-License-Identifier: GPL-2.0-only */
#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "own.h"

bool fetched_is_url(const char *word)
{
	return strncmp(word, "s3://", 5) == 0 || strncmp(word, "file://", 7) == 0;
}

/* --- ltt-archive --------------------------------------------------------------------- */

/* @ret: its standard output. Return: 0 or the code in ctl->err. */
static int fetched_start(struct ctl *ctl, const char *url, const char *dir, pid_t *ret_pid,
			 FILE **ret)
{
	AUTO_FREE char *program = own_program("ltt-archive");
	char *const argv[] = { program,	     (char *)"--fetch", (char *)"--json",
			       (char *)"--", (char *)url,	(char *)dir,
			       NULL };
	posix_spawn_file_actions_t actions;
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(&ctl->err, ERR_INTERNAL, errno, "can't make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	error = posix_spawnp(ret_pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	*ret = error ? NULL : fdopen(fds[0], "r");
	if (*ret)
		return 0;
	close(fds[0]);
	return err_errno(&ctl->err, ERR_INTERNAL, error ? error : errno,
			 "can't run ltt-archive, which comes with lttctl");
}

int fetched_into(struct ctl *ctl, const char *url, const char *dir, struct json_object **ret)
{
	AUTO_FREE char *line = NULL;
	struct json_object *sessions;
	FILE *from;
	size_t size = 0;
	pid_t pid;
	int status;

	if (fetched_start(ctl, url, dir, &pid, &from))
		return ctl->err.code;
	sessions = json_object_new_array();
	while (getline(&line, &size, from) > 0)
		json_object_array_add(sessions, json_tokener_parse(line));
	fclose(from);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ret)
		*ret = json_object_get(sessions);
	json_object_put(sessions);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(&ctl->err, ERR_OUTPUT, "not all sessions below %s were fetched", url);
}

/* --- a directory for the time of this process ----------------------------------------- */

/* Waits for the end of lttctl, also by SIGKILL. */
static void fetched_remove_later(const char *dir, int until_fd) __attribute__((noreturn));

static void fetched_remove_later(const char *dir, int until_fd)
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

/* Return: 0 or the code in ctl->err. The descriptor stays open until this process ends. */
static int fetched_watch(struct ctl *ctl, const char *dir)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(&ctl->err, ERR_INTERNAL, errno, "can't make a pipe");
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		fetched_remove_later(dir, fds[0]);
	}
	close(fds[0]);
	if (pid > 0)
		return 0;
	close(fds[1]);
	return err_errno(&ctl->err, ERR_INTERNAL, errno, "can't start a process");
}

char *fetched_path(struct ctl *ctl, const char *url)
{
	const char *tmp = getenv("TMPDIR");
	AUTO_FREE char *dir = xasprintf("%s/lttctl-fetch-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	AUTO_FREE char *below = NULL;

	if (!mkdtemp(dir)) {
		err_errno(&ctl->err, ERR_OUTPUT, errno, "can't create %s", dir);
		return NULL;
	}
	if (fetched_watch(ctl, dir)) {
		dir_remove(AT_FDCWD, dir);
		return NULL;
	}
	below = xasprintf("%s/trace", dir);
	return fetched_into(ctl, url, below, NULL) ? NULL : TAKE(below);
}
