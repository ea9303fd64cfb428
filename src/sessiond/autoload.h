/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * autoload.h - saved sessions that are loaded when the daemon starts, by `lttctl load`: this daemon
 * reads no XML. The program runs once for each directory, one after the other, as a child with the
 * limits of this process; a failure is one line of the log. Owned by main().
 */
#ifndef SESSIOND_AUTOLOAD_H
#define SESSIOND_AUTOLOAD_H

#include <stdbool.h>

#include "io/loop.h"

#define AUTOLOAD_PATHS 2

struct autoload {
	struct loop *loop;
	struct loop_child child;
	pid_t pid; /* 0: none runs */
	char *program, *rundir;
	char *paths[AUTOLOAD_PATHS];
	unsigned int nr, next;
	bool only_trusted; /* the directory is not one that was named by an option */
};

/**
 * autoload_init() - find the files to load.
 * @program: lttctl (copied). @rundir: of this daemon.
 * @path: file or directory; NULL: the user's directory for this purpose, and for the system's
 *	daemon also that of the system, if there are any.
 */
void autoload_init(struct autoload *autoload, struct loop *loop, const char *program,
		   const char *rundir, const char *path);
/** Begin, once clients are served. */
void autoload_begin(struct autoload *autoload);
/** End the child, too. May be called for a struct of zeroes. */
void autoload_fini(struct autoload *autoload);

#endif
