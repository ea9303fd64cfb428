/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * matches.h - the points that a rule matches, and whether its filter can hold for each shape. They
 * are kept for the next steps of a request about the rule, as long as no point comes or goes. Owned
 * by the user domain; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_MATCHES_H
#define DOMAIN_USER_MATCHES_H

#include "sessiond/core/app.h"
#include "sessiond/core/rule.h"
#include "sessiond/core/sampling.h"
#include "sessiond/domain/rec/filter.h"

struct user_domain;

/**
 * @pattern, @exclude, @loglevel_type, @loglevel: of the rule; NULL: none was requested yet.
 * @changes: number of changes of all points, when they were compared.
 * @points: of all applications and users, in no order.
 */
struct user_matches {
	char *pattern, *exclude;
	enum loglevel_type loglevel_type;
	int loglevel;
	uint64_t changes;
	struct app_point **points;
	size_t nr, cap;
	char *filter, *sampling; /* of @verdicts */
	struct sampling by;
	struct filter_verdicts verdicts;
};

/** The points that the rule's pattern and level match. Valid until points change. */
const struct user_matches *user_matches_get(struct user_domain *user, const struct rule *rule);
/** Whether the rule's filter can hold for events of the shape of one of these points; NULL: it has
 *  no filter. */
const struct filter_verdict *user_matches_verdict(struct user_domain *user, const struct rule *rule,
						  const struct shape *shape);
void user_matches_fini(struct user_matches *matches);

#endif
