/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rotation.h - the schedule of a session's rotations, and the limits of its archives. Runs on the
 * daemon's loop.
 */
#ifndef SESSIOND_RUN_ROTATION_H
#define SESSIOND_RUN_ROTATION_H

#include "run.h"

#define ROTATION_LEAST_US 1000u
#define ROTATION_MOST_US 3155760000000000u

/** Whether the session can be rotated. Return: 0 or the code set in @err. */
int rotation_check(const struct session *session, struct err *err);
/** Set the timer of the next rotation, by the schedule and the state of the session: at a start, a
 *  turn, and a change of the schedule. */
void rotation_arm(struct run *run);
/** The end of a rotation that no client waits for. @data: struct run. */
void rotation_finished(void *data, const struct run_result *result);
/** Request the removal of the archives that the session does not keep. */
void rotation_limit_archives(struct run *run);
/** Make the timer of a new session; stop it. */
void rotation_init(struct run *run);
void rotation_fini(struct run *run);

#endif
