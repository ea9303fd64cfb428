/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * increments.h - triggers whose action increments a value of a map channel (ACTION_INCR_MAP). It is
 * done in the programs, as counting is: such a trigger is not watched for, and its firings are not
 * known to the daemon, unless it has other actions, too. Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_TRIGGER_INCREMENTS_H
#define SESSIOND_TRIGGER_INCREMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sessiond/core/trigger.h"

struct domain_tracer;
struct sessiond;

/** Whether the domain has map channels. Return: 0 or the code set in @err. */
int increments_check(const struct domain_tracer *tracer, struct err *err) MUST_CHECK;
/** Triggers or maps have changed: find the rules of each map. Where they have changed and @done is
 *  not NULL, the domain's tracer applies them; @done is called when they are in force. Return:
 *  false: none has changed, and @done is not called. */
bool increments_refresh(struct sessiond *sd, void (*done)(void *data), void *data);
/** Why the trigger increments nothing, a phrase; or "" in @ret. */
void increments_problem(struct sessiond *sd, const struct trigger *trigger, char *ret, size_t len);

#endif
