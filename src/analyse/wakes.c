/* SPDX-License-Identifier: GPL-2.0-only */
#include "wakes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "callsites.h"
#include "overview.h"
#include "read/event.h"

struct wakes {
	struct callsites *sites;
	wakes_fn fn;
	void *priv;
	struct idmap map;
	struct wakes_object *objects;
	uint32_t nr_objects;
};

struct wakes *wakes_new(struct callsites *sites, wakes_fn fn, void *priv)
{
	struct wakes *wakes = xalloc(sizeof(*wakes));

	wakes->sites = sites;
	wakes->fn = fn;
	wakes->priv = priv;
	idmap_init(&wakes->map);
	return wakes;
}

void wakes_free(struct wakes *wakes)
{
	struct wakes_object *object;
	struct wakes_wait *wait, *next;

	if (!wakes)
		return;
	idmap_fini(&wakes->map);
	while ((object = wakes->objects)) {
		wakes->objects = object->next;
		list_for_each_safe(wait, next, &object->late, node)
			free(wait);
		free(object);
	}
	free(wakes);
}

static const char *const wakes_kinds[] = { "condition", "semaphore" };
static const char *const wakes_fields[] = { "cond", "sem" };

const char *wakes_kind_name(enum wakes_kind kind)
{
	return wakes_kinds[kind];
}

enum wakes_action wakes_action_of(const char *name)
{
	static const struct {
		const char *name;
		enum wakes_action action;
	} actions[] = {
		{ "pthread_cond_wait_begin", WAKES_BEGIN },
		{ "pthread_cond_wait_end", WAKES_END },
		{ "pthread_cond_signal", WAKES_SIGNAL },
		{ "pthread_cond_broadcast", WAKES_BROADCAST },
		{ "sem_wait_begin", WAKES_BEGIN },
		{ "sem_wait_end", WAKES_END },
		{ "sem_post", WAKES_SIGNAL },
	};
	const char *call = strstr(name, "_pthread:");

	for (size_t i = 0; call && i < ARRAY_SIZE(actions); i++)
		if (strcmp(call + strlen("_pthread:"), actions[i].name) == 0)
			return actions[i].action;
	return WAKES_NONE;
}

/* --- objects ------------------------------------------------------------------------------- */

/* Return: NULL: there are too many, or the event has no address. */
static struct wakes_object *wakes_object_of(struct wakes *wakes,
					    const struct overview_process *process,
					    const struct event *event)
{
	const struct value *address = value_member(event->fields, wakes_fields[WAKES_CONDITION]);
	enum wakes_kind kind = address ? WAKES_CONDITION : WAKES_SEMAPHORE;
	struct wakes_object *object;
	struct idmap_node *node;
	uint64_t hash;

	address = address ? address : value_member(event->fields, wakes_fields[kind]);
	if (!address || address->type->kind != TYPE_INT)
		return NULL;
	hash = ((uintptr_t)process ^ address->u * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	for (node = idmap_find(&wakes->map, hash); node; node = idmap_next(&wakes->map, node)) {
		object = container_of(node, struct wakes_object, node);
		if (object->process == process && object->address == address->u &&
		    object->kind == kind)
			return object;
	}
	if (wakes->nr_objects == WAKES_OBJECTS_MOST)
		return NULL;
	wakes->nr_objects++;
	object = xalloc(sizeof(*object));
	object->process = process;
	object->address = address->u;
	object->kind = kind;
	object->place = callsites_find(wakes->sites, process, event, address->u, false);
	list_init(&object->waiting);
	list_init(&object->late);
	object->next = wakes->objects;
	wakes->objects = object;
	idmap_add(&wakes->map, &object->node, hash);
	return object;
}

/* --- waits --------------------------------------------------------------------------------- */

static void wakes_pass_on(struct wakes *wakes, struct wakes_wait *wait)
{
	wakes->fn(wakes->priv, wait);
	free(wait);
}

static void wakes_pass_late(struct wakes *wakes, struct wakes_wait *wait,
			    const struct overview_thread *waker)
{
	wait->waker = waker;
	list_remove(&wait->node);
	wait->object->nr_late--;
	wakes_pass_on(wakes, wait);
}

/* The oldest signal since the wait has begun. */
static const struct overview_thread *wakes_take_signal(struct wakes_object *object,
						       const struct wakes_wait *wait)
{
	for (uint32_t i = 0; i < object->nr_signals; i++) {
		const struct overview_thread *thread = object->signals[i].thread;

		if (object->signals[i].ns < wait->from_ns || thread == wait->thread)
			continue;
		object->nr_signals--;
		memmove(&object->signals[i], &object->signals[i + 1],
			(object->nr_signals - i) * sizeof(object->signals[0]));
		return thread;
	}
	return NULL;
}

/* One whose end had no event is forgotten. */
static void wakes_begin_wait(struct wakes *wakes, struct wakes_object *object,
			     struct overview_thread *thread, const struct event *event)
{
	struct wakes_wait *wait = thread->waits_for;

	if (wait) {
		list_remove(&wait->node);
		wait->object->nr_waiting--;
	} else {
		wait = thread->waits_for = xalloc(sizeof(*wait));
	}
	*wait = (struct wakes_wait){
		.object = object,
		.thread = thread,
		.chain = callsites_chain(wakes->sites, thread->process, event),
		.from_ns = event->ns,
	};
	list_append(&object->waiting, &wait->node);
	object->nr_waiting++;
}

static void wakes_end_wait(struct wakes *wakes, struct wakes_object *object,
			   struct overview_thread *thread, const struct event *event)
{
	const struct value *status = value_member(event->fields, "status");
	bool woken = !status || status->u == 0;
	struct wakes_wait *wait = thread->waits_for;

	if (!wait || wait->object != object)
		return;
	thread->waits_for = NULL;
	list_remove(&wait->node);
	object->nr_waiting--;
	wait->to_ns = event->ns;
	wait->timed_out = status && status->u == ETIMEDOUT;
	wait->lossy = wait->from_ns < thread->process->source->lossy_until_ns;
	if (!woken)
		wait->waker = NULL;
	else if (!wait->waker)
		wait->waker = wakes_take_signal(object, wait);
	if (object->nr_signals > object->nr_waiting) /* the oldest one has ended no wait */
		memmove(object->signals, &object->signals[1],
			--object->nr_signals * sizeof(object->signals[0]));
	if (!woken || wait->waker ||
	    event_ns_between(wait->from_ns, wait->to_ns) < WAKES_BLOCKED_NS) {
		wakes_pass_on(wakes, wait);
		return;
	}
	if (object->nr_late == WAKES_LATE_MOST)
		wakes_pass_late(wakes, list_first(&object->late, struct wakes_wait, node), NULL);
	list_append(&object->late, &wait->node);
	object->nr_late++;
}

/* --- signals ------------------------------------------------------------------------------- */

/* Return: whether it has ended a wait. */
static bool wakes_signal_late(struct wakes *wakes, struct wakes_object *object,
			      const struct overview_thread *thread, bool all, int64_t before_ns)
{
	struct wakes_wait *wait, *next;
	bool any = false;

	list_for_each_safe(wait, next, &object->late, node) {
		bool may = wait->to_ns > before_ns && wait->thread != thread && (all || !any);

		any |= may;
		if (may)
			wakes_pass_late(wakes, wait, thread);
	}
	return any;
}

static void wakes_signal(struct wakes *wakes, struct wakes_object *object,
			 const struct overview_thread *thread, int64_t ns, int64_t before_ns)
{
	if (wakes_signal_late(wakes, object, thread, false, before_ns) ||
	    object->nr_signals >= MIN(object->nr_waiting, WAKES_SIGNALS_MOST))
		return;
	object->signals[object->nr_signals].thread = thread;
	object->signals[object->nr_signals++].ns = ns;
}

static void wakes_broadcast(struct wakes *wakes, struct wakes_object *object,
			    const struct overview_thread *thread, int64_t before_ns)
{
	struct wakes_wait *wait;

	wakes_signal_late(wakes, object, thread, true, before_ns);
	list_for_each(wait, &object->waiting, node)
		wait->waker = wait->waker ? wait->waker : thread;
}

void wakes_take(struct wakes *wakes, struct overview_thread *thread, enum wakes_action action,
		const struct event *event, int64_t before_ns)
{
	struct wakes_object *object = wakes_object_of(wakes, thread->process, event);

	if (!object)
		return;
	if (action == WAKES_BEGIN)
		wakes_begin_wait(wakes, object, thread, event);
	else if (action == WAKES_END)
		wakes_end_wait(wakes, object, thread, event);
	else if (action == WAKES_SIGNAL)
		wakes_signal(wakes, object, thread, event->ns, before_ns);
	else
		wakes_broadcast(wakes, object, thread, before_ns);
}

void wakes_end(struct wakes *wakes)
{
	struct wakes_wait *wait, *next;

	for (struct wakes_object *object = wakes->objects; object; object = object->next)
		list_for_each_safe(wait, next, &object->late, node)
			wakes_pass_late(wakes, wait, NULL);
}
