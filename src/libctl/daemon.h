/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * daemon.h - finds the session daemon that serves this user, starts one, or ends it.
 *
 *   LTT_RUNDIR is set      only that directory
 *   root                   /run/ltt
 *   any other user         /run/ltt if its daemon admits the user (group tracing),
 *                          else the user's own runtime directory
 *
 * A daemon is started in the last directory of these, as `ltt-sessiond
 * --daemonize`, which returns when it serves. Runs in the caller's thread.
 */
#ifndef LIBCTL_DAEMON_H
#define LIBCTL_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "client.h"

/**
 * struct daemon_request - how to connect to a daemon; all zero: use a running one.
 * @spawn: start one if none runs. (The successor of a killed one is started in any case, as its
 * sessions still exist.)
 * @never_spawn: do not start even that successor.
 * @path: its program; NULL: LTT_SESSIOND_PATH, else @installed.
 * @installed: the daemon that was installed with libltt-ctl; NULL: the first in PATH.
 * @group: its --group; NULL: its default.
 * @interrupt: as for client_open(), also while a daemon starts; NULL: none.
 */
struct daemon_request {
	bool spawn;
	bool never_spawn;
	const char *path;
	const char *installed;
	const char *group;
	const int *interrupt;
};

/** Return: 0, ERR_NO_DAEMON or another code, with the sentence in @err. A daemon that does not
 *  answer (ERR_NO_ANSWER) still has its sessions, so no other is used or started. */
int daemon_open(const struct daemon_request *request, struct client **ret,
		struct err *err) MUST_CHECK;

/**
 * daemon_shutdown() - end the daemon of @client, and wait until its process has ended, 5 s at most.
 * @force: also if it has sessions.
 * @ret_sessions: number of sessions that ended with it.
 * Return: 0, or the code in @err: ERR_BUSY: it has sessions, or its process has not ended;
 * ERR_DENIED; ERR_INTERRUPTED: the daemon ends, which is not waited for.
 */
int daemon_shutdown(struct client *client, bool force, uint32_t *ret_sessions,
		    struct err *err) MUST_CHECK;

/**
 * daemon_spawn() - start a program that detaches itself, by posix_spawnp(), which is safe in a
 * process with threads and handlers of signals. It gets few of the caller's environment variables,
 * and default dispositions of signals.
 * @words: descriptor for its standard error; -1: the caller's standard error. Its other standard
 *	   files are /dev/null.
 * @ret: process id, for daemon_reap().
 * Return: 0 or negative errno, also of the exec.
 */
int daemon_spawn(char *const argv[], int words, pid_t *ret) MUST_CHECK;
/** Wait until the program has detached itself, 20 s at most; @ret_status is not changed if the
 *  caller's program ignores SIGCHLD or waits for all children. Return: 0, -ETIMEDOUT, or -EINTR:
 *  @interrupt is readable. */
int daemon_reap(int interrupt, pid_t pid, int *ret_status) MUST_CHECK;
/** Make a memfd for the standard error of such a program. Return: descriptor, or -1. */
int daemon_words(const char *name);
/** Read the first line of it. */
void daemon_read_words(int fd, char *buf, size_t len);

#endif
