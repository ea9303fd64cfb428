/* SPDX-License-Identifier: GPL-2.0-only */
#include "fire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "context.h"
#include "count.h"
#include "event.h"
#include "probe.h"
#include "session.h"
#include "sessiond/domain/rec/fired.h"

/* Ids of the events of a slot, below its number: their numbers in the module's list, with a bit for
 * ends of pairs; and the parts of a place, downwards. */
#define KERNEL_FIRE_IDS 0x10000u
#define KERNEL_FIRE_END 0x8000u
#define KERNEL_FIRE_PLACE (KERNEL_FIRE_IDS - 1)
#define KERNEL_FIRE_EVENTS (KERNEL_FIRE_END - PROBE_PARTS)

/**
 * struct kernel_watching - a trigger. @next: number of the first event that was not sent.
 * @nr: events that fire it; @ends: of a pair, those that end it. @error: errno, of the last one
 * that the module rejects; 0: none.
 */
struct kernel_watching {
	struct list_node node;
	struct trigger *trigger;
	struct kernel_fire *fire;
	uint32_t next, nr, ends;
	int error;
	char module[KERNEL_MODULE_MAX]; /* of a place; empty: none */
	bool sent;			/* all events that there are now */
	/* A request that waits until they are sent; NULL: none does. */
	void (*done)(void *data);
	void *data;
};

static struct kernel_domain *kernel_fire_domain(struct kernel_fire *fire)
{
	return container_of(fire, struct kernel_domain, fire);
}

/* --- checks ------------------------------------------------------------------------- */

/* The shapes of the event that a rule names: of a place, those of its parts, which belong to
 * @probe. Return: their number; 0: the rule is about several events. */
static uint32_t kernel_fire_shapes(struct kernel_domain *kernel, struct rule *rule,
				   struct kernel_probe *probe, const struct shape *ret[PROBE_PARTS])
{
	struct kernel_event *event;
	uint32_t nr = kernel_probe_parts(rule->kind);

	*probe = (struct kernel_probe){ .rule = rule };
	for (uint32_t i = 0; i < nr; i++)
		ret[i] = kernel_probe_shape(kernel, probe, i);
	if (!rule_chooses(rule->kind))
		return nr;
	event = kernel_event_find(kernel, rule->pattern);
	ret[0] = event ? kernel_event_shape(kernel, event) : NULL;
	return event != NULL;
}

static void kernel_fire_shapes_end(struct kernel_domain *kernel, struct kernel_probe *probe)
{
	for (uint32_t i = 0; i < PROBE_PARTS; i++)
		shape_unref(&kernel->recorder->shapes, probe->shapes[i]);
}

static bool kernel_fire_has_field(const struct shape *const *shapes, uint32_t nr, const char *name)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!shapes[i] || shape_key(shapes[i], name) >= 0)
			return true;
	return !nr;
}

/* Return: the array or sequence; -1: there is none of this name. */
static int kernel_fire_elements(const struct shape *shape, const char *name)
{
	for (uint32_t i = 0; i < shape->layout->nr_fields; i++) {
		const struct layout_field *field = &shape->layout->fields[i];

		if (strcmp(field->name, name) == 0 &&
		    (field->kind == LTT_KIND_ARRAY || field->kind == LTT_KIND_SEQUENCE))
			return (int)i;
	}
	return -1;
}

static bool kernel_fire_has_elements(const struct shape *const *shapes, uint32_t nr,
				     const char *name)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!shapes[i] || kernel_fire_elements(shapes[i], name) >= 0)
			return true;
	return !nr;
}

static void kernel_fire_check_capture(struct kernel_domain *kernel,
				      const struct shape *const *shapes, uint32_t nr,
				      const struct capture *capture, const char *event,
				      struct err *err)
{
	AUTO_FREE char *name = xasprintf("%.*s", (int)capture->len, capture->name);

	if (capture->kind != CAPTURE_FIELD && !kmod_has(kernel->kmod, LTT_KMOD_CAPTURES))
		err_set(err, ERR_UNSUPPORTED,
			"the kernel module that is loaded is older than this daemon and captures "
			"neither elements nor contexts: load that of this release (end the "
			"sessions that record the kernel, `rmmod ltt`, and start ltt-sessiond "
			"again)");
	else if (capture->kind == CAPTURE_CONTEXT)
		(void)!kernel_check_captured(kernel, name, err);
	else if (capture->kind == CAPTURE_FIELD && !kernel_fire_has_field(shapes, nr, name))
		kernel_stats_no_field(shapes[0], event, name, true, err);
	else if (capture->kind == CAPTURE_ELEMENT && !kernel_fire_has_elements(shapes, nr, name))
		err_set(err, ERR_INVALID,
			"event '%.100s' has no array or sequence field '%.100s'; `lttctl list -k "
			"--fields` lists fields",
			event, name);
}

/* @key: the field of a pair; or NULL. */
static int kernel_fire_check_fields(struct kernel_domain *kernel, const struct rule_spec *spec,
				    const char *key, const char *captures, struct err *err)
{
	struct rule *rule = rule_new(spec);
	const struct shape *shapes[PROBE_PARTS];
	struct kernel_probe probe;
	uint32_t nr = kernel_fire_shapes(kernel, rule, &probe, shapes);
	struct capture capture;

	if (key && *key && !kernel_fire_has_field(shapes, nr, key))
		kernel_stats_no_field(shapes[0], spec->pattern, key, true, err);
	while (!err->code && capture_next(&captures, &capture))
		kernel_fire_check_capture(kernel, shapes, nr, &capture, spec->pattern, err);
	kernel_fire_shapes_end(kernel, &probe);
	rule_free(rule);
	return err->code;
}

static int kernel_fire_check(struct domain_tracer *domain, const struct trigger_spec *spec,
			     uid_t uid, struct err *err)
{
	struct kernel_domain *kernel = kernel_of(domain);
	const struct rule_spec rule = trigger_rule(spec, false), end = trigger_rule(spec, true);
	bool pair = spec->condition == CONDITION_PAIR;

	kernel->fire.serves = true;
	if (!kmod_has(kernel->kmod, LTT_KMOD_TRIGGERS))
		return err_set(err, ERR_UNSUPPORTED,
			       "the kernel module that is loaded is older than this daemon and has "
			       "no triggers: load that of this release (end the sessions that "
			       "record the kernel, `rmmod ltt`, and start ltt-sessiond again)");
	if (kernel->fire.fired && kernel->fire.fired->nr_triggers >= LTT_FIRED_SLOTS)
		return err_set(err, ERR_LIMIT,
			       "%u triggers watch the kernel, which is the limit; remove one with "
			       "'lttctl remove-trigger NAME'",
			       LTT_FIRED_SLOTS);
	if (kernel_check_rule(domain, NULL, &rule, err) ||
	    (pair && kernel_check_rule(domain, NULL, &end, err)))
		return err->code;
	if (kernel_check_samples(kernel, &rule, uid, err) ||
	    (pair && kernel_check_samples(kernel, &end, uid, err)))
		return err->code;
	if (pair && kernel_fire_check_fields(kernel, &rule, spec->key, "", err))
		return err->code;
	return kernel_fire_check_fields(kernel, pair ? &end : &rule, pair ? spec->key : NULL,
					spec->captures, err);
}

/* --- memory ------------------------------------------------------------------------- */

static int kernel_fire_make_memory(const struct fired *fired)
{
	const struct kernel_fire *fire = fired->owner;
	const struct kernel_domain *kernel = container_of(fire, struct kernel_domain, fire);

	/* the daemon's own events would fire again and again, as it handles each firing */
	return kernel_trial(kernel->kmod, LTT_KMOD_COUNTS | LTT_KMOD_FIRES | LTT_KMOD_LEAVE_OWN);
}

static pid_t kernel_fire_pid(const struct fired *fired, const struct ltt_fired_record *record)
{
	(void)fired;
	return (pid_t)record->pid;
}

static void kernel_fire_disable(const struct fired *fired, uint32_t slot)
{
	const struct kernel_fire *fire = fired->owner;
	const struct kernel_domain *kernel = container_of(fire, struct kernel_domain, fire);
	struct ltt_kmod_enable msg = { .size = sizeof(msg), .id = slot, .flags = LTT_KMOD_OF_SLOT };
	int ret = kmod_call(kernel->kmod, fired->fd, LTT_KMOD_DISABLE, &msg);

	if (ret < 0)
		log_warn("the kernel's events of a trigger can't be disabled: %s", strerror(-ret));
}

static const struct fired_ops kernel_fire_memory = {
	.kind = "kernelfired",
	.polls = true,
	.make = kernel_fire_make_memory,
	.pid = kernel_fire_pid,
	.orphaned = kernel_fire_disable,
};

/* An earlier daemon's, if there is one. Return: NULL: it was logged. */
static struct fired *kernel_fire_memory_get(struct kernel_fire *fire)
{
	struct kernel_domain *kernel = kernel_fire_domain(fire);
	struct err err = { 0 };

	if (!fire->fired)
		fire->fired = fired_new(kernel->recorder, &kernel_fire_memory, fire,
					(struct account_id){ 0 }, !fire->serves, &err);
	if (!fire->fired)
		log_error("triggers can't watch the kernel: %s", err.text);
	return fire->fired;
}

/* After the last trigger, and not while firings are passed on. */
static void kernel_fire_tidy(struct loop_work *work)
{
	struct kernel_fire *fire = container_of(work, struct kernel_fire, tidy);

	if (!fire->fired || fire->fired->nr_triggers)
		return;
	fired_free(fire->fired);
	fire->fired = NULL;
}

/* --- events ------------------------------------------------------------------------- */

/* One that the event does not have has the number -1 of a field, and no value. */
static void kernel_fire_add_capture(const struct kernel_domain *kernel, const struct shape *shape,
				    const struct capture *capture, struct ltt_kmod_fire *msg)
{
	AUTO_FREE char *name = xasprintf("%.*s", (int)capture->len, capture->name);
	uint32_t at = msg->nr_captures++;
	int number = -1;

	if (capture->kind == CAPTURE_CONTEXT)
		number = kernel_context_number(kernel->kmod, name);
	else if (shape)
		number = capture->kind == CAPTURE_ELEMENT ? kernel_fire_elements(shape, name) :
							    shape_key(shape, name);
	msg->captures[at] = (uint32_t)number;
	if (number < 0)
		return;
	msg->elements[at] = capture->number;
	msg->kinds[at] = capture->kind == CAPTURE_CONTEXT ? LTT_KMOD_CAPTURE_CONTEXT :
			 capture->kind == CAPTURE_ELEMENT ? LTT_KMOD_CAPTURE_ELEMENT :
							    LTT_KMOD_CAPTURE_FIELD;
}

static void kernel_fire_add_captures(const struct kernel_watching *watching,
				     const struct shape *shape, struct ltt_kmod_fire *msg)
{
	const char *captures = watching->trigger->captures;
	struct capture capture;

	while (msg->nr_captures < LTT_FIRED_VALUES && capture_next(&captures, &capture))
		kernel_fire_add_capture(kernel_fire_domain(watching->fire), shape, &capture, msg);
}

/* The id of an event in the module's channel, the same for each daemon. */
static uint32_t kernel_fire_id(uint32_t slot, uint32_t number)
{
	return slot * KERNEL_FIRE_IDS + number;
}

static bool kernel_fire_is_pair(const struct kernel_watching *watching)
{
	return watching->trigger->condition == CONDITION_PAIR;
}

static uint32_t kernel_fire_role(const struct kernel_watching *watching, bool end)
{
	if (kernel_fire_is_pair(watching))
		return end ? LTT_KMOD_FIRE_END : LTT_KMOD_FIRE_BEGIN;
	return watching->trigger->condition == CONDITION_EVENT ? LTT_KMOD_FIRE_EVENT :
								 LTT_KMOD_FIRE_COUNT;
}

/* @end: of a pair. */
static struct ltt_kmod_fire kernel_fire_message(const struct kernel_watching *watching,
						uint32_t slot, const struct shape *shape, bool end)
{
	const struct trigger *trigger = watching->trigger;
	struct ltt_kmod_fire msg = {
		.size = sizeof(msg),
		.slot = slot,
		.generation = (uint32_t)watching->fire->fired->journal->slot[slot].generation,
		.role = kernel_fire_role(watching, end),
		.threshold_ns = trigger->threshold,
	};

	if (msg.role == LTT_KMOD_FIRE_EVENT || msg.role == LTT_KMOD_FIRE_END)
		kernel_fire_add_captures(watching, shape, &msg);
	if (shape && kernel_fire_is_pair(watching) && *trigger->key) {
		msg.has_key = 1;
		msg.key = (uint32_t)shape_key(shape, trigger->key);
	}
	return msg;
}

/* @ret_filter: NULL: none. Return: false: it never holds. */
static bool kernel_fire_filter(struct kernel_watching *watching, struct shape *shape,
			       const struct event_filter **ret_filter)
{
	const char *expression = watching->trigger->match->filter;

	*ret_filter = NULL;
	if (!*expression)
		return true;
	if (shape)
		*ret_filter = event_filter_get(&watching->fire->filters, shape, expression);
	return *ret_filter && !(*ret_filter)->never;
}

/* An earlier daemon has enabled an event that exists. */
static void kernel_fire_note(struct kernel_watching *watching, int ret)
{
	if (ret < 0 && ret != -EEXIST)
		watching->error = -ret;
	else
		watching->nr++;
}

/* @end: as the end of a pair. */
static void kernel_fire_watch_as(struct kernel_watching *watching, struct kernel_event *event,
				 uint32_t slot, bool end)
{
	const struct rule *rule = end ? watching->trigger->match_end : watching->trigger->match;
	const char *key = kernel_fire_is_pair(watching) ? watching->trigger->key : "";
	struct kernel_domain *kernel = kernel_fire_domain(watching->fire);
	struct ltt_kmod_enable msg = { .size = sizeof(msg) };
	const struct event_filter *filter = NULL;
	struct ltt_kmod_filter filtering;
	struct ltt_kmod_fire fire;
	struct shape *shape;

	if (!kernel_rule_matches(rule, event))
		return;
	shape = kernel_event_shape(kernel, event);
	if ((*key && (!shape || shape_key(shape, key) < 0)) ||
	    (!end && !kernel_fire_filter(watching, shape, &filter)))
		return;
	fire = kernel_fire_message(watching, slot, shape, end);
	msg.id = kernel_fire_id(slot, event->index | (end ? KERNEL_FIRE_END : 0));
	msg.fire = (uint64_t)(uintptr_t)&fire;
	kernel_filter_fill(&filtering, msg.id, filter);
	msg.filter = filter ? (uint64_t)(uintptr_t)&filtering : 0;
	snprintf(msg.name, sizeof(msg.name), "%s", event->name);
	kernel_fire_note(watching,
			 kmod_call(kernel->kmod, watching->fire->fired->fd, LTT_KMOD_ENABLE, &msg));
	watching->ends += end;
}

/* The end first: of an event that is both, it is hit first. */
static void kernel_fire_watch_event(struct kernel_watching *watching, struct kernel_event *event,
				    uint32_t slot)
{
	if (event->flags & LTT_KMOD_STATE || event->index >= KERNEL_FIRE_EVENTS)
		return;
	if (kernel_fire_is_pair(watching))
		kernel_fire_watch_as(watching, event, slot, true);
	kernel_fire_watch_as(watching, event, slot, false);
}

static void kernel_fire_watch_part(struct kernel_watching *watching, struct kernel_probe *probe,
				   uint32_t part, uint32_t slot)
{
	struct kernel_domain *kernel = kernel_fire_domain(watching->fire);
	struct shape *shape = kernel_probe_shape(kernel, probe, part);
	uint32_t id = kernel_fire_id(slot, KERNEL_FIRE_PLACE - part);
	struct kernel_place place = kernel_place_of(probe->rule);
	struct ltt_kmod_fire fire = kernel_fire_message(watching, slot, shape, false);
	AUTO_FREE struct ltt_kmod_description *description =
		shape ? kernel_probe_describe(shape) : NULL;
	struct kernel_probe_answer answer;
	const struct event_filter *filter;
	struct ltt_kmod_filter filtering;
	struct err err = { 0 };

	if (!kernel_fire_filter(watching, shape, &filter))
		return;
	kernel_filter_fill(&filtering, id, filter);
	place.filter = filter ? &filtering : NULL;
	place.description = description;
	place.fire = &fire;
	kernel_fire_note(watching, kernel_probe_send(kernel->kmod, watching->fire->fired->fd, id,
						     &place, part, &answer, &err));
	memcpy(watching->module, answer.module, sizeof(watching->module));
}

static void kernel_fire_watch_place(struct kernel_watching *watching, uint32_t slot)
{
	struct kernel_probe probe = { .rule = watching->trigger->match };

	for (uint32_t i = 0; i < kernel_probe_parts(probe.rule->kind); i++)
		kernel_fire_watch_part(watching, &probe, i, slot);
	kernel_fire_shapes_end(kernel_fire_domain(watching->fire), &probe);
}

static void kernel_fire_sent(struct kernel_watching *watching)
{
	void (*done)(void *data) = watching->done;

	watching->sent = true;
	watching->done = NULL;
	if (done)
		done(watching->data);
}

/* Return: whether all is sent; false: time is over. */
static bool kernel_fire_walk_some(struct kernel_watching *watching, uint64_t until_ns)
{
	struct kernel_domain *kernel = kernel_fire_domain(watching->fire);
	uint32_t slot = fired_slot_find(watching->fire->fired, watching->trigger);

	if (slot != FIRED_NO_SLOT && !rule_chooses(watching->trigger->match->kind)) {
		watching->nr = 0;
		kernel_fire_watch_place(watching, slot);
		slot = FIRED_NO_SLOT;
	}
	while (slot != FIRED_NO_SLOT && watching->next < kernel->nr_events) {
		kernel_fire_watch_event(watching, &kernel->events[watching->next++], slot);
		if (loop_now_ns() > until_ns)
			return false;
	}
	kernel_fire_sent(watching);
	return true;
}

static void kernel_fire_walk(struct loop_timer *timer)
{
	struct kernel_fire *fire = container_of(timer, struct kernel_fire, walk);
	uint64_t until = loop_now_ns() + kernel_fire_domain(fire)->recorder->long_ns;
	struct kernel_watching *watching, *next;

	list_for_each_safe(watching, next, &fire->watchings, node)
		if (fire->fired && !watching->sent && !kernel_fire_walk_some(watching, until)) {
			loop_timer_set(&fire->walk, 0);
			return;
		}
}

void kernel_fire_again(struct kernel_domain *kernel)
{
	struct kernel_watching *watching;

	if (!kernel->fire.fired)
		return;
	list_for_each(watching, &kernel->fire.watchings, node)
		if (rule_chooses(watching->trigger->match->kind))
			watching->sent = false;
	loop_timer_set(&kernel->fire.walk, 0);
}

/* --- triggers ----------------------------------------------------------------------- */

static struct kernel_watching *kernel_fire_new_watching(struct kernel_fire *fire,
							struct trigger *trigger)
{
	struct kernel_watching *watching = xalloc(sizeof(*watching));

	watching->trigger = trigger;
	watching->fire = fire;
	trigger->watched = watching;
	list_append(&fire->watchings, &watching->node);
	return watching;
}

/* A trigger that is new to the memory finds no events of an earlier one in its slot. */
static void kernel_fire_watch(struct domain_tracer *domain, struct trigger *trigger)
{
	struct kernel_domain *kernel = kernel_of(domain);
	struct kernel_fire *fire = &kernel->fire;
	struct kernel_watching *watching = trigger->watched;
	uint32_t slot;

	if (!watching)
		watching = kernel_fire_new_watching(fire, trigger);
	if (kernel_events_load(kernel) < 0 || !kmod_has(kernel->kmod, LTT_KMOD_TRIGGERS) ||
	    !kernel_fire_memory_get(fire))
		return;
	if (!fire->filters.tracer)
		event_filters_init(&fire->filters, kernel_filter_tracer(kernel),
				   &kernel->recorder->shapes, &fire->clock);
	slot = fired_slot_get(fire->fired, trigger);
	if (slot == FIRED_NO_SLOT) {
		watching->error = ENOSPC;
		return;
	}
	watching->error = 0;
	watching->sent = false;
	kernel_fire_walk(&fire->walk);
}

static bool kernel_fire_settle(struct domain_tracer *domain, const struct trigger *trigger,
			       void (*done)(void *data), void *data)
{
	struct kernel_watching *watching = trigger->watched;

	if (!watching || watching->sent || !kernel_of(domain)->fire.walk.at_ns)
		return false;
	watching->done = done;
	watching->data = data;
	return true;
}

static void kernel_fire_unwatch(struct domain_tracer *domain, struct trigger *trigger)
{
	struct kernel_fire *fire = &kernel_of(domain)->fire;
	struct kernel_watching *watching = trigger->watched;
	uint32_t slot;

	if (!watching)
		return;
	trigger->watched = NULL;
	list_remove(&watching->node);
	slot = fire->fired ? fired_slot_find(fire->fired, trigger) : FIRED_NO_SLOT;
	if (slot != FIRED_NO_SLOT) {
		kernel_fire_disable(fire->fired, slot);
		fired_slot_release(fire->fired, slot);
		loop_defer(kernel_of(domain)->recorder->config.loop, &fire->tidy);
	}
	kernel_fire_sent(watching);
	free(watching);
}

/* --- figures ------------------------------------------------------------------------ */

static uint32_t kernel_fire_matched(struct domain_tracer *domain, const struct trigger *trigger,
				    char *ret_problem, size_t len)
{
	const struct kernel_watching *watching = trigger->watched;
	const struct kernel_domain *kernel = kernel_of(domain);

	if (!watching)
		return 0;
	if (!kernel->fire.fired)
		snprintf(ret_problem, len, "the kernel can't be traced: %s",
			 kernel->kmod->fd < 0 ? kernel->kmod->why :
			 kmod_has(kernel->kmod, LTT_KMOD_TRIGGERS) ?
						"the module has no memory" :
						"its module is older than this daemon");
	else if (watching->error == ENOSPC)
		snprintf(ret_problem, len, "%u other triggers watch the kernel, which is the limit",
			 LTT_FIRED_SLOTS);
	else if (watching->error)
		snprintf(ret_problem, len, "the kernel's module rejects events: %s",
			 rule_chooses(trigger->kind) ? kmod_refusal(watching->error) :
						       kernel_probe_why(watching->error));
	else if (*watching->module && !kernel_module_is_loaded(watching->module))
		snprintf(ret_problem, len, "module %s is not loaded; it fires from when it is",
			 watching->module);
	else if (!watching->nr || (kernel_fire_is_pair(watching) &&
				   (!watching->ends || watching->ends == watching->nr)))
		snprintf(ret_problem, len,
			 "waits for its event: this kernel has none that "
			 "matches");
	return watching->nr;
}

static uint64_t kernel_fire_count(struct domain_tracer *domain, const struct trigger *trigger)
{
	const struct fired *fired = kernel_of(domain)->fire.fired;

	return fired ? fired_count(fired, trigger) : 0;
}

static void kernel_fire_lost(struct domain_tracer *domain, const struct trigger *trigger,
			     uint64_t *ret_evicted, uint64_t *ret_missed)
{
	const struct fired *fired = kernel_of(domain)->fire.fired;

	*ret_evicted = *ret_missed = 0;
	if (fired)
		fired_lost(fired, trigger, ret_evicted, ret_missed);
}

/* --- life --------------------------------------------------------------------------- */

/* One that was adopted is there already. */
static bool kernel_fire_wants(struct domain_tracer *domain, uid_t uid)
{
	return uid == 0 && kernel_of(domain)->fire.fired;
}

static void kernel_fire_keep(struct domain_tracer *domain)
{
	if (kernel_of(domain)->fire.fired)
		fired_keep(kernel_of(domain)->fire.fired);
}

const struct domain_trigger_ops kernel_fire_ops = {
	.check = kernel_fire_check,
	.watch = kernel_fire_watch,
	.settle = kernel_fire_settle,
	.unwatch = kernel_fire_unwatch,
	.matched = kernel_fire_matched,
	.count = kernel_fire_count,
	.lost = kernel_fire_lost,
	.kind = "kernelfired",
	.wants = kernel_fire_wants,
	.keep = kernel_fire_keep,
};

void kernel_fire_init(struct kernel_domain *kernel)
{
	list_init(&kernel->fire.watchings);
	kernel->fire.clock.freq_hz = 1000000000u;
	loop_timer_init(&kernel->fire.walk, kernel->recorder->config.loop, kernel_fire_walk);
	loop_work_init(&kernel->fire.tidy, kernel_fire_tidy);
}

void kernel_fire_fini(struct kernel_domain *kernel)
{
	struct kernel_watching *watching, *next;

	list_for_each_safe(watching, next, &kernel->fire.watchings, node) {
		watching->trigger->watched = NULL;
		list_remove(&watching->node);
		kernel_fire_sent(watching);
		free(watching);
	}
	if (kernel->fire.fired)
		fired_free(kernel->fire.fired);
	if (kernel->fire.filters.tracer)
		event_filters_fini(&kernel->fire.filters);
	loop_timer_cancel(&kernel->fire.walk);
	loop_work_cancel(&kernel->fire.tidy);
}
