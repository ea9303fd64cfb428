/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.c - the points of an application that a session has to arm. After a change of rules,
 * channels or state all points of the application are computed again; otherwise only those that
 * are new, or waited for a buffer or for metadata. So an application that registers many points
 * one by one costs the daemon little.
 */
#include "plan.h"

#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "conflict.h"
#include "context.h"
#include "filter.h"
#include "link.h"
#include "programs.h"
#include "ring.h"
#include "session.h"
#include "trace.h"
#include "trace/metadata.h"

int arm_compare(const void *a, const void *b)
{
	const struct arm *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return (x->ring->id > y->ring->id) - (x->ring->id < y->ring->id);
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void user_plan_add(struct plan *plan, const struct arm *arm)
{
	if (plan->nr == plan->cap) {
		plan->cap = MAX(2 * plan->cap, (size_t)64);
		plan->arms = xrealloc(plan->arms, plan->cap * sizeof(*plan->arms));
	}
	plan->arms[plan->nr++] = *arm;
}

/* First of the armings of @point or of a higher one. */
static size_t find_arm(const struct user_link *link, uint32_t point)
{
	size_t low = 0, high = link->nr_arms;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (link->arms[middle].point < point)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool link_is_armed(const struct user_link *link, uint32_t point)
{
	size_t at = find_arm(link, point);

	return at < link->nr_arms && link->arms[at].point == point;
}

/* Deferred. An arming in the trace channel stays while its replacement is being prepared. */
static void plan_wait(struct plan *plan, uint32_t point, const struct trace_channel *trace_channel)
{
	const struct user_link *link = plan->link;

	for (size_t i = find_arm(link, point); i < link->nr_arms && link->arms[i].point == point;
	     i++)
		if (link->arms[i].ring->trace_channel == trace_channel)
			user_plan_add(plan, &link->arms[i]);
	if (plan->nr_todo == plan->cap_todo) {
		plan->cap_todo = MAX(2 * plan->cap_todo, (size_t)16);
		plan->todo = xrealloc(plan->todo, plan->cap_todo * sizeof(*plan->todo));
	}
	plan->todo[plan->nr_todo++] = point;
}

/* An outcome of class_get() that arms nothing. */
static bool refused(enum class_outcome outcome, const struct plan *plan,
		    struct trace_channel *trace_channel, const struct app_point *point,
		    const struct event_class *class)
{
	if (outcome == CLASS_CONFLICT)
		conflict_note(plan->link, trace_channel, class->shape, point->shape);
	if (outcome == CLASS_FULL && !trace_channel->full)
		log_warn("channel '%s' has %u kinds of events, which is the limit of user %u: '%s' "
			 "of process %d and other new ones are not recorded",
			 trace_channel->channel->name, trace_channel->classes.nr,
			 plan->link->app->app.uid, point->shape->name,
			 (int)plan->link->app->app.pid);
	trace_channel->full = trace_channel->full || outcome == CLASS_FULL;
	return outcome == CLASS_CONFLICT || outcome == CLASS_FULL;
}

/* Of one application and channel all points go to the same trace channel and ring set. */
static struct trace_channel *get_trace_channel(struct plan *plan)
{
	struct user_link *link = plan->link;

	if (!plan->trace_channel)
		plan->trace_channel = trace_channel_get(
			trace_get(link->us, link->app, plan->channel), plan->channel, NULL);
	return plan->trace_channel;
}

static struct ring *get_ring(struct plan *plan)
{
	if (!plan->ring)
		plan->ring = ring_get(plan->trace_channel, plan->link->app);
	return plan->ring;
}

/* Return: whether an event of this shape can be recorded. */
static bool plan_admits(struct plan *plan, struct shape *shape, struct event_filter **ret_filter)
{
	char *expressions AUTO_FREE = channel_filter(plan->channel, shape->name, shape->loglevel,
						     plan->link->us->rec.session->starts);

	*ret_filter = NULL;
	if (!expressions)
		return true;
	*ret_filter = event_filter_get(&plan->link->us->filters, shape, expressions);
	return user_filter_fits(*ret_filter, plan->link->app->features);
}

/* An event with another sampling has another class: so each record shows its sampling, also during
 * a change. */
static struct shape *plan_shape(struct plan *plan, struct shape *shape,
				const struct event_filter *filter)
{
	const char *label = filter ? filter->label : NULL;
	char *text AUTO_FREE =
		label ? xasprintf("%s\t/* recorded: %s */\n", plan->context_text, label) :
			xstrdup(plan->context_text);

	return user_context_shape(plan->trace_channel->classes.shapes, shape, text);
}

static void plan_describe(const struct plan *plan, struct event_class *class,
			  const struct event_filter *filter)
{
	uint32_t channel = plan->channel->number;
	char *event AUTO_FREE = metadata_event(channel, class->id, class->shape->body);
	char *remark AUTO_FREE = filter && filter->label ?
					 metadata_sampled(channel, class->id, filter->label) :
					 xstrdup("");

	class->batch = trace_append(plan->trace_channel->trace,
				    xasprintf("%s%s", event ? event : "", remark ? remark : ""));
}

static void user_plan_visit_point(struct app_point *point, void *data)
{
	struct plan *plan = data;
	struct event_class *class = NULL;
	enum class_outcome outcome;
	struct shape *shape;
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct event_filter *filter;
	struct ring *ring;

	plan->link->us->rec.recorder->visits++;
	if (!channel_wants(plan->channel, point->shape->name, point->shape->loglevel) ||
	    !plan_admits(plan, point->shape, &filter))
		return;
	trace_channel = get_trace_channel(plan);
	trace = trace_channel->trace;
	shape = plan_shape(plan, point->shape, filter);
	outcome = class_get(&trace_channel->classes, shape, &class);
	shape_unref(trace_channel->classes.shapes, shape);
	if (refused(outcome, plan, trace_channel, point, class))
		return;
	if (outcome == CLASS_NEW)
		plan_describe(plan, class, filter);
	if (!class->contexts)
		class->contexts = xstrdup(plan->contexts);
	ring = get_ring(plan);
	if (ring->state == RING_FAILED || trace->state == TRACE_FAILED || class->batch == 0) {
		plan->link->unable = true;
		return;
	}
	if (ring_is_on(ring) && class->batch <= trace->saved)
		user_plan_add(plan,
			      &(struct arm){ point->id, class->id, ring, class->contexts, filter });
	else
		plan_wait(plan, point->id, trace_channel);
}

void link_each_point(struct user_link *link, void (*fn)(struct app_point *point, void *data),
		     void *data)
{
	if (link->all) {
		app_each_point(&link->app->app, fn, data);
		return;
	}
	for (size_t i = 0; i < link->nr_todo; i++) {
		struct app_point *point = app_find_point(&link->app->app, link->todo[i]);

		if (point)
			fn(point, data);
	}
}

static void consider_points(struct plan *plan)
{
	plan->trace_channel = NULL;
	plan->ring = NULL;
	plan->contexts = user_context_known(plan->channel->contexts, plan->link->app->features);
	plan->context_text = user_context_text(plan->contexts);
	link_each_point(plan->link, user_plan_visit_point, plan);
	free(plan->context_text);
	free(plan->contexts);
}

size_t points_sort(uint32_t *points, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(points, nr, sizeof(*points), compare_ids);
	for (size_t i = 0; i < nr; i++)
		if (i == 0 || points[i] != points[kept - 1])
			points[kept++] = points[i];
	return kept;
}

/* Join the new armings with those of points that were not visited. All three
 * are sorted: armings of the link and of the plan, points to visit. */
static void user_plan_merge(struct plan *plan)
{
	const struct user_link *link = plan->link;
	struct arm *joined = xalloc((link->nr_arms + plan->nr + 1) * sizeof(*joined));
	size_t nr = 0, n = 0, t = 0;

	link->us->rec.recorder->passes++;
	for (size_t i = 0; i < link->nr_arms; i++) {
		const struct arm *arm = &link->arms[i];

		while (t < link->nr_todo && link->todo[t] < arm->point)
			t++;
		if (t < link->nr_todo && link->todo[t] == arm->point)
			continue;
		while (n < plan->nr && arm_compare(&plan->arms[n], arm) < 0)
			joined[nr++] = plan->arms[n++];
		joined[nr++] = *arm;
	}
	while (n < plan->nr)
		joined[nr++] = plan->arms[n++];
	free(plan->arms);
	plan->arms = joined;
	plan->nr = nr;
}

void plan_make(struct plan *plan)
{
	struct user_link *link = plan->link;
	struct user_session *us = link->us;

	if (!link_records(link))
		return;
	user_filters_sweep(us);
	link->nr_todo = points_sort(link->todo, link->nr_todo);
	announced_note(link);
	list_for_each(plan->channel, &us->rec.session->channels, node)
		if (plan->channel->domain == DOMAIN_USER && plan->channel->enabled)
			consider_points(plan);
	if (plan->nr)
		qsort(plan->arms, plan->nr, sizeof(*plan->arms), arm_compare);
	if (!link->all)
		user_plan_merge(plan);
}
