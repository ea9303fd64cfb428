/* SPDX-License-Identifier: GPL-2.0-only */
/* filter.h - filters of applications' points (rec/filter.h). Runs on the daemon's loop. */
#ifndef DOMAIN_USER_FILTER_H
#define DOMAIN_USER_FILTER_H

#include "sessiond/domain/rec/filter.h"

struct rule;
struct user_session;

const struct filter_tracer *user_filter_tracer(void);
/** Whether a filter can hold, and an application with @features (enum app_feature) can run it. */
bool user_filter_fits(const struct event_filter *filter, uint64_t features);
/** The features that an application needs for a rule. */
uint64_t user_filter_needs(const struct rule *rule);
/** Free filters that no arming refers to, if there are many. Not while there is a plan. */
void user_filters_sweep(struct user_session *us);

#endif
