/* SPDX-License-Identifier: GPL-2.0-only */
/* list.c - counting and listing what the user domain knows. */
#include "list.h"

#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "count.h"
#include "link.h"
#include "plan.h"
#include "session.h"
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
	uint32_t nr;
};

static void count_match(struct app_point *point, void *data)
{
	struct matches *matches = data;

	matches->nr += user_rule_takes(matches->rule, point->shape);
}

uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule)
{
	struct matches matches = { rule, 0 };
	struct user_app *app;

	list_for_each(app, &user_of(domain)->apps, node)
		if (user_eligible(session, &app->app))
			app_each_point(&app->app, count_match, &matches);
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
