/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * autoload.h - work of lttctl for a daemon that has started: it loads saved sessions (`lttctl
 * load`), as this daemon reads no XML, and then sends the spools that sessions have left here whose
 * daemon or host has died (`lttctl spool send`), repeatedly, until all are sent. The program runs
 * once for each directory of sessions, one after the other, as a child with the limits of this
 * process; a failure is one line of the log. The sentences of `lttctl load` are in the log, too,
 * and in a file of the runtime directory for `lttctl list` and `doctor`. Owned by main().
 */
#ifndef SESSIOND_SERVICE_AUTOLOAD_H
#define SESSIOND_SERVICE_AUTOLOAD_H

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
	struct loop_timer retry; /* sends the spools that could not be sent */
	uint64_t pause_us;	 /* before it; 0: none failed */
	bool only_trusted; /* the directory is not one that was named by an option */
	bool *running;	   /* set while the program runs */
	long logged;	   /* bytes of its errors that are in the log */
};

/**
 * @program: lttctl (copied). @rundir: of this daemon.
 * @running: set while sessions are being loaded; must not be freed before autoload_fini().
 */
void autoload_init(struct autoload *autoload, struct loop *loop, const char *program,
		   const char *rundir, bool *running);
/**
 * autoload_find() - find the sessions to load.
 * @path: file or directory; NULL: the user's directory for this purpose, and for the system's
 *	daemon also that of the system, if there are any.
 */
void autoload_find(struct autoload *autoload, const char *path);
/** Begin, once clients are served. */
void autoload_begin(struct autoload *autoload);
/** End the child, too. May be called for a struct of zeroes. */
void autoload_fini(struct autoload *autoload);

#endif
