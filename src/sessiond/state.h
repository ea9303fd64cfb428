/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the state that the daemon saves for its successor: RUNDIR/state/, a file for
 * itself and one for each session, each written whole and renamed into place at
 * every change that matters, the daemon's own twice. A damaged file (state_file.h) loses that
 * session only, and the path of its trace is reported. Nothing is synced: the buffers in memory
 * that it describes do not survive a reboot either, and a later boot ignores it. Owned by the
 * daemon; runs on its loop.
 */
#ifndef SESSIOND_STATE_H
#define SESSIOND_STATE_H

#include "sessiond.h"

/**
 * state_load() - restore the state of an earlier daemon: instance, sessions, buffers. Call it
 * before clients can connect. Unreadable files are left in place, and reported.
 * @rundir: kept.
 */
void state_load(struct sessiond *sd, const char *rundir);
/** Save a session now. Return: 0 or negative errno, which is reported as the session's problem
 *  as well (TROUBLE_STATE). */
int state_save(struct sessiond *sd, struct session *session);
/** The session has been destroyed. */
void state_discard(struct sessiond *sd, const struct session *session);
/** Orderly shutdown: remove the state. */
void state_clear(struct sessiond *sd);

#endif
