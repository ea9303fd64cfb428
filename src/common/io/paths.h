/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paths.h - paths of directories, files and sockets.
 *
 *   runtime directory   $LTT_RUNDIR; else /run/ltt for root; else
 *                       $XDG_RUNTIME_DIR/ltt; else $LTT_HOME/.ltt/run
 *   home                $LTT_HOME, else $HOME
 *   configuration       HOME/.config/ltt, for HOME of LTT_HOME; else $XDG_CONFIG_HOME/ltt
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
#define PATHS_SYSTEM_CONFIG "/etc/ltt"

/** Return: allocated path; NULL and errno: ENOENT: neither LTT_HOME nor HOME is set; ENOMEM. */
char *paths_rundir(void);
char *paths_home(void);
char *paths_config(void);
/** Whether the runtime directory is the system-wide one. */
int paths_is_system(const char *rundir);
/** The first directory of the path @dir that this process may not enter; allocated. NULL: it may
 *  enter all, one is missing, or no memory. */
char *paths_closed_dir(const char *dir);
/** Create a directory and missing parents with @mode. Return: 0 or negative errno. */
int paths_make_dir(const char *path, unsigned int mode) MUST_CHECK;

#endif
