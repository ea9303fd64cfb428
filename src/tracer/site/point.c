// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of points: sites with the same name, kind, log level and fields (markers: format) are
 * one point.
 * Found by name (registration, probes) and by id (the daemon).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "format.h"
#include "registry.h"
#include "tracer/ring/prepare.h"
#include "tracer/base/large.h"

#define FIRST_BUCKETS 256u
#define MAX_FIELDS 256u

struct buckets {
	struct point_state **by_name;
	struct point_state **by_id;
	uint32_t nr; /* a power of two */
};

static struct point_state *initial_by_name[FIRST_BUCKETS] TRACER_LARGE;
static struct point_state *initial_by_id[FIRST_BUCKETS] TRACER_LARGE;
static struct buckets table = { initial_by_name, initial_by_id, FIRST_BUCKETS };
static struct point_state *oldest, *newest;
static uint32_t nr_points, last_id;
static struct point_listener observer;

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

struct point_state *point_first(void)
{
	return oldest;
}

struct point_state *point_find(uint32_t id)
{
	struct point_state *point = table.by_id[id & (table.nr - 1)];

	while (point && point->pub.id != id)
		point = point->same_id;
	return point;
}

static struct point_state *first_named(struct point_state *point, const char *name, uint32_t hash)
{
	while (point && (point->hash != hash || strcmp(point->pub.event->name, name) != 0))
		point = point->same_name;
	return point;
}

struct point_state *point_named(const char *name)
{
	uint32_t hash = hash_name(name);

	return first_named(table.by_name[hash & (table.nr - 1)], name, hash);
}

struct point_state *point_next_named(const struct point_state *point)
{
	return first_named(point->same_name, point->pub.event->name, point->hash);
}

/* --- one layout or two? ------------------------------------------------------- */

static bool same_enum(const struct ltt_enum *a, const struct ltt_enum *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->nr_entries != b->nr_entries || strcmp(a->name, b->name) != 0)
		return false;
	for (uint32_t i = 0; i < a->nr_entries; i++) {
		const struct ltt_enum_entry *x = &a->entries[i], *y = &b->entries[i];

		if (x->first != y->first || x->last != y->last || strcmp(x->label, y->label) != 0)
			return false;
	}
	return true;
}

static bool same_field(const struct ltt_field *a, const struct ltt_field *b)
{
	return a->count == b->count && a->kind == b->kind && a->size_bits == b->size_bits &&
	       a->length_bits == b->length_bits && a->base == b->base && a->flags == b->flags &&
	       strcmp(a->name, b->name) == 0 && same_enum(a->enumeration, b->enumeration);
}

bool point_same_fields(const struct ltt_field *a, const struct ltt_field *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && a != b; i++)
		if (!same_field(&a[i], &b[i]))
			return false;
	return true;
}

static bool belongs(const struct site_state *site, const struct point_state *point)
{
	const struct ltt_event *a = site->event, *b = point->pub.event;

	if (a->kind != b->kind || a->loglevel != b->loglevel)
		return false;
	if (a->kind == LTT_EVENT_MARKER)
		return strcmp(a->format, b->format) == 0;
	return site->nr_fields == point->pub.nr_fields &&
	       point_same_fields(site->fields, point->pub.fields, site->nr_fields);
}

/* --- adding and removing points --------------------------------------------------------- */

static void link_hash(struct point_state *point)
{
	struct point_state **name = &table.by_name[point->hash & (table.nr - 1)];
	struct point_state **id = &table.by_id[point->pub.id & (table.nr - 1)];

	while (*name)
		name = &(*name)->same_name;
	point->same_name = NULL;
	*name = point;
	point->same_id = *id;
	*id = point;
}

/* Without memory for more buckets the chains just get longer. */
static void site_point_grow(void)
{
	uint32_t nr = table.nr * 4;
	struct point_state **lists = calloc(2 * (size_t)nr, sizeof(*lists));

	if (!lists)
		return;
	if (table.by_name != initial_by_name)
		free(table.by_name);
	table = (struct buckets){ lists, lists + nr, nr };
	for (struct point_state *point = oldest; point; point = point->next)
		link_hash(point);
}

static void link_point(struct point_state *point)
{
	if (++nr_points > table.nr)
		site_point_grow();
	point->prev = newest;
	*(newest ? &newest->next : &oldest) = point;
	newest = point;
	link_hash(point);
}

static void unlink_point(struct point_state *point)
{
	struct point_state **name = &table.by_name[point->hash & (table.nr - 1)];
	struct point_state **id = &table.by_id[point->pub.id & (table.nr - 1)];

	while (*name != point)
		name = &(*name)->same_name;
	*name = point->same_name;
	while (*id != point)
		id = &(*id)->same_id;
	*id = point->same_id;
	*(point->prev ? &point->prev->next : &oldest) = point->next;
	*(point->next ? &point->next->prev : &newest) = point->prev;
	nr_points--;
}

static void free_point(struct point_state *point)
{
	format_free(point->format);
	free(point->event);
	free(point);
}

static void destroy_point(struct limbo *limbo)
{
	free_point((struct point_state *)((char *)limbo - offsetof(struct point_state, limbo)));
}

/* A marker's fields are in its format; a tracepoint's in its description. */
static int site_point_describe(struct point_state *point, const struct site_state *site)
{
	int res = 0;

	if (site->event->kind == LTT_EVENT_MARKER)
		res = format_parse(site->event->format, &point->format);
	if (res < 0)
		return res;
	if (point->format)
		point->event = describe_event(site->event, point->format->fields,
					      point->format->nr_fields);
	else
		point->event = describe_event(site->event, site->fields, site->nr_fields);
	if (!point->event)
		return -ENOMEM;
	point->pub.event = point->event;
	point->pub.fields = point->event->fields;
	point->pub.nr_fields = point->event->nr_fields;
	return 0;
}

static int make_point(const struct site_state *site, uint32_t hash, struct point_state **ret_point)
{
	struct point_state *point = calloc(1, sizeof(*point));
	int res = point ? site_point_describe(point, site) : -ENOMEM;

	if (res < 0) {
		if (point)
			free_point(point);
		return res;
	}
	point->hash = hash;
	point->pub.id = ++last_id;
	*ret_point = point;
	return 0;
}

/* A program that was built with other headers may have shorter or longer fields. */
static int take_fields(struct site_state *site)
{
	const struct ltt_event *event = site->event;
	size_t theirs = event->field_size, ours = sizeof(struct ltt_field);

	site->nr_fields = event->nr_fields;
	site->fields = event->fields;
	if (!event->nr_fields || theirs == ours)
		return 0;
	site->converted = calloc(event->nr_fields, ours);
	if (!site->converted)
		return -ENOMEM;
	for (uint32_t i = 0; i < event->nr_fields; i++)
		memcpy(&site->converted[i], (const char *)event->fields + i * theirs,
		       theirs < ours ? theirs : ours);
	site->fields = site->converted;
	return 0;
}

static bool makes_sense(const struct ltt_event *event)
{
	if (!event || event->size < LTT_EVENT_LEAST || !event->name || !event->name[0])
		return false;
	if (event->kind == LTT_EVENT_MARKER)
		return event->format != NULL;
	return event->kind == LTT_EVENT_TRACEPOINT && event->nr_fields <= MAX_FIELDS &&
	       (!event->nr_fields || event->fields);
}

static int find_or_make(const struct site_state *site, struct point_state **ret_point)
{
	uint32_t hash = hash_name(site->event->name);
	struct point_state *point =
		first_named(table.by_name[hash & (table.nr - 1)], site->event->name, hash);

	while (point && !belongs(site, point))
		point = point_next_named(point);
	if (point) {
		*ret_point = point;
		return 0;
	}
	return make_point(site, hash, ret_point);
}

/* Add the listeners of the point to a new site of it, as far as there is memory. */
static void hook_listeners(struct site_state *site)
{
	for (struct listener *l = site->point->listeners; l; l = l->next)
		if (hooks_reserve(site) == 0)
			hooks_insert(site, &l->hook);
}

int point_join(struct site_state *site)
{
	struct point_state *point = NULL;
	int res;

	if (!makes_sense(site->event))
		return -EINVAL;
	res = take_fields(site);
	if (res == 0)
		res = find_or_make(site, &point);
	if (res < 0) {
		free(site->converted);
		site->converted = NULL;
		return res;
	}
	if (point->format) {
		site->format = point->format;
		site->fields = point->format->fields;
		site->nr_fields = point->format->nr_fields;
	}
	site->point = point;
	site->next = point->sites;
	point->sites = site;
	hook_listeners(site);
	typed_site_added(site);
	if (point->pub.nr_sites++ == 0) {
		link_point(point);
		probe_point_added(point);
		if (observer.added)
			observer.added(&point->pub, observer.data);
	}
	return 0;
}

void point_leave(struct site_state *site)
{
	struct point_state *point = site->point;
	struct site_state **at = &point->sites;

	while (*at != site)
		at = &(*at)->next;
	*at = site->next;
	site->point = NULL;
	if (--point->pub.nr_sites)
		return;
	if (observer.removed)
		observer.removed(point->pub.id, observer.data);
	unlink_point(point);
	while (point->listeners)
		point_detach(point, point->listeners);
	limbo_add(&point->limbo, destroy_point);
}

/* --- listeners -------------------------------------------------------------------- */

struct listener *listener_new(const struct binding *binding, struct ltt_probe *probe)
{
	struct listener *new = aligned_alloc(64, sizeof(*new));

	if (!new)
		return NULL;
	memset(new, 0, sizeof(*new));
	new->hook.probe = probe;
	new->release = free;
	if (binding) {
		new->binding = *binding;
		new->hook.binding = &new->binding;
		new->hook.preparation =
			binding->preparation | (binding->nr_given ? PREPARATION_GIVEN : 0);
	}
	return new;
}

static void destroy_listener(struct limbo *limbo)
{
	struct listener *dead = (struct listener *)limbo; /* its first member */

	dead->release(dead->owned);
	free(dead);
}

int point_attach(struct point_state *point, struct listener *new)
{
	for (struct site_state *site = point->sites; site; site = site->next)
		if (hooks_reserve(site) < 0)
			return -ENOMEM;
	for (struct site_state *site = point->sites; site; site = site->next)
		hooks_insert(site, &new->hook);
	new->next = point->listeners;
	point->listeners = new;
	return 0;
}

static void unlink_listener(struct point_state *point, struct listener *old)
{
	struct listener **at = &point->listeners;

	while (*at != old)
		at = &(*at)->next;
	*at = old->next;
	limbo_add(&old->limbo, destroy_listener);
}

void point_detach(struct point_state *point, struct listener *old)
{
	for (struct site_state *site = point->sites; site; site = site->next)
		hooks_remove(site, &old->hook);
	unlink_listener(point, old);
}

void point_swap(struct point_state *point, struct listener *old, struct listener *new)
{
	for (struct site_state *site = point->sites; site; site = site->next)
		hooks_replace(site, &old->hook, &new->hook);
	unlink_listener(point, old);
	new->next = point->listeners;
	point->listeners = new;
}

void site_listen(const struct point_listener *new)
{
	static const struct point_listener nobody;

	registry_lock();
	observer = new ? *new : nobody;
	for (struct point_state *point = oldest; point && observer.added; point = point->next)
		observer.added(&point->pub, observer.data);
	registry_unlock();
}
