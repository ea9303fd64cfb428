/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conditions.h - conditions that the daemon decides from its own figures: counts of events, losses,
 * histograms, buffers, written bytes, rotations. While a trigger has one of the first kinds they
 * are evaluated CONDITIONS_US apart. A condition that holds for some time fires once, and again
 * when it has not held in between. Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_TRIGGER_CONDITIONS_H
#define SESSIOND_TRIGGER_CONDITIONS_H

#include "io/loop.h"
#include "sessiond/core/session.h"
#include "sessiond/core/trigger.h"
#include "ends.h"

#define CONDITIONS_US 100000u

struct sessiond;

struct conditions {
	struct sessiond *sd;
	struct ends ends;
	struct loop_timer look;
};

void conditions_init(struct conditions *conditions, struct sessiond *sd);
void conditions_fini(struct conditions *conditions);
/** Check the events and fields of a condition on events, for a user. Return: 0 or the code set in
 *  @err. */
int conditions_check(struct conditions *conditions, const struct trigger_spec *spec, uid_t uid,
		     struct err *err) MUST_CHECK;
/** A trigger was added or restored: programs are watched for it, or the daemon's timer is set. */
void conditions_begin(struct conditions *conditions, struct trigger *trigger);
/** Compare a new trigger with the present figures of its session, from which its condition counts;
 *  @done is called later. Return: false: it needs none, and @done is not called. */
bool conditions_first(struct conditions *conditions, struct trigger *trigger,
		      void (*done)(void *data), void *data);
/** A trigger is about to be removed. */
void conditions_end(struct conditions *conditions, struct trigger *trigger);
/** Why the condition can't hold now, a phrase; "": it can. @ret_points: points of applications that
 *  match. */
void conditions_problem(struct conditions *conditions, const struct trigger *trigger,
			uint32_t *ret_points, char *ret, size_t len);
/** Of a pair: begins that were dropped, and events without a readable key. */
void conditions_lost(struct conditions *conditions, const struct trigger *trigger,
		     uint64_t *ret_evicted, uint64_t *ret_unread);
/** The kernel's module was loaded. */
void conditions_module_came(struct conditions *conditions);
/** A rotation of the session has begun, or ended. */
void conditions_rotation(struct conditions *conditions, const struct session *session, bool begun);

#endif
