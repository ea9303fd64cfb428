/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.h - a session at a relay turns to its next chunk: the directories of its traces move to
 * archives/NAME, or are removed (clear), and new ones take their place, in which each open stream
 * begins with an empty packet that has its position, counts and next
 * number. The new directories are made first,
 * hidden in `.next`: if the disk is full, the session is as it was. A turn that was cut by the end
 * of the relay is finished when the session is opened or repaired. Runs in the session's worker, or
 * in the thread that repairs it.
 */
#ifndef RELAYD_STORE_TURN_H
#define RELAYD_STORE_TURN_H

#include "base/err.h"
#include "proto/relay.h"
#include "relayd/relay.h"

/* In a session's directory: no trace's. */
#define RELTURN_ARCHIVES "archives"
#define RELTURN_NEXT ".next" /* while a turn is being made */

struct relsession;

/** Turn @session. @ret: the answer; for the name of its last turn, or
 *  of an archive, nothing is done. *@ret_broken:
 *  the session must be closed, as its files are in an intermediate state.
 *  Return: 0 or the code in @err. */
int relturn(struct relsession *session, const struct req_rel_turn *req, struct rep_rel_turn *ret,
	    bool *ret_broken, struct err *err);
/** Finish a turn that was begun in the session's directory @fd, or undo it, if nothing was moved.
 *  Return: 1: it was finished; 0: there was none, or it was undone; or negative errno. */
int relturn_finish(struct relay *relay, int fd) MUST_CHECK;

#endif
