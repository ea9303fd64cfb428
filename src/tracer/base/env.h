/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * env.h - libltt's environment variables, read once by its
 * constructor and constant afterwards (getenv() is not safe later on). Programs
 * that run with more rights than their user (setuid) get the defaults.
 *
 *   LTT_APP_DISABLE=1       disable libltt
 *   LTT_DEBUG=1             log to stderr
 *   LTT_REGISTER_TIMEOUT=n  milliseconds that start-up and dlopen() may wait for
 *                           the daemons that run; -1: forever; default 0
 *   LTT_SCOPE=a:b           words that sessions may be limited to (lttctl record)
 *   LTT_RUNDIR=dir          runtime directory of the only daemon; without it there are two:
 *                           /run/ltt and the user's (XDG_RUNTIME_DIR, LTT_HOME, HOME)
 */
#ifndef TRACER_BASE_ENV_H
#define TRACER_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>

#define AGENT_LINKS 2	      /* daemons to which an application connects */
#define AGENT_PATH_MAX 1024   /* longer runtime directories are not used */
#define AGENT_SCOPES_MAX 1024 /* of a longer list only the last words are used */

struct tracer_env {
	bool disabled;
	bool debug;
	bool chosen; /* the directory was named by LTT_RUNDIR */
	int register_timeout_ms;
	unsigned int nr_dirs;
	char scopes[AGENT_SCOPES_MAX];
	char dir[AGENT_LINKS][AGENT_PATH_MAX];
};

extern struct tracer_env tracer_env;

void tracer_env_read(void);

/**
 * tracer_join() - write texts, the last of which is followed by NULL, behind each other, cut off at
 * @size bytes. A program starts without the pages that snprintf() needs of libc.
 * Return: the length of all, without the final NUL.
 */
size_t tracer_join(char *to, size_t size, ...) __attribute__((sentinel));

/** One line on stderr, with LTT_DEBUG only. Keeps errno. */
void tracer_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
