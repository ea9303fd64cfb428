// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registration of objects (programs, libraries) with their sites; the registry's
 * lock; limbo.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/agent/agent.h"
#include "tracer/base/env.h"
#include "registry.h"
#include "tracer/ring/context.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/spare.h"

#define LIMBO_FULL 256u

/** struct object - the sites of one call of ltt_sites_register(). */
struct object {
	struct object *next;
	const void *base; /* where it is loaded */
	struct ltt_site *const *begin;
	size_t nr_sites;
	struct site_state sites[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static struct object *departed; /* since exit() was called */
static bool exiting;
static struct ltt_site *const *late_begin, *const *late_end; /* NULL: none, or registered */
static const void *late_base;
static void (*at_exit)(void);
static struct limbo *limbo;
static uint32_t nr_limbo;

void registry_lock(void)
{
	site_mute();
	pthread_mutex_lock(&lock);
}

void registry_unlock(void)
{
	pthread_mutex_unlock(&lock);
	site_unmute();
}

/* --- limbo ---------------------------------------------------------------------- */

void limbo_add(struct limbo *dead, void (*destroy)(struct limbo *self))
{
	dead->destroy = destroy;
	dead->next = limbo;
	limbo = dead;
	nr_limbo++;
}

static struct limbo *limbo_take(uint32_t least)
{
	struct limbo *dead = NULL;

	registry_lock();
	if (nr_limbo >= least) {
		dead = limbo;
		limbo = NULL;
		nr_limbo = 0;
	}
	registry_unlock();
	return dead;
}

static void limbo_free(struct limbo *dead)
{
	site_mute();
	while (dead) {
		struct limbo *next = dead->next;

		dead->destroy(dead);
		dead = next;
	}
	site_unmute();
}

static void limbo_return(struct limbo *dead)
{
	registry_lock();
	while (dead) {
		struct limbo *next = dead->next;

		limbo_add(dead, dead->destroy);
		dead = next;
	}
	registry_unlock();
}

static void limbo_drain_by(void (*synchronize)(void))
{
	struct limbo *dead = limbo_take(0);

	synchronize();
	limbo_free(dead);
}

void limbo_drain(void)
{
	limbo_drain_by(reader_synchronize);
}

void limbo_drain_if_full(void)
{
	struct limbo *dead = limbo_take(LIMBO_FULL);

	if (!dead)
		return;
	if (reader_synchronize_soon())
		limbo_free(dead);
	else
		limbo_return(dead);
}

/* --- objects ---------------------------------------------------------------------- */

/*
 * exit() runs destructors while other threads may well be tracing. Nothing is
 * unmapped then, so from here on sites stay armed to the very end.
 */
static void on_exit_begin(void)
{
	if (at_exit)
		at_exit();
	__atomic_store_n(&exiting, true, __ATOMIC_RELEASE);
}

void site_on_exit(void (*run)(void))
{
	at_exit = run;
}

/*
 * Exit handlers run in reverse order of registration, and the loader's own, which runs destructors,
 * is registered after the constructors of libraries and before the program's. So a library's
 * handler runs too late; each of the first objects registers one.
 */
static void watch_exit(void)
{
	static unsigned int watching;

	if (__atomic_fetch_add(&watching, 1, __ATOMIC_RELAXED) < 32)
		atexit(on_exit_begin);
}

bool site_is_exiting(void)
{
	return __atomic_load_n(&exiting, __ATOMIC_ACQUIRE);
}

static bool is_usable(const struct ltt_site *site)
{
	return site && site->size >= LTT_SITE_LEAST && !site->owner;
}

static bool is_named(const struct ltt_event *event)
{
	return event && event->size >= LTT_EVENT_LEAST && event->name && event->file;
}

static void site_warn(const struct ltt_event *event)
{
	if (is_named(event))
		tracer_debug("%s:%u: %s can't be recorded%s%s", event->file, event->line,
			     event->name, event->format ? "; its format: " : "",
			     event->format ? event->format : "");
}

/* Files of one object that include one header announce the same sites. */
static void add_site(struct object *object, struct ltt_site *site)
{
	struct site_state *state = &object->sites[object->nr_sites];

	if (!is_usable(site))
		return;
	state->site = site;
	state->event = site->event;
	state->base = object->base;
	if (point_join(state) < 0) {
		site_warn(site->event);
		memset(state, 0, sizeof(*state));
		return;
	}
	__atomic_store_n(&site->owner, state, __ATOMIC_RELEASE);
	object->nr_sites++;
}

static size_t count_usable(struct ltt_site *const *begin, struct ltt_site *const *end)
{
	size_t nr = 0;

	for (; begin < end; begin++)
		nr += is_usable(*begin);
	return nr;
}

/* The compiler chooses the order of an object's sites. Here it is the source's, by file and
 * line: of markers whose formats disagree the first counts. */
static int compare_places(const void *left, const void *right)
{
	const struct ltt_event *a = (*(struct ltt_site *const *)left)->event;
	const struct ltt_event *b = (*(struct ltt_site *const *)right)->event;
	int files;

	if (!is_named(a) || !is_named(b))
		return is_named(a) - is_named(b);
	files = a->file == b->file ? 0 : strcmp(a->file, b->file);
	if (files)
		return files;
	return (a->line > b->line) - (a->line < b->line);
}

static void sort_usable(struct ltt_site *const *begin, struct ltt_site *const *end,
			struct ltt_site **ret_sorted)
{
	size_t nr = 0;

	for (; begin < end; begin++)
		if (is_usable(*begin))
			ret_sorted[nr++] = *begin;
	qsort(ret_sorted, nr, sizeof(struct ltt_site *), compare_places);
}

const void *site_object_base(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static bool add_object(struct ltt_site *const *begin, struct ltt_site *const *end, const void *base)
{
	size_t most = count_usable(begin, end);
	struct ltt_site **sorted;
	struct object *object;

	object = most ? calloc(1, sizeof(*object) + most * sizeof(object->sites[0])) : NULL;
	sorted = object ? calloc(most, sizeof(struct ltt_site *)) : NULL;
	if (!sorted) {
		free(object);
		return false;
	}
	object->begin = begin;
	object->base = base;
	sort_usable(begin, end, sorted);
	for (size_t i = 0; i < most; i++)
		add_site(object, sorted[i]);
	free(sorted);
	object->next = objects;
	objects = object;
	return true;
}

void ltt_sites_register(struct ltt_site *const *begin, struct ltt_site *const *end, uint32_t abi)
{
	if (abi == LTT_SITE_ABI && begin < end)
		sites_register_of(begin, begin, end);
}

static bool sites_add(const void *address, struct ltt_site *const *begin,
		      struct ltt_site *const *end)
{
	const void *base = site_object_base(address);
	bool added;

	watch_exit();
	registry_lock();
	added = add_object(begin, end, base);
	registry_unlock();
	return added;
}

void sites_register_of(const void *address, struct ltt_site *const *begin,
		       struct ltt_site *const *end)
{
	if (sites_add(address, begin, end))
		agent_sites_changed();
}

bool site_register_name(struct ltt_site *const *site)
{
	bool added = sites_add(site, site, site + 1);

	if (added)
		agent_names_added();
	return added;
}

void site_register_late(struct ltt_site *const *begin, struct ltt_site *const *end,
			const void *base)
{
	late_end = end;
	late_base = base;
	__atomic_store_n(&late_begin, begin, __ATOMIC_RELEASE);
}

/* Their object is never unloaded, so that exit() has not to be watched for it. */
void site_register_rest(void)
{
	bool added = false;

	if (!__atomic_load_n(&late_begin, __ATOMIC_ACQUIRE))
		return;
	registry_lock();
	if (late_begin)
		added = add_object(late_begin, late_end, late_base);
	late_begin = NULL;
	registry_unlock();
	if (added)
		agent_sites_changed();
}

static struct object *take_object(struct ltt_site *const *begin)
{
	struct object **at = &objects;
	struct object *object;

	while (*at && (*at)->begin != begin)
		at = &(*at)->next;
	object = *at;
	if (object)
		*at = object->next;
	return object;
}

static void free_object(struct object *object)
{
	for (size_t i = 0; i < object->nr_sites; i++) {
		hooks_free(&object->sites[i]);
		free(object->sites[i].converted);
	}
	free(object);
}

/* No thread calls these sites any more, but the caller waits for calls in progress. Return: whether
 * there can be any: a site that was never hooked has none. */
static bool close_sites(struct object *object)
{
	bool visited = false;

	for (size_t i = 0; i < object->nr_sites; i++) {
		struct ltt_site *site = object->sites[i].site;

		visited |= object->sites[i].table || object->sites[i].typed;
		typed_site_removed(&object->sites[i]);
		point_leave(&object->sites[i]);
		__atomic_and_fetch(&site->armed, LTT_SITE_TOOLS, __ATOMIC_RELAXED);
		site_set_only(site, NULL);
		__atomic_store_n(&site->hooks, NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&site->owner, NULL, __ATOMIC_RELEASE);
	}
	return visited;
}

static void orphan_object(struct object *object)
{
	for (size_t i = 0; i < object->nr_sites; i++)
		object->sites[i].site = NULL;
	object->next = departed;
	departed = object;
}

/*
 * At exit: the registry forgets where the sites are, and they go on recording.
 * The lock's holder may be this very thread (exit() called from a list), or
 * one that never runs again; then nothing is changed.
 */
static void orphan_sites(struct ltt_site *const *begin)
{
	struct object *object;

	if (pthread_mutex_trylock(&lock) != 0)
		return;
	object = take_object(begin);
	if (object)
		orphan_object(object);
	pthread_mutex_unlock(&lock);
}

void ltt_sites_unregister(struct ltt_site *const *begin, struct ltt_site *const *end)
{
	struct object *object;
	bool visited = false;

	(void)end;
	if (site_is_exiting()) {
		orphan_sites(begin);
		return;
	}
	registry_lock();
	object = take_object(begin);
	if (object)
		visited = close_sites(object);
	registry_unlock();
	if (!object)
		return;
	if (visited)
		limbo_drain_by(reader_synchronize_code);
	else
		limbo_drain_if_full();
	site_mute();
	free_object(object);
	site_unmute();
	agent_sites_changed();
}

/* --- fork ------------------------------------------------------------------------- */

void site_before_fork(void)
{
	joined_lock();
	registry_lock();
}

void site_after_fork_parent(void)
{
	registry_unlock();
	joined_unlock();
}

void site_after_fork_child(void)
{
	spare_after_fork_child();
	context_after_fork_child(true);
	registry_unlock();
	joined_unlock();
}
