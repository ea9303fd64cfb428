/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the daemon leaves for its successor: RUNDIR/state/, a file for
 * itself and one for each session, each written whole and renamed into place at
 * every change that matters, the daemon's own twice. A damaged file (state_file.h) costs
 * that session only, of which is said where its trace is. Nothing is synced: what it
 * describes, buffers in memory, does not survive the machine either, and the next boot
 * forgets it.
 * Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_STATE_H
#define SESSIOND_STATE_H

#include "sessiond.h"

/**
 * state_load() - be what the daemon before was: instance, sessions, buffers.
 * Before anybody connects. Files that can't be read are left behind, and named.
 * @rundir: kept.
 */
void state_load(struct sessiond *sd, const char *rundir);
/** Write a session down, now. Return: 0 or negative errno, which is said as the session's
 *  problem as well (TROUBLE_STATE). */
int state_save(struct sessiond *sd, struct session *session);
/** It is no more. */
void state_discard(struct sessiond *sd, const struct session *session);
/** An orderly end: no successor needs anything. */
void state_clear(struct sessiond *sd);

#endif
