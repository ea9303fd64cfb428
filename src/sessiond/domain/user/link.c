/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link.c - links of applications to sessions: after a change of rules or points a plan is made,
 * compared with the state that the application has, and the difference is sent.
 */
#include "link.h"

#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "count.h"
#include "report.h"
#include "session.h"
#include "trace.h"
#include "trace/metadata.h"

/* Armings in one message: each takes 20 bytes. */
#define ARMINGS_PER_MESSAGE 2000u

/* --- the links themselves ---------------------------------------------------- */

struct user_link *link_new(struct user_session *us, struct user_app *app)
{
	struct user_link *link = xalloc(sizeof(*link));

	link->us = us;
	link->app = app;
	link->confirmed = us->generation; /* waits that there are don't wait for it */
	list_init(&link->dirty);
	list_append(&app->links, &link->in_app);
	list_append(&us->links, &link->in_session);
	return link;
}

void link_free(struct user_link *link)
{
	link_confirm(link, UINT64_MAX);
	list_remove(&link->dirty);
	list_remove(&link->in_app);
	list_remove(&link->in_session);
	free(link->arms);
	free(link->todo);
	free(link->dropped);
	free(link->told);
	link_counts_free(link);
	free(link);
}

bool link_records(const struct user_link *link)
{
	return link->us->rec.recording && user_eligible(link->us->rec.session, &link->app->app);
}

static void mark_dirty(struct user_link *link)
{
	struct user_domain *user = link->us->user;

	link->generation = link->us->generation;
	link->nr_next = link->nr_todo;
	if (list_empty(&link->dirty))
		list_append(&user->dirty, &link->dirty);
	loop_defer(user->recorder->config.loop, &user->refresh);
}

void link_touch(struct user_link *link)
{
	link->all = true;
	mark_dirty(link);
}

static void todo_add(struct user_link *link, uint32_t point)
{
	if (link->nr_todo == link->cap_todo) {
		link->cap_todo = MAX(2 * link->cap_todo, (size_t)16);
		link->todo = xrealloc(link->todo, link->cap_todo * sizeof(*link->todo));
	}
	link->todo[link->nr_todo++] = point;
}

void link_touch_point(struct user_link *link, uint32_t point)
{
	if (!link->all)
		todo_add(link, point);
	mark_dirty(link);
}

static struct user_link *link_of(const struct user_session *us, const struct app *app)
{
	const struct user_app *its = container_of(app, const struct user_app, app);
	struct user_link *link;

	list_for_each(link, &its->links, in_app)
		if (link->us == us)
			return link;
	return NULL;
}

void links_touch_rule(struct user_session *us, const struct rule *rule)
{
	const struct user_matches *matches = user_matches_get(us->user, rule);
	struct user_link *link;

	for (size_t i = 0; i < matches->nr; i++) {
		link = link_of(us, matches->points[i]->app);
		if (link && !link->all)
			todo_add(link, matches->points[i]->id);
	}
	list_for_each(link, &us->links, in_session)
		mark_dirty(link);
}

void links_touch(struct user_session *us)
{
	struct user_link *link;

	list_for_each(link, &us->links, in_session)
		link_touch(link);
}

void links_touch_pending(struct user_session *us)
{
	struct user_link *link;

	list_for_each(link, &us->links, in_session)
		if (link->nr_todo)
			mark_dirty(link);
}

/* --- sending the difference -------------------------------------------------- */

static void user_arm_begin(struct encoder *enc, uint16_t type)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop: one message at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, 0, 0);
}

static void send_buffer(struct user_link *link, const struct ring *ring)
{
	const struct msg_app_buffer msg = {
		.ring = ring->id,
		.session = link->us->rec.session->id,
		.data = ring->data,
		.ctl = ring->ctl,
		.doorbell = ring->doorbell,
		.exclusive = ring->exclusive,
		.channel = ring->trace_channel->channel->name,
		.own = ring->app != 0,
		.session_name = link->us->rec.session->name,
	};
	struct encoder enc;

	user_arm_begin(&enc, MSG_app_buffer);
	msg_app_buffer_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

static void need_buffer(struct user_link *link, struct ring *ring)
{
	for (uint32_t i = 0; i < link->nr_sent; i++)
		if (link->told[i] == ring)
			return;
	send_buffer(link, ring);
	link->told = xrealloc(link->told, (link->nr_sent + 1) * sizeof(struct ring *));
	link->told[link->nr_sent++] = ring;
}

/* Armings gathered for one message: their events have the same contexts and filter. */
struct outbox {
	struct user_link *link;
	uint16_t type; /* MSG_app_arm or MSG_app_disarm: the same fields */
	const char *contexts;
	const struct event_filter *filter; /* or NULL */
	uint8_t *buf;
	struct encoder list;
};

#define OUTBOX_BYTES (ARMINGS_PER_MESSAGE * 20u + 64u)

static void user_arm_outbox_flush(struct outbox *box)
{
	const struct event_filter *filter = box->filter;
	struct msg_app_arm msg = {
		.armings = encoder_list(&box->list),
		.contexts = box->contexts,
		.filter = { filter ? filter->programs : NULL, filter ? filter->len : 0 },
		.filter_contexts = filter ? filter->contexts : "",
	};
	struct encoder enc;

	if (!box->list.nr_records)
		return;
	user_arm_begin(&enc, box->type);
	msg_app_arm_encode(&enc, &msg);
	peer_send(box->link->app->peer, &enc);
	encoder_init(&box->list, box->buf, OUTBOX_BYTES);
}

/* A filter takes the space of armings. */
static size_t armings_per_message(const struct event_filter *filter)
{
	return ARMINGS_PER_MESSAGE - (filter ? filter->len / 20 : 0);
}

static void user_arm_outbox_add(struct outbox *box, const struct arm *arm)
{
	struct msg_app_arming arming = { arm->point, arm->ring->id, arm->event };

	if (strcmp(box->contexts, arm->contexts) != 0 || box->filter != arm->filter)
		user_arm_outbox_flush(box);
	box->contexts = arm->contexts;
	box->filter = arm->filter;
	msg_app_arming_add(&box->list, &arming);
	box->link->changed = true;
	if (box->list.nr_records == armings_per_message(arm->filter))
		user_arm_outbox_flush(box);
}

static bool is_armed_otherwise(const struct arm *a, const struct arm *b)
{
	return a->event != b->event || a->filter != b->filter;
}

/* Call @fn for the armings in @a but not in @b, which are both sorted; and where @changed is not
 * NULL, for those in both that it distinguishes. */
static void each_missing(const struct arm *a, size_t nr_a, const struct arm *b, size_t nr_b,
			 bool (*changed)(const struct arm *, const struct arm *),
			 void (*fn)(struct outbox *, const struct arm *), struct outbox *box)
{
	size_t j = 0;

	for (size_t i = 0; i < nr_a; i++) {
		while (j < nr_b && arm_compare(&b[j], &a[i]) < 0)
			j++;
		if (j == nr_b || arm_compare(&b[j], &a[i]) != 0 ||
		    (changed && changed(&b[j], &a[i])))
			fn(box, &a[i]);
	}
}

static void arm_one(struct outbox *box, const struct arm *arm)
{
	need_buffer(box->link, arm->ring);
	user_arm_outbox_add(box, arm);
}

/* New armings first: then an arming that replaces another leaves no gap. */
static void user_arm_send(struct user_link *link, const struct plan *plan)
{
	AUTO_FREE uint8_t *buf = xalloc(OUTBOX_BYTES);
	struct outbox box = { .link = link, .type = MSG_app_arm, .buf = buf, .contexts = "" };

	encoder_init(&box.list, buf, OUTBOX_BYTES);
	each_missing(plan->arms, plan->nr, link->arms, link->nr_arms, is_armed_otherwise, arm_one,
		     &box);
	user_arm_outbox_flush(&box);
	box.type = MSG_app_disarm;
	each_missing(link->arms, link->nr_arms, plan->arms, plan->nr, NULL, user_arm_outbox_add,
		     &box);
	user_arm_outbox_flush(&box);
}

static void send_drop(struct user_link *link, const struct ring *ring)
{
	struct msg_app_buffer_drop msg = { ring->id };
	struct encoder enc;

	user_arm_begin(&enc, MSG_app_buffer_drop);
	msg_app_buffer_drop_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

void link_drop_buffers(struct user_link *link, bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < link->nr_sent; i++) {
		struct ring *ring = link->told[i];

		if (all || ring->abandoned || ring->exclusive != link->app->app.exclusive)
			send_drop(link, ring);
		else
			link->told[kept++] = ring;
	}
	link->nr_sent = kept;
}

/* --- removed points ---------------------------------------------------------- */

void link_drop_point(struct user_link *link, uint32_t point)
{
	if (link->nr_dropped == link->cap_dropped) {
		link->cap_dropped = MAX(2 * link->cap_dropped, (size_t)16);
		link->dropped = xrealloc(link->dropped, link->cap_dropped * sizeof(*link->dropped));
	}
	link->dropped[link->nr_dropped++] = point;
	link_touch_point(link, point); /* it may have been waited for */
}

/* Before a plan is made: a point that came again under the number of one that is gone is
 * armed anew. */
static void forget_dropped(struct user_link *link)
{
	size_t nr = points_sort(link->dropped, link->nr_dropped), kept = 0, n = 0;

	if (!nr)
		return;
	link->us->rec.recorder->passes++;
	for (size_t i = 0; i < link->nr_arms; i++) {
		const struct arm arm = link->arms[i];

		while (n < nr && link->dropped[n] < arm.point)
			n++;
		if (n == nr || link->dropped[n] != arm.point)
			link->arms[kept++] = arm;
	}
	link->nr_arms = kept;
	link_uncount_points(link, link->dropped, nr);
	link->nr_dropped = 0;
}

/* --- in turns ----------------------------------------------------------------- */

static void todo_add_point(struct app_point *point, void *data)
{
	todo_add(data, point->id);
}

/* All points, one slice after the other: events are armed at points that there are. Counters are
 * computed at once, since one may have to end at a point that is not visited. */
static void spread(struct user_link *link, size_t slice)
{
	if (!link->all || !link_records(link) || link->app->app.nr_points <= slice)
		return;
	link_count(link);
	link->nr_todo = 0;
	app_each_point(&link->app->app, todo_add_point, link);
	link->nr_next = link->nr_todo;
	link->all = false;
}

/* Leave the points of this turn in the list. Return: the others, allocated, or NULL. */
static uint32_t *user_arm_cut_slice(struct user_link *link, size_t slice, size_t *ret_nr)
{
	size_t nr = MIN(slice, link->nr_next);
	uint32_t *rest;

	*ret_nr = 0;
	if (link->all || !link_records(link) || nr == link->nr_todo)
		return NULL;
	*ret_nr = link->nr_todo - nr;
	rest = xalloc(*ret_nr * sizeof(*rest));
	memcpy(rest, link->todo + nr, *ret_nr * sizeof(*rest));
	link->nr_todo = nr;
	link->nr_next -= nr;
	return rest;
}

/* Waiting ones come last: they are not visited again before something has changed. */
static void put_back(struct user_link *link, const uint32_t *rest, size_t nr_rest,
		     const struct plan *plan)
{
	link->nr_todo = 0;
	for (size_t i = 0; i < nr_rest; i++)
		todo_add(link, rest[i]);
	for (size_t i = 0; i < plan->nr_todo; i++)
		todo_add(link, plan->todo[i]);
	if (!nr_rest)
		link->nr_next = 0;
	if (link->nr_next)
		list_append(&link->us->user->dirty, &link->dirty);
}

static size_t nr_looked_at(const struct user_link *link)
{
	return 1 + (link->all ? link->app->app.nr_points : link->nr_todo);
}

size_t link_refresh(struct user_link *link)
{
	size_t slice = link->us->user->recorder->slice, nr_rest, looked;
	struct plan plan = { .link = link };
	AUTO_FREE uint32_t *rest = NULL;

	list_remove(&link->dirty);
	forget_dropped(link);
	if (link->app->wanted)
		return 1; /* it is touched when the application has answered */
	if (!link->all && !link->nr_todo) { /* a rule was added that matches no point of it */
		link_request_confirm(link);
		return 1;
	}
	if (link->all)	  /* else points that were refused are not visited again */
		link->unable = false;
	spread(link, slice);
	rest = user_arm_cut_slice(link, slice, &nr_rest);
	looked = nr_looked_at(link);
	plan_make(&plan);
	link->was_armed |= plan.nr != 0;
	if (plan.nr || link->nr_arms)
		user_arm_send(link, &plan);
	link_count(link);
	free(link->arms);
	link->arms = plan.arms;
	link->nr_arms = plan.nr;
	link->all = false;
	put_back(link, rest, nr_rest, &plan);
	free(plan.todo);
	if (link->nr_todo)
		return looked;
	link_drop_buffers(link, false);
	link_request_confirm(link);
	return looked;
}

/*
 * The points of an application that a session has to arm. After a change of rules,
 * channels or state all points of the application are computed again; otherwise only those that
 * are new, or waited for a buffer or for metadata. So an application that registers many points
 * one by one costs the daemon little.
 */

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
	if (outcome == CLASS_LONG)
		log_warn_some("channel '%s': the description of '%s' of process %d is too long, the event is "
			 "not recorded; it is shorter in CTF 1.8 (--trace-format)",
			 trace_channel->channel->name, point->shape->name,
			 (int)plan->link->app->app.pid);
	trace_channel->full = trace_channel->full || outcome == CLASS_FULL;
	return outcome == CLASS_CONFLICT || outcome == CLASS_FULL || outcome == CLASS_LONG;
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
	return !(*ret_filter)->never;
}

/* An event with another sampling has another class: so each record shows its sampling, also during
 * a change. */
static struct shape *plan_shape(struct plan *plan, struct shape *shape,
				const struct event_filter *filter)
{
	enum metadata_form form = recording_form(&plan->link->us->rec);
	char *remark AUTO_FREE = event_filter_remark(form, filter);
	char *text AUTO_FREE = xasprintf("%s%s", plan->context_text, remark);

	return shape_extended(plan->trace_channel->classes.shapes, shape, form, text);
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
		class->batch = trace_append(trace,
					    event_filter_describe(trace_channel, class, filter));
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
	enum metadata_form form = recording_form(&plan->link->us->rec);

	plan->trace_channel = NULL;
	plan->ring = NULL;
	plan->contexts = plan->channel->contexts;
	plan->context_text = user_context_text(form, plan->contexts);
	link_each_point(plan->link, user_plan_visit_point, plan);
	free(plan->context_text);
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
