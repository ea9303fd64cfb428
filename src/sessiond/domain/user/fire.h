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

/** Triggers of the domain's table. */
extern const struct domain_trigger_ops fire_ops;

/** Its `check`. */
int fire_check(struct domain_tracer *domain, const struct trigger_spec *spec, uid_t uid,
	       struct err *err) MUST_CHECK;

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
