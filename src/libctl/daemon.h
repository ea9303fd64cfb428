/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * daemon.h - finds the session daemon that serves this user, or starts one.
 *
 *   LTT_RUNDIR is set      that directory alone
 *   root                   /run/ltt
 *   anybody else           /run/ltt if its daemon admits the user (group tracing),
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
 * @never_spawn: not even that one.
 * @path: its program; NULL: LTT_SESSIOND_PATH, else the one beside the
 *        caller's own program, else the one that is installed, else what PATH finds.
 * @installed: the program that was installed with the library that asks: the caller's own program
 *	       is not ours then; NULL: it is.
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

/** The directory of these in which one would be started, allocated; NULL if there is none. */
char *daemon_rundir(void);
/** The first directory on the way into @rundir that the caller may not enter, allocated; NULL if
 *  there is none. */
char *daemon_closed_dir(const char *rundir);
/** Directory of the system's daemon. */
extern const char daemon_system_rundir[];

/**
 * daemon_spawn() - start a program that detaches itself, by posix_spawnp(): no signal's
 * disposition and no lock of the caller's threads matters.
 * @words: becomes its standard error; -1: it keeps the caller's. Its other standard files are
 *	   /dev/null.
 * @ret: to be waited for.
 * Return: 0 or negative errno, also of the exec.
 */
int daemon_spawn(char *const argv[], int words, pid_t *ret) MUST_CHECK;
/** Wait until it has detached itself, 20 s at most; @ret_status stays as it is where the caller's
 *  program ignores SIGCHLD or waits for all children. Return: 0, -ETIMEDOUT, or -EINTR: @interrupt
 *  is readable. */
int daemon_reap(int interrupt, pid_t pid, int *ret_status) MUST_CHECK;
/** A file in memory for the standard error of such a program, or -1: it has none then. */
int daemon_words(const char *name);
/** The first line in it. */
void daemon_read_words(int fd, char *buf, size_t len);

/** Directory of the running program, allocated; NULL if it can't be known. */
char *daemon_own_dir(void);

#endif
