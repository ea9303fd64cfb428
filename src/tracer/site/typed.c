// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Typed probes: functions of the program that get the arguments of ltt_trace() as they are. While a
 * site has any, LTT_SITE_TYPED is set in ltt_site.armed, and ltt_trace() calls ltt_typed_call()
 * in place of the function that records. That one is the last call of the site's list; it comes
 * from where a probe was registered. A list is never changed: it is replaced under the registry's
 * lock and freed after a grace period.
 *
 * A thread that has seen the bit may come here at any time after the last probe has gone. So a site
 * keeps a list without probes, if the function that records is in its own program or library; else
 * that thread's event is counted as lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/typed.h>

#include "registry.h"
#include "tracer/base/env.h"
#include "tracer/ring/ring.h"
#include "typed_call.h"

/** struct typed - a registered pair of function and data. @kind's texts are behind it. */
struct typed {
	struct limbo limbo;
	struct typed *next;
	struct ltt_typed_kind kind;
	size_t stack_bytes;
	const void *base; /* of the program or library that has kind.emit */
	void (*probe)(void);
	void *data;
	uint32_t users;
	uint64_t skipped __attribute__((aligned(8))); /* counted by traced threads */
	char text[];
};

/** struct typed_list - the calls at a site: those of @nr probes, and the one that records. */
struct typed_list {
	struct limbo limbo;
	struct typed_list *next; /* until it is at its site */
	size_t stack_bytes;
	void (*recorder)(void);
	bool own; /* the one that records is in the program or library that has the site */
	uint32_t nr;
	struct typed **whose; /* @nr of them, behind the calls */
	struct typed_call call[];
};

static struct typed *all_typed, **last_typed = &all_typed;

/* --- at a site --------------------------------------------------------------------- */

static __thread const void *typed_caller __attribute__((tls_model("initial-exec")));

static const struct typed_list *typed_at_site(const struct ltt_site *site)
{
	const struct site_state *state = __atomic_load_n(&site->owner, __ATOMIC_ACQUIRE);

	return state ? __atomic_load_n(&state->typed, __ATOMIC_ACQUIRE) : NULL;
}

void typed_begin(struct ltt_site *site, struct typed_state *state, const void *caller)
{
	bool records = __atomic_load_n(&site->armed, __ATOMIC_RELAXED) & ~LTT_SITE_TYPED;
	const struct typed_list *list;

	*state = (struct typed_state){ .saved_errno = errno,
				       .token = reader_enter(),
				       .outer = typed_caller };
	typed_caller = caller;
	list = typed_at_site(site);
	if (!list) {
		site_lose(site);
		return;
	}
	state->stack_bytes = list->stack_bytes;
	state->at = list->call + list->nr;
	state->end = state->at + records;
	if (site_is_limited())
		return;
	state->nested = probe_nest();
	if (state->nested)
		state->at = list->call;
	for (uint32_t i = 0; i < list->nr && !state->nested; i++)
		__atomic_add_fetch(&list->whose[i]->skipped, 1, __ATOMIC_RELAXED);
}

void typed_end(struct typed_state *state)
{
	if (state->nested)
		probe_unnest();
	typed_caller = state->outer;
	reader_exit(state->token);
	errno = state->saved_errno;
}

const void *typed_outer_address(void)
{
	return typed_caller;
}

/* --- which probes -------------------------------------------------------------------- */

static bool typed_is_named(const struct typed *typed, const struct ltt_event *event)
{
	return event->kind == LTT_EVENT_TRACEPOINT && strcmp(typed->kind.name, event->name) == 0;
}

static bool typed_fits(const struct typed *typed, const struct site_state *site)
{
	const struct ltt_event *event = site->event;

	return typed->users && typed_is_named(typed, event) &&
	       event->size >= offsetof(struct ltt_event, connects) && event->arguments &&
	       strcmp(typed->kind.arguments, event->arguments) == 0 &&
	       site->nr_fields == typed->kind.nr_fields &&
	       point_same_fields(site->fields, typed->kind.fields, site->nr_fields);
}

static void typed_blank(void)
{
}

static void typed_destroy_list(struct limbo *limbo)
{
	free(limbo); /* its first member */
}

static struct typed_list *typed_list_new(uint32_t most)
{
	struct typed_list *list;

	list = calloc(1, sizeof(*list) + (most + 1) * sizeof(list->call[0]) +
				 most * sizeof(list->whose[0]));
	if (list)
		list->whose = (struct typed **)(void *)(list->call + most + 1);
	return list;
}

static void typed_set_recorder(struct typed_list *list, void (*recorder)(void), size_t stack_bytes,
			       bool own)
{
	list->recorder = recorder;
	list->stack_bytes = stack_bytes;
	list->own = own;
}

/* Return: 0, *@ret_list is NULL if there is none; or -ENOMEM. */
static int typed_list_of(const struct site_state *site, struct typed_list **ret_list)
{
	const struct typed_list *old = site->typed;
	struct typed_list *list;
	uint32_t nr = 0;

	*ret_list = NULL;
	for (struct typed *t = all_typed; t; t = t->next)
		nr += typed_fits(t, site);
	if (!nr && (!old || !old->own))
		return 0;
	*ret_list = list = typed_list_new(nr);
	if (!list)
		return -ENOMEM;
	if (old && old->own)
		typed_set_recorder(list, old->recorder, old->stack_bytes, true);
	for (struct typed *t = all_typed; t; t = t->next) {
		if (!typed_fits(t, site))
			continue;
		list->whose[list->nr] = t;
		list->call[list->nr++] = (struct typed_call){ t->probe, t->data };
		if (!list->own)
			typed_set_recorder(list, t->kind.emit, t->stack_bytes,
					   t->base == site->base);
	}
	list->call[nr] = (struct typed_call){ list->recorder, site->site };
	return 0;
}

static void typed_replace(struct site_state *site, struct typed_list *list)
{
	struct typed_list *old = site->typed;

	__atomic_store_n(&site->typed, list, __ATOMIC_RELEASE);
	if (site->site && list && list->nr)
		__atomic_or_fetch(&site->site->armed, LTT_SITE_TYPED, __ATOMIC_RELEASE);
	else if (site->site)
		__atomic_and_fetch(&site->site->armed, ~LTT_SITE_TYPED, __ATOMIC_RELEASE);
	if (old)
		limbo_add(&old->limbo, typed_destroy_list);
}

void typed_site_added(struct site_state *site)
{
	struct typed_list *list;

	if (typed_list_of(site, &list) == 0 && list) /* no memory: not called there */
		typed_replace(site, list);
}

/* A list for each site of the name, an empty one where it has none. Return: 0 or -ENOMEM. */
static int typed_make_lists(const char *name, struct typed_list **end)
{
	for (struct point_state *p = point_named(name); p; p = point_next_named(p)) {
		for (struct site_state *site = p->sites; site; site = site->next) {
			struct typed_list *list;
			int res = typed_list_of(site, &list);

			if (res == 0 && !list)
				list = typed_list_new(0);
			if (!list)
				return -ENOMEM;
			*end = list;
			end = &list->next;
		}
	}
	return 0;
}

static void typed_install_lists(const char *name, struct typed_list *list)
{
	for (struct point_state *p = point_named(name); p; p = point_next_named(p)) {
		for (struct site_state *site = p->sites; site; site = site->next) {
			struct typed_list *next = list->next;

			typed_replace(site, list->recorder ? list : NULL);
			if (!list->recorder)
				free(list);
			list = next;
		}
	}
}

/* All sites of the name get a new list, or none does. Return: 0 or -ENOMEM. */
static int typed_renew(const char *name)
{
	struct typed_list *lists = NULL;
	int res = typed_make_lists(name, &lists);

	if (res == 0)
		typed_install_lists(name, lists);
	while (res < 0 && lists) {
		struct typed_list *next = lists->next;

		free(lists);
		lists = next;
	}
	return res;
}

/* --- registering --------------------------------------------------------------------- */

static struct typed **typed_find(const struct ltt_typed_kind *kind, void (*probe)(void),
				 const void *data)
{
	struct typed **at = &all_typed;

	while (*at && ((*at)->probe != probe || (*at)->data != data ||
		       strcmp((*at)->kind.name, kind->name) != 0 ||
		       strcmp((*at)->kind.arguments, kind->arguments) != 0))
		at = &(*at)->next;
	return at;
}

static struct typed *typed_new(const struct ltt_typed_kind *kind, void (*probe)(void), void *data,
			       const void *base)
{
	size_t name = strlen(kind->name) + 1, arguments = strlen(kind->arguments) + 1;
	struct typed *typed = calloc(1, sizeof(*typed) + name + arguments);

	if (!typed)
		return NULL;
	typed->kind = *kind;
	typed->kind.name = memcpy(typed->text, kind->name, name);
	typed->kind.arguments = memcpy(typed->text + name, kind->arguments, arguments);
	typed->stack_bytes = (typed_stack_bytes(kind->stack) + 15) & ~(size_t)15;
	typed->base = base;
	typed->probe = probe;
	typed->data = data;
	*last_typed = typed;
	last_typed = &typed->next;
	return typed;
}

static void typed_destroy(struct limbo *limbo)
{
	free(limbo); /* its first member */
}

static void typed_drop(struct typed **at)
{
	struct typed *typed = *at;

	*at = typed->next;
	if (last_typed == &typed->next)
		last_typed = at;
	limbo_add(&typed->limbo, typed_destroy); /* calls that are skipped are counted in it */
}

static int typed_connect(const struct ltt_typed_kind *kind, void (*probe)(void), void *data,
			 const void *base)
{
	struct typed *typed, *present;

	if (!HAVE_TYPED_CALL)
		return -ENOSYS;
	if (kind->size < sizeof(*kind) || kind->field_size != sizeof(*kind->fields))
		return -EINVAL;
	present = *typed_find(kind, probe, data);
	typed = present ? present : typed_new(kind, probe, data, base);
	if (!typed)
		return -ENOMEM;
	if (++typed->users > 1 || typed_renew(kind->name) == 0)
		return (int)typed->users;
	typed->users = 0;
	if (!present)
		typed_drop(typed_find(kind, probe, data));
	return -ENOMEM;
}

/* Without memory for shorter lists, the calls in the present ones do nothing. */
static void typed_blank_all(const struct typed *typed)
{
	for (struct point_state *p = point_named(typed->kind.name); p; p = point_next_named(p))
		for (struct site_state *site = p->sites; site; site = site->next)
			for (uint32_t i = 0; site->typed && i < site->typed->nr; i++)
				if (site->typed->whose[i] == typed)
					__atomic_store_n(&site->typed->call[i].function,
							 typed_blank, __ATOMIC_RELAXED);
}

static int typed_disconnect(const struct ltt_typed_kind *kind, void (*probe)(void), void *data)
{
	struct typed **at = typed_find(kind, probe, data);

	if (!*at)
		return -ENOENT;
	if (--(*at)->users)
		return (int)(*at)->users;
	if (typed_renew(kind->name) == 0)
		typed_drop(at);
	else /* it stays in all_typed, as lists refer to it */
		typed_blank_all(*at);
	return 0;
}

int ltt_typed_register(const struct ltt_typed_kind *kind, void (*probe)(void), void *data)
{
	const void *base = site_object_base((const void *)(uintptr_t)kind->emit);
	int res;

	registry_lock();
	res = typed_connect(kind, probe, data, base);
	registry_unlock();
	return res;
}

int ltt_typed_unregister(const struct ltt_typed_kind *kind, void (*probe)(void), void *data)
{
	int res;

	registry_lock();
	res = typed_disconnect(kind, probe, data);
	registry_unlock();
	return res;
}

static void typed_count_sites(const struct typed *typed, struct ltt_typed_info *info)
{
	for (struct point_state *p = point_named(info->name); p; p = point_next_named(p)) {
		for (struct site_state *site = p->sites; site; site = site->next) {
			if (typed_fits(typed, site))
				info->nr_sites++;
			else if (typed_is_named(typed, site->event))
				info->nr_others++;
		}
	}
}

int ltt_typed_list(int (*each)(void *data, const struct ltt_typed_info *probe), void *data)
{
	int res = 0;

	registry_lock();
	for (struct typed *t = all_typed; t && !res; t = t->next) {
		struct ltt_typed_info info = {
			.size = sizeof(info),
			.name = t->kind.name,
			.arguments = t->kind.arguments,
			.probe = t->probe,
			.data = t->data,
			.users = t->users,
			.skipped = __atomic_load_n(&t->skipped, __ATOMIC_RELAXED),
		};

		if (!t->users)
			continue;
		typed_count_sites(t, &info);
		res = each(data, &info);
	}
	registry_unlock();
	return res;
}

/* --- markers that connect a probe (DEFINE_MARKER_TP()) ------------------------------------ */

static const struct ltt_typed_request *typed_request_of(const struct site_state *site)
{
	const struct ltt_event *event = site->event;
	bool has = event->size >= offsetof(struct ltt_event, connects) + sizeof(event->connects);

	return has ? event->connects : NULL;
}

void typed_site_armed(struct site_state *site)
{
	const struct ltt_typed_request *request = typed_request_of(site);

	if (request && typed_connect(request->kind, request->probe, site->site, site->base) < 0)
		tracer_debug("%s: its probe of %s can't be connected: no memory", site->event->name,
			     request->kind->name);
}

void typed_site_disarmed(struct site_state *site)
{
	const struct ltt_typed_request *request = typed_request_of(site);

	if (request)
		(void)typed_disconnect(request->kind, request->probe, site->site);
}

void typed_site_removed(struct site_state *site)
{
	typed_replace(site, NULL);
	if (site->nr_hooks)
		typed_site_disarmed(site);
}
