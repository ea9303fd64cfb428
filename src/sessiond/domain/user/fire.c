/* SPDX-License-Identifier: GPL-2.0-only */
#include "fire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "io/memfile.h"
#include "session.h"
#include "sessiond/domain/rec/fired.h"
#include "tally.h"
#include "trace/clock.h"

/* Numbers of app.def. */
enum fire_role { FIRE_MATCH = 0, FIRE_BEGIN = 1, FIRE_END = 2, FIRE_COUNT = 3 };

#define NO_FIELD UINT32_MAX
#define TRIGGERING_BYTES 400u /* at most, with its captures */
#define SETTLE_US 1000000u
#define CONTEXTS_BYTES 4096u /* names of captured ones */
#define FILTER_BYTES 16384u /* of which longer ones are alone in a message */

/** Triggers of the user domain. */
struct fire {
	struct list_node watchings; /* struct fire_watching */
	struct list_node areas;	    /* struct fired */
	struct list_node waits;	    /* struct fire_wait */
	struct clock_facts clock;   /* for filters, which have no rates here */
};

struct fire_watching {
	struct list_node node;
	struct trigger *trigger;
	struct fire *fire;
};

static bool fire_is_idle(const struct user_domain *user)
{
	return !user->fire || list_empty(&user->fire->watchings);
}

/* --- points ------------------------------------------------------------------------- */

static const struct rule *fire_rule(const struct trigger *trigger, enum fire_role role)
{
	return role == FIRE_END ? trigger->match_end : trigger->match;
}

/* The roles of a trigger's points, from the first to the last. */
static enum fire_role fire_first_role(const struct trigger *trigger)
{
	switch (trigger->condition) {
	case CONDITION_EVENT:
		return FIRE_MATCH;
	case CONDITION_PAIR:
		return FIRE_BEGIN;
	default:
		return FIRE_COUNT;
	}
}

static enum fire_role fire_last_role(const struct trigger *trigger)
{
	return trigger->condition == CONDITION_PAIR ? FIRE_END : fire_first_role(trigger);
}

static bool fire_takes(const struct trigger *trigger, enum fire_role role,
		       const struct shape *shape)
{
	const struct rule *rule = fire_rule(trigger, role);

	if (!rule || !user_rule_takes(rule, shape))
		return false;
	return trigger->condition != CONDITION_PAIR || !*trigger->key ||
	       shape_key(shape, trigger->key) >= 0;
}

static uint32_t fire_field(const struct shape *shape, const char *name, size_t len)
{
	for (uint32_t i = 0; i < shape->layout->nr_fields; i++)
		if (strlen(shape->layout->fields[i].name) == len &&
		    memcmp(shape->layout->fields[i].name, name, len) == 0)
			return i;
	return NO_FIELD;
}

/* --- messages ----------------------------------------------------------------------- */

static void fire_begin(struct encoder *enc, uint16_t type)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop: one message at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, 0, 0);
}

static void fire_send_memory(struct user_app *app, struct fired *fired)
{
	const struct trace_clock *clock = app->user->recorder->config.clock;
	const struct msg_app_fired msg = {
		.fired = fired->uid,
		.memory = fired->fd,
		.program = app->app.id,
		.clock = (uint8_t)(clock ? clock->kind : LTT_CLOCK_MONOTONIC),
	};
	struct encoder enc;

	if (app->fired == fired)
		return;
	app->fired = fired;
	fire_begin(&enc, MSG_app_fired);
	msg_app_fired_encode(&enc, &msg);
	peer_send(app->peer, &enc);
}

static void fire_send_untrigger(struct user_app *app, const struct fired *fired, uint32_t slot)
{
	const struct msg_app_untrigger msg = { fired->uid, slot };
	struct encoder enc;

	fire_begin(&enc, MSG_app_untrigger);
	msg_app_untrigger_encode(&enc, &msg);
	peer_send(app->peer, &enc);
}

/* Points of one trigger in one application, gathered for messages. */
struct fire_outbox {
	struct user_app *app;
	struct fired *fired;
	const struct trigger *trigger;
	uint32_t slot;
	struct event_filters filters;
	const struct event_filter *filter; /* of all points in the list */
	char contexts[CONTEXTS_BYTES]; /* of the captures */
	uint8_t buf[MSG_MAX_BYTES - FILTER_BYTES - CONTEXTS_BYTES - 256];
	struct encoder list;
};

static void fire_flush(struct fire_outbox *box)
{
	const struct event_filter *filter = box->filter;
	const struct msg_app_trigger msg = {
		.fired = box->fired->uid,
		.points = encoder_list(&box->list),
		.filter = { filter ? filter->programs : NULL, filter ? (uint32_t)filter->len : 0 },
		.filter_contexts = filter ? filter->contexts : "",
		.capture_contexts = box->contexts,
	};
	struct encoder enc;

	if (!box->list.nr_records)
		return;
	fire_send_memory(box->app, box->fired);
	fire_begin(&enc, MSG_app_trigger);
	msg_app_trigger_encode(&enc, &msg);
	if (encoder_finish(&enc) == 0)
		peer_send(box->app->peer, &enc);
	encoder_init(&box->list, box->buf, sizeof(box->buf));
}

static uint64_t fire_threshold(const struct fire_outbox *box)
{
	struct trace_clock *clock = box->app->user->recorder->config.clock;
	uint64_t hz = clock && clock->kind == LTT_CLOCK_CYCLES ? clock_hz(clock) : 1000000000u;
	unsigned __int128 units = (unsigned __int128)box->trigger->threshold * hz / 1000000000u;

	return units > UINT64_MAX ? UINT64_MAX : (uint64_t)units;
}

/* The number of a context in the list, to which it is added if it is not there yet. */
static uint32_t fire_context(char contexts[CONTEXTS_BYTES], const struct capture *capture)
{
	char *at = contexts;
	uint32_t nr = 0;

	while (*at) {
		size_t len = strcspn(at, ",");

		if (len == capture->len && memcmp(at, capture->name, len) == 0)
			return nr;
		nr++;
		at += len + (at[len] == ',');
	}
	snprintf(at, (size_t)(contexts + CONTEXTS_BYTES - at), "%s%.*s", nr ? "," : "",
		 (int)capture->len, capture->name);
	return nr;
}

static void fire_add_captures(struct fire_outbox *box, const struct shape *shape,
			      struct encoder *list)
{
	const char *captures = box->trigger->captures;
	struct capture capture;

	for (uint32_t nr = 0; nr < TRIGGER_MAX_CAPTURES && capture_next(&captures, &capture);
	     nr++) {
		bool context = capture.kind == CAPTURE_CONTEXT;
		const struct msg_app_capture msg = {
			.field = context ? NO_FIELD : fire_field(shape, capture.name, capture.len),
			.kind = (uint8_t)capture.kind,
			.number = context ? fire_context(box->contexts, &capture) : capture.number,
		};

		msg_app_capture_add(list, &msg);
	}
}

static void fire_add_point(struct fire_outbox *box, const struct app_point *point,
			   enum fire_role role)
{
	const struct trigger *trigger = box->trigger;
	const char *expression = fire_rule(trigger, role)->filter;
	const struct event_filter *filter = NULL;
	uint8_t buf[32 * TRIGGER_MAX_CAPTURES];
	struct encoder captures;
	struct msg_app_triggering msg = {
		.point = point->id,
		.slot = box->slot,
		.generation = (uint32_t)box->fired->journal->slot[box->slot].generation,
		.role = (uint8_t)role,
		.has_key = trigger->condition == CONDITION_PAIR && *trigger->key,
	};

	if (*expression)
		filter = event_filter_get(&box->filters, point->shape, expression);
	if (filter && (filter->never || filter->len > MSG_MAX_BYTES / 2))
		return;
	if (msg.has_key)
		msg.key = (uint32_t)shape_key(point->shape, trigger->key);
	if (role == FIRE_END)
		msg.threshold = fire_threshold(box);
	encoder_init(&captures, buf, sizeof(buf));
	if (role == FIRE_MATCH || role == FIRE_END)
		fire_add_captures(box, point->shape, &captures);
	msg.captures = encoder_list(&captures);
	if (filter != box->filter || box->list.len + TRIGGERING_BYTES > sizeof(box->buf) ||
	    (filter && filter->len > FILTER_BYTES))
		fire_flush(box);
	box->filter = filter;
	msg_app_triggering_add(&box->list, &msg);
}

/* The end first: of a point that is both, it is hit first. */
static void fire_visit_point(struct app_point *point, void *data)
{
	struct fire_outbox *box = data;
	int first = (int)fire_first_role(box->trigger), last = (int)fire_last_role(box->trigger);

	for (int role = last; role >= first; role--)
		if (fire_takes(box->trigger, (enum fire_role)role, point->shape))
			fire_add_point(box, point, (enum fire_role)role);
}

/* @points: NULL: all of the application. */
static void fire_send_points(struct user_app *app, struct fired *fired, struct trigger *trigger,
			     const uint32_t *points, size_t nr)
{
	AUTO_FREE struct fire_outbox *box = xalloc(sizeof(*box));

	box->app = app;
	box->fired = fired;
	box->trigger = trigger;
	box->slot = fired_slot_find(fired, trigger);
	if (box->slot == FIRED_NO_SLOT)
		return;
	event_filters_init(&box->filters, user_filter_tracer(), &app->user->recorder->shapes,
			   &app->user->fire->clock);
	encoder_init(&box->list, box->buf, sizeof(box->buf));
	if (!points)
		app_each_point(&app->app, fire_visit_point, box);
	for (size_t i = 0; points && i < nr; i++) {
		struct app_point *point = app_find_point(&app->app, points[i]);

		if (point)
			fire_visit_point(point, box);
	}
	fire_flush(box);
	event_filters_fini(&box->filters);
}

/* --- memory of users ---------------------------------------------------------------- */

static struct fired *fire_find_area(const struct fire *fire, uid_t uid)
{
	struct fired *fired;

	list_for_each(fired, &fire->areas, node)
		if (fired->uid == uid)
			return fired;
	return NULL;
}

static int fire_make_memory(const struct fired *fired)
{
	int fd, ret = memfile_new("ltt-fired", sizeof(*fired->memory), &fd);

	return ret < 0 ? ret : fd;
}

/* Of an application that still exists. */
static pid_t fire_pid(const struct fired *fired, const struct ltt_fired_record *record)
{
	const struct user_domain *user = fired->owner;
	const struct user_app *app;

	list_for_each(app, &user->apps, node)
		if (app->app.id == record->program && app->app.vpid == record->pid)
			return app->app.pid;
	return (pid_t)record->pid;
}

static const struct fired_ops fire_of_apps = {
	.kind = "fired",
	.make = fire_make_memory,
	.pid = fire_pid,
};

/* The memory of the user, with a slot for each trigger that concerns it. */
static struct fired *fire_get_area(struct user_domain *user, uid_t uid, bool adopt, struct err *err)
{
	struct fire *fire = user->fire;
	struct fired *fired = fire_find_area(fire, uid);
	const struct fire_watching *watching;
	bool guest = true;

	if (fired)
		return fired;
	list_for_each(watching, &fire->watchings, node)
		guest = guest && watching->trigger->uid != uid;
	fired = fired_new(user->recorder, &fire_of_apps, user, (struct account_id){ uid, guest },
			  adopt, err);
	if (!fired)
		return NULL;
	list_append(&fire->areas, &fired->node);
	list_for_each(watching, &fire->watchings, node)
		if (trigger_concerns(watching->trigger, uid))
			(void)fired_slot_get(fired, watching->trigger);
	return fired;
}

static void fire_drop_area(struct user_domain *user, struct fired *fired)
{
	const struct msg_app_fired_drop msg = { fired->uid };
	struct user_app *app;
	struct encoder enc;

	list_for_each(app, &user->apps, node) {
		if (app->fired != fired)
			continue;
		app->fired = NULL;
		fire_begin(&enc, MSG_app_fired_drop);
		msg_app_fired_drop_encode(&enc, &msg);
		peer_send(app->peer, &enc);
	}
	list_remove(&fired->node);
	fired_free(fired);
}

/* After a change of the triggers, and not while firings are passed on. */
static void fire_tidy(struct loop_work *work)
{
	struct user_domain *user = container_of(work, struct user_domain, fire_tidy);
	struct fired *fired, *next;

	list_for_each_safe(fired, next, &user->fire->areas, node)
		if (!fired->nr_triggers)
			fire_drop_area(user, fired);
}

static struct fire *fire_get(struct user_domain *user)
{
	if (!user->fire) {
		user->fire = xalloc(sizeof(*user->fire));
		list_init(&user->fire->watchings);
		list_init(&user->fire->areas);
		list_init(&user->fire->waits);
		user->fire->clock.freq_hz = 1000000000u;
		loop_work_init(&user->fire_tidy, fire_tidy);
	}
	return user->fire;
}

/* --- triggers ----------------------------------------------------------------------- */

static void fire_watch_in(struct user_app *app, struct trigger *trigger, const uint32_t *points,
			  size_t nr)
{
	struct err err = { 0 };
	struct fired *fired;

	if (!(app->app.features & APP_FEATURE_TRIGGERS))
		return; /* fire_matched() reports it */
	fired = fire_get_area(app->user, app->app.uid, false, &err);

	if (fired && fired_slot_get(fired, trigger) == FIRED_NO_SLOT)
		err_set(&err, ERR_LIMIT,
			"%u triggers watch applications of this user, which is the limit; remove one",
			LTT_FIRED_SLOTS);
	if (err.code)
		log_warn_some("trigger '%s' does not watch process %d (%s): %s", trigger->name,
			      (int)app->app.pid, app->app.procname, err.text);
	else
		fire_send_points(app, fired, trigger, points, nr);
}

static void fire_watch(struct domain_tracer *domain, struct trigger *trigger)
{
	struct user_domain *user = user_of(domain);
	struct fire *fire = fire_get(user);
	struct fire_watching *watching = xalloc(sizeof(*watching));
	struct user_app *app;

	watching->trigger = trigger;
	watching->fire = fire;
	trigger->watched = watching;
	list_append(&fire->watchings, &watching->node);
	list_for_each(app, &user->apps, node)
		if (trigger_concerns(trigger, app->app.uid))
			fire_watch_in(app, trigger, NULL, 0);
}

static void fire_unwatch_in(struct user_domain *user, struct fired *fired, struct trigger *trigger)
{
	uint32_t slot = fired_slot_find(fired, trigger);
	struct user_app *app;

	if (slot == FIRED_NO_SLOT)
		return;
	fired_slot_release(fired, slot);
	list_for_each(app, &user->apps, node)
		if (app->fired == fired)
			fire_send_untrigger(app, fired, slot);
	loop_defer(user->recorder->config.loop, &user->fire_tidy);
}

static void fire_unwatch(struct domain_tracer *domain, struct trigger *trigger)
{
	struct user_domain *user = user_of(domain);
	struct fire_watching *watching = trigger->watched;
	struct fired *fired;

	if (!watching)
		return;
	trigger->watched = NULL;
	list_remove(&watching->node);
	list_for_each(fired, &watching->fire->areas, node)
		fire_unwatch_in(user, fired, trigger);
	free(watching);
}

/* --- waiting ------------------------------------------------------------------------ */

/** A request that waits for applications. */
struct fire_wait {
	struct list_node node;
	uint32_t serial, left;
	struct loop_timer timeout;
	void (*done)(void *data);
	void *data;
};

static void fire_wait_end(struct fire_wait *wait)
{
	list_remove(&wait->node);
	loop_timer_cancel(&wait->timeout);
	wait->done(wait->data);
	free(wait);
}

static void fire_wait_expired(struct loop_timer *timer)
{
	fire_wait_end(container_of(timer, struct fire_wait, timeout));
}

static void fire_send_sync(struct user_app *app, uint32_t serial)
{
	const struct msg_app_sync msg = { serial };
	struct encoder enc;

	fire_begin(&enc, MSG_app_sync);
	msg_app_sync_encode(&enc, &msg);
	peer_send(app->peer, &enc);
}

static bool fire_settle(struct domain_tracer *domain, const struct trigger *trigger,
			void (*done)(void *data), void *data)
{
	struct user_domain *user = user_of(domain);
	struct fire_wait *wait = xalloc(sizeof(*wait));
	struct user_app *app;

	wait->serial = ++user->next_serial;
	list_for_each(app, &user->apps, node) {
		if (!app->fired || !trigger_concerns(trigger, app->app.uid))
			continue;
		fire_send_sync(app, wait->serial);
		wait->left++;
	}
	if (!wait->left) {
		free(wait);
		return false;
	}
	wait->done = done;
	wait->data = data;
	loop_timer_init(&wait->timeout, user->recorder->config.loop, fire_wait_expired);
	loop_timer_set(&wait->timeout, SETTLE_US);
	list_append(&user->fire->waits, &wait->node);
	return true;
}

void fire_synced(struct user_domain *user, uint32_t serial)
{
	struct fire_wait *wait, *next;

	if (!user->fire)
		return;
	list_for_each_safe(wait, next, &user->fire->waits, node)
		if (wait->serial == serial && --wait->left == 0)
			fire_wait_end(wait);
}

/* --- figures ------------------------------------------------------------------------ */

struct fire_search {
	const struct trigger *trigger;
	uint32_t nr[FIRE_COUNT + 1]; /* points of each role */
};

static void fire_count_point(struct app_point *point, void *data)
{
	struct fire_search *search = data;
	enum fire_role role = fire_first_role(search->trigger);

	for (; role <= fire_last_role(search->trigger); role++)
		search->nr[role] += fire_takes(search->trigger, role, point->shape);
}

static uint32_t fire_matched(struct domain_tracer *domain, const struct trigger *trigger,
			     char *ret_problem, size_t len)
{
	enum fire_role first = fire_first_role(trigger), last = fire_last_role(trigger);
	struct user_app *app;
	uint32_t points = 0;
	unsigned int older = 0;

	list_for_each(app, &user_of(domain)->apps, node) {
		struct fire_search search = { .trigger = trigger };
		uint32_t nr;

		if (!trigger_concerns(trigger, app->app.uid))
			continue;
		app_each_point(&app->app, fire_count_point, &search);
		nr = search.nr[first] + (last != first ? search.nr[last] : 0);
		if (app->app.features & APP_FEATURE_TRIGGERS)
			points += nr;
		else
			older += nr != 0;
	}
	if (older)
		snprintf(ret_problem, len,
			 "does not watch %u running application%s, whose libltt is older and has "
			 "no triggers: start %s again with the present one",
			 older, older == 1 ? "" : "s", older == 1 ? "it" : "them");
	else if (!points)
		snprintf(ret_problem, len, "waits for its event: no running application has it");
	return points;
}

static uint64_t fire_count(struct domain_tracer *domain, const struct trigger *trigger)
{
	const struct fire *fire = user_of(domain)->fire;
	const struct fired *fired;
	uint64_t nr = 0;

	if (fire)
		list_for_each(fired, &fire->areas, node)
			nr += fired_count(fired, trigger);
	return nr;
}

static void fire_lost(struct domain_tracer *domain, const struct trigger *trigger,
		      uint64_t *ret_evicted, uint64_t *ret_missed)
{
	const struct fire *fire = user_of(domain)->fire;
	const struct fired *fired;

	*ret_evicted = *ret_missed = 0;
	if (!fire)
		return;
	list_for_each(fired, &fire->areas, node)
		fired_lost(fired, trigger, ret_evicted, ret_missed);
}

/* --- life --------------------------------------------------------------------------- */

static bool fire_wants(struct domain_tracer *domain, uid_t uid)
{
	struct user_domain *user = user_of(domain);
	const struct fire_watching *watching;
	struct err err = { 0 };

	if (fire_is_idle(user))
		return false;
	list_for_each(watching, &user->fire->watchings, node)
		if (trigger_concerns(watching->trigger, uid))
			return fire_get_area(user, uid, true, &err) != NULL;
	return false;
}

static void fire_keep(struct domain_tracer *domain)
{
	const struct fire *fire = user_of(domain)->fire;
	const struct fired *fired;

	if (fire)
		list_for_each(fired, &fire->areas, node)
			fired_keep(fired);
}

const struct domain_trigger_ops fire_ops = {
	.check = fire_check,
	.watch = fire_watch,
	.settle = fire_settle,
	.unwatch = fire_unwatch,
	.matched = fire_matched,
	.count = fire_count,
	.lost = fire_lost,
	.kind = "fired",
	.wants = fire_wants,
	.keep = fire_keep,
};

void fire_point_added(struct user_app *app, uint32_t point)
{
	if (fire_is_idle(app->user))
		return;
	if (app->nr_fire_todo == app->cap_fire_todo) {
		app->cap_fire_todo = MAX(2 * app->cap_fire_todo, (size_t)16);
		app->fire_todo =
			xrealloc(app->fire_todo, app->cap_fire_todo * sizeof(*app->fire_todo));
	}
	app->fire_todo[app->nr_fire_todo++] = point;
}

void fire_refresh(struct user_app *app)
{
	const struct fire_watching *watching;

	if (!app->nr_fire_todo)
		return;
	list_for_each(watching, &app->user->fire->watchings, node)
		if (trigger_concerns(watching->trigger, app->app.uid))
			fire_watch_in(app, watching->trigger, app->fire_todo, app->nr_fire_todo);
	app->nr_fire_todo = 0;
}

void fire_app_gone(struct user_app *app)
{
	if (app->fired)
		fired_scan(app->fired);
	free(app->fire_todo);
}

void fire_free(struct user_domain *user)
{
	struct fire_watching *watching, *next;
	struct fired *fired, *next_fired;
	struct fire_wait *wait, *next_wait;

	if (!user->fire)
		return;
	list_for_each_safe(watching, next, &user->fire->watchings, node) {
		watching->trigger->watched = NULL;
		list_remove(&watching->node);
		free(watching);
	}
	list_for_each_safe(fired, next_fired, &user->fire->areas, node) {
		list_remove(&fired->node);
		fired_free(fired);
	}
	list_for_each_safe(wait, next_wait, &user->fire->waits, node)
		fire_wait_end(wait);
	loop_work_cancel(&user->fire_tidy);
	free(TAKE(user->fire));
}
