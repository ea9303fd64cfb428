/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the state that the daemon saves for its successor: in RUNDIR/state/, two copies of a
 * file for the daemon and one file for each session. At each relevant change a new file is written
 * and renamed into place. Event classes and rules, which are most of a session's state and seldom
 * change, are in a file of their own to which new and changed ones are appended. If a file is
 * damaged (state_file.h), only that session is lost, and the path of its trace is reported. The
 * files are not synced to the disk: like the buffers in memory, they are valid until the next boot.
 * Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_STATE_STATE_H
#define SESSIOND_STATE_STATE_H

#include "sessiond/sessiond.h"

/**
 * state_load() - restore the state of an earlier daemon: instance, sessions, buffers. Call it
 * before clients can connect. Unreadable files are left in place, and reported.
 * @rundir: copied.
 */
void state_load(struct sessiond *sd, const char *rundir);
void state_init(struct sessiond *sd);
void state_fini(struct sessiond *sd);
/** Save a session now. Return: 0 or negative errno, which is reported as the session's problem
 *  as well (TROUBLE_STATE), until a further attempt succeeds: one is made each second. */
int state_save(struct sessiond *sd, struct session *session);
/** Save the sessions of which a client, which hangs up, has announced further changes. */
void state_save_series(struct sessiond *sd, uint64_t client);
/** Remove the state of a session that is destroyed. */
void state_discard(struct sessiond *sd, const struct session *session);
/** Remove all state, at an orderly shutdown. */
void state_clear(struct sessiond *sd);

#endif
