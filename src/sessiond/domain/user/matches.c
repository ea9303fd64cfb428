/* SPDX-License-Identifier: GPL-2.0-only */
#include "matches.h"

#include <string.h>

#include "base/mem.h"
#include "context.h"
#include "session.h"

static void user_matches_forget_verdicts(struct user_matches *matches)
{
	filter_verdicts_fini(&matches->verdicts);
	free(TAKE(matches->filter));
	free(TAKE(matches->sampling));
}

void user_matches_fini(struct user_matches *matches)
{
	user_matches_forget_verdicts(matches);
	free(TAKE(matches->pattern));
	free(TAKE(matches->exclude));
	free(TAKE(matches->points));
	matches->nr = matches->cap = 0;
}

static bool user_matches_are_of(const struct user_matches *matches, const struct rule *rule,
				uint64_t changes)
{
	return matches->pattern && matches->changes == changes &&
	       strcmp(matches->pattern, rule->pattern) == 0 &&
	       strcmp(matches->exclude, rule->exclude) == 0 &&
	       matches->loglevel_type == rule->loglevel_type &&
	       matches->loglevel == rule->loglevel;
}

struct match_search {
	struct user_matches *matches;
	const struct rule *rule;
};

static void user_matches_add(struct shape *shape, void *data)
{
	const struct match_search *search = data;
	struct user_matches *matches = search->matches;
	struct app_point *point;

	if (!rule_matches(search->rule, shape->name, shape->loglevel))
		return;
	list_for_each(point, &shape->points, in_shape) {
		if (matches->nr == matches->cap) {
			matches->cap = MAX(2 * matches->cap, (size_t)16);
			matches->points = xrealloc(matches->points,
						   matches->cap * sizeof(struct app_point *));
		}
		matches->points[matches->nr++] = point;
	}
}

const struct user_matches *user_matches_get(struct user_domain *user, const struct rule *rule)
{
	struct user_matches *matches = &user->matches;
	const struct shapes *shapes = &user->recorder->shapes;
	struct match_search search = { matches, rule };

	if (user_matches_are_of(matches, rule, shapes->changes))
		return matches;
	user_matches_fini(matches);
	matches->pattern = xstrdup(rule->pattern);
	matches->exclude = xstrdup(rule->exclude);
	matches->loglevel_type = rule->loglevel_type;
	matches->loglevel = rule->loglevel;
	matches->changes = shapes->changes;
	shapes_each(shapes, rule->pattern, user_matches_add, &search);
	return matches;
}

const struct filter_verdict *user_matches_verdict(struct user_domain *user, const struct rule *rule,
						  const struct shape *shape)
{
	struct user_matches *matches = &user->matches;
	struct err ignored = { 0 };

	if (!*rule->filter && !*rule->sampling)
		return NULL;
	(void)user_matches_get(user, rule);
	if (!matches->filter || strcmp(matches->filter, rule->filter) != 0 ||
	    strcmp(matches->sampling, rule->sampling) != 0) {
		user_matches_forget_verdicts(matches);
		matches->filter = xstrdup(rule->filter);
		matches->sampling = xstrdup(rule->sampling);
		(void)sampling_parse(rule->sampling, &matches->by, &ignored);
		matches->verdicts = (struct filter_verdicts){ .tracer = user_filter_tracer(),
							      .expression = matches->filter,
							      .by = matches->by.by };
	}
	if (!*rule->filter && !*matches->by.by)
		return NULL;
	return filter_verdict_get(&matches->verdicts, shape, NULL);
}
