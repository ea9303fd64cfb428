/* SPDX-License-Identifier: GPL-2.0-only */
/* priv.h - shared by state.c, which saves the sessions of the daemon, and state_load.c, which
 * restores them after a restart. */
#ifndef SESSIOND_STATE_PRIV_H
#define SESSIOND_STATE_PRIV_H

#include "file.h"
#include "state.h"

#define STATE_DAEMON_FILE "daemon"
#define STATE_DAEMON_COPY "daemon.copy" /* written after STATE_DAEMON_FILE: one is complete */

#define STATE_NAME_BYTES 48

/** Write the daemon's file, if the next daemon needs another one. Return: 0 or negative errno. */
int state_save_daemon(struct sessiond *sd) MUST_CHECK;
/** The name of a session's file of classes. */
void state_classes_name(uint64_t session, uint32_t number, char ret[STATE_NAME_BYTES]);

/** This boot's id; "": unknown. */
void state_read_boot(char *ret, size_t len);

#endif
