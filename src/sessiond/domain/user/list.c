/* SPDX-License-Identifier: GPL-2.0-only */
/* list.c - counts and lists of the user domain's applications and points. */
#include "list.h"

#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "count.h"
#include "filter.h"
#include "link.h"
#include "plan.h"
#include "session.h"
#include "sessiond/core/sampling.h"
#include "stats.h"

uint32_t user_count_apps(struct domain_tracer *domain, const struct session *session)
{
	const struct user_app *app;
	uint32_t nr = 0;

	list_for_each(app, &user_of(domain)->apps, node)
		nr += user_eligible(session, &app->app);
	return nr;
}

struct matches {
	const struct rule *rule;
	uint32_t nr, never;
	struct filter_verdicts verdicts;
};

static void count_match(struct app_point *point, void *data)
{
	struct matches *matches = data;

	if (!user_rule_takes(matches->rule, point->shape))
		return;
	matches->nr++;
	matches->never += !!filter_verdict_get(&matches->verdicts, point->shape, NULL)->column;
}

uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule, uint32_t *ret_never)
{
	struct sampling sampling;
	struct matches matches = {
		.rule = rule,
		.verdicts = { .tracer = user_filter_tracer(),
			      .expression = rule->filter,
			      .by = sampling.by },
	};
	struct err ignored = { 0 };
	struct user_app *app;

	(void)sampling_parse(rule->sampling, &sampling, &ignored);

	list_for_each(app, &user_of(domain)->apps, node)
		if (user_eligible(session, &app->app))
			app_each_point(&app->app, count_match, &matches);
	*ret_never = matches.never;
	filter_verdicts_fini(&matches.verdicts);
	return matches.nr;
}

/* --- points ------------------------------------------------------------------ */

struct listing {
	struct user_app *app;
	void (*fn)(const struct domain_point *point, void *data);
	void *data;
};

static uint32_t app_pid(const struct app *app)
{
	return app->pid > 0 ? (uint32_t)app->pid : app->vpid;
}

static void user_list_point(struct app_point *point, void *data)
{
	const struct listing *listing = data;
	const struct app *app = &listing->app->app;
	struct domain_point row = {
		.pid = app_pid(app),
		.uid = app->uid,
		.process = app->procname,
		.file = point->file,
		.line = point->line,
		.shape = point->shape,
	};
	const struct user_link *link;

	list_for_each(link, &listing->app->links, in_app)
		row.active += link_is_armed(link, point->id) || link_is_counted(link, point->id);
	listing->fn(&row, listing->data);
}

static void list_refused(const struct listing *listing, const struct app_refused *refused)
{
	const struct app *app = &listing->app->app;
	const struct domain_point row = {
		.pid = app_pid(app),
		.uid = app->uid,
		.process = app->procname,
		.file = refused->file,
		.line = refused->line,
		.refused = refused->why,
		.name = refused->name,
		.kind = refused->kind,
	};

	listing->fn(&row, listing->data);
}

void user_each_point(struct domain_tracer *domain, const struct caller *caller,
		     void (*fn)(const struct domain_point *point, void *data), void *data)
{
	struct listing listing = { NULL, fn, data };
	const struct app_refused *refused;
	struct user_app *app;

	list_for_each(app, &user_of(domain)->apps, node) {
		if (caller->uid != 0 && caller->uid != app->app.uid)
			continue;
		listing.app = app;
		app_each_point(&app->app, user_list_point, &listing);
		list_for_each(refused, &app->app.refused, node)
			list_refused(&listing, refused);
	}
}
