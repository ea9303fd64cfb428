/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paths.h - paths of directories, files and sockets.
 *
 *   runtime directory   $LTT_RUNDIR; else /run/ltt for root; else
 *                       $XDG_RUNTIME_DIR/ltt; else $LTT_HOME/.ltt/run
 *   home                $LTT_HOME, else $HOME
 *   traces              HOME/ltt-traces
 *   current session     HOME/.lttrc
 *   sockets             RUNDIR/client.sock, RUNDIR/apps.sock
 *
 * Applications use only $LTT_RUNDIR if it is set, else /run/ltt and the user's runtime directory.
 */
#ifndef IO_PATHS_H
#define IO_PATHS_H

#include "base/macros.h"

#define PATHS_SYSTEM_RUNDIR "/run/ltt"

/** Return: allocated path; NULL and errno: ENOENT: neither LTT_HOME nor HOME is set; ENOMEM. */
char *paths_rundir(void);
char *paths_home(void);
/** Is the runtime directory the system-wide one? */
int paths_is_system(const char *rundir);
/** The first directory on the way into @dir, itself included, that this process may not enter;
 *  allocated. NULL: there is none, one is missing, or no memory. */
char *paths_closed_dir(const char *dir);
/** mkdir -p of one level at a time with @mode; 0 or negative errno. */
int paths_make_dir(const char *path, unsigned int mode) MUST_CHECK;

#endif
