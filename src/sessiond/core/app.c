/* SPDX-License-Identifier: GPL-2.0-only */
#include "app.h"

#include <search.h>
#include <string.h>

#include "base/mem.h"

static int core_app_compare(const void *a, const void *b)
{
	uint32_t x = ((const struct app_point *)a)->id, y = ((const struct app_point *)b)->id;

	return (x > y) - (x < y);
}

void app_init(struct app *app, uid_t uid, struct shapes *shapes, struct quotas *quotas)
{
	memset(app, 0, sizeof(*app));
	app->uid = uid;
	app->quotas = quotas;
	app->shapes = shapes;
	list_init(&app->refused);
}

static int take_point(struct app *app, size_t bytes)
{
	const struct account_id account = { .uid = app->uid };

	if (quota_take(app->quotas, account, QUOTA_POINTS, 1))
		return QUOTA_FULL;
	if (quota_take(app->quotas, account, QUOTA_TEXT, bytes) == 0)
		return 0;
	quota_give(app->quotas, account, QUOTA_POINTS, 1);
	return QUOTA_FULL;
}

static void give_point(struct app *app, size_t bytes)
{
	const struct account_id account = { .uid = app->uid };

	quota_give(app->quotas, account, QUOTA_POINTS, 1);
	quota_give(app->quotas, account, QUOTA_TEXT, bytes);
}

static void remove_point(struct app *app, struct app_point *point)
{
	tdelete(point, &app->points, core_app_compare);
	shape_remove_point(app->shapes, point->shape, &point->in_shape);
	app->nr_points--;
	app->bytes -= point->bytes;
	give_point(app, point->bytes);
	shape_unref(app->shapes, point->shape);
	free(point->file);
	free(point);
}

static void forget_refused(struct app *app, struct app_refused *refused)
{
	app->nr_refused--;
	list_remove(&refused->node);
	free(refused->name);
	free(refused->file);
	free(refused);
}

void app_fini(struct app *app)
{
	struct app_refused *refused, *next;

	list_for_each_safe(refused, next, &app->refused, node)
		forget_refused(app, refused);
	while (app->points)
		remove_point(app, *(struct app_point **)app->points);
	free(app->procname);
	app->procname = NULL;
	free(app->scopes);
	app->scopes = NULL;
}

/* It may have been refused because of its name. */
static char *printable(const char *text)
{
	char *copy = strndup(text, POINT_NAME_MAX);

	for (char *at = copy; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return copy ? copy : xstrdup("");
}

void app_refuse_point(struct app *app, uint32_t id, const char *file, uint32_t line,
		      const struct shape_facts *facts, const char *why)
{
	struct app_refused *refused;

	if (app->nr_refused >= APP_MAX_REFUSED)
		return;
	app->nr_refused++;
	refused = xalloc(sizeof(*refused));
	refused->id = id;
	refused->line = line;
	refused->kind = facts->kind;
	refused->name = printable(facts->name);
	refused->file = printable(file);
	refused->why = why;
	list_append(&app->refused, &refused->node);
}

const char *app_add_point(struct app *app, uint32_t id, const char *file, uint32_t line,
			  struct shape_facts *facts, const struct app_point **ret)
{
	struct app_point *point;
	const char *why;
	struct shape *shape;
	size_t bytes;

	if (app_find_point(app, id))
		return "has an id that is in use";
	if (app->nr_points >= APP_MAX_POINTS || app->bytes >= APP_MAX_BYTES)
		return "exceeds the limit";
	shape = shape_get(app->shapes, facts, &why);
	if (!shape) {
		app_refuse_point(app, id, file, line, facts, why);
		return why;
	}
	bytes = sizeof(*point) + strlen(file) + 1 + 2 * strlen(shape->body);
	if (take_point(app, bytes)) {
		shape_unref(app->shapes, shape);
		return "exceeds the quota of its user (see 'lttctl quota')";
	}
	point = xalloc(sizeof(*point));
	*point = (struct app_point){ id, line, xstrdup(file), bytes, shape, { 0 }, app };
	if (!tsearch(point, &app->points, core_app_compare)) {
		give_point(app, bytes);
		shape_unref(app->shapes, shape);
		free(point->file);
		free(point);
		return "can't be stored: out of memory";
	}
	shape_add_point(app->shapes, shape, &point->in_shape);
	app->nr_points++;
	app->bytes += point->bytes;
	*ret = point;
	return NULL;
}

struct app_point *app_find_point(struct app *app, uint32_t id)
{
	struct app_point probe = { .id = id };
	void **found = tfind(&probe, &app->points, core_app_compare);

	return found ? *found : NULL;
}

bool app_remove_point(struct app *app, uint32_t id)
{
	struct app_point *point = app_find_point(app, id);
	struct app_refused *refused, *next;

	list_for_each_safe(refused, next, &app->refused, node)
		if (refused->id == id)
			forget_refused(app, refused);
	if (point)
		remove_point(app, point);
	return point != NULL;
}

struct walk {
	void (*fn)(struct app_point *point, void *data);
	void *data;
};

static void core_app_visit(const void *node, VISIT which, void *closure)
{
	struct walk *walk = closure;

	if (which == postorder || which == leaf)
		walk->fn(*(struct app_point *const *)node, walk->data);
}

void app_each_point(struct app *app, void (*fn)(struct app_point *point, void *data), void *data)
{
	struct walk walk = { fn, data };

	twalk_r(app->points, core_app_visit, &walk);
}
