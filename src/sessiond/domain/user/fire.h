/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fire.h - triggers on events of applications: sends the points that they watch to the
 * applications, and passes their firings on to the daemon (recorder_config.fired). Owned by the
 * user domain; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_FIRE_H
#define DOMAIN_USER_FIRE_H

#include "sessiond/core/trigger.h"
#include "sessiond/domain/domain.h"

struct user_app;
struct user_domain;

/** Check the fields that a request names against events that exist in applications of the user; 0:
 *  of all users. Other events may come later. Return: 0 or the code set in @err. */
int fire_check(struct domain_tracer *domain, const struct trigger_spec *spec, uid_t uid,
	       struct err *err) MUST_CHECK;
/** Watch for a trigger in all applications that it concerns, also in later ones. One that an
 *  earlier daemon watched for continues: its firings since then are passed on, by the loop.
 *  trigger->watched is set. Applications that can't be watched are logged. */
void fire_watch(struct domain_tracer *domain, struct trigger *trigger);
/** Wait until the applications that run watch for it, for one second at most. Return: false: there
 *  are none; @done is not called. */
bool fire_settle(struct domain_tracer *domain, const struct trigger *trigger,
		 void (*done)(void *data), void *data);
/** Stop to watch; firings that were not passed on are forgotten. */
void fire_unwatch(struct domain_tracer *domain, struct trigger *trigger);
/** Return: applications that have the trigger's event, of a pair both, as its key needs them.
 *  @ret_points: their points. */
uint64_t fire_matched(struct domain_tracer *domain, const struct trigger *trigger,
		      uint32_t *ret_points);
/** Of conditions that count events (rate, silence): events since fire_watch(), also under earlier
 *  daemons. */
uint64_t fire_count(struct domain_tracer *domain, const struct trigger *trigger);
/** Begins of pairs that a full table has dropped, and events without a readable key. */
void fire_lost(struct domain_tracer *domain, const struct trigger *trigger, uint64_t *ret_evicted,
	       uint64_t *ret_missed);

/** For the keeper: whether the memory of the user's applications is needed. If so, and an earlier
 *  daemon had it, it is adopted. */
bool fire_wants(struct domain_tracer *domain, uid_t uid);
/** Put all memory into a new keeper. */
void fire_keep(struct domain_tracer *domain);

/** An application has a new point. */
void fire_point_added(struct user_app *app, uint32_t point);
/** An application has replied to a sync message. */
void fire_synced(struct user_domain *user, uint32_t serial);
/** Send the triggers of the points that are new. */
void fire_refresh(struct user_app *app);
/** An application is being freed: its firings are passed on first. */
void fire_app_gone(struct user_app *app);
void fire_free(struct user_domain *user);

#endif
