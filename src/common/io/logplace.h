/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * logplace.h - where a daemon in the background logs: to the journal where there is one, else to a
 * bounded file of its runtime directory. Called by main() before the daemon is confined.
 */
#ifndef IO_LOGPLACE_H
#define IO_LOGPLACE_H

#define LOGPLACE_JOURNAL "/run/systemd/journal/stdout"
#define LOGPLACE_SESSIOND "sessiond.log"
#define LOGPLACE_RELAYD "relayd.log"
#define LOGPLACE_AUTOLOAD "autoload.log" /* why saved sessions were not loaded; see autoload.h */

/** Connect to the journal. @name: the daemon's, for `journalctl -t`. Return: a descriptor for
 *  lines, or negative errno. */
int logplace_journal(const char *sock, const char *name);
/** Log there from now on, as do the processes that this one starts. @dir: the runtime directory,
 *  which exists. @file: a LOGPLACE_. Where neither is possible, messages are lost. */
void logplace_use(const char *dir, const char *file, const char *name);

#endif
