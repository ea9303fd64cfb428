// SPDX-License-Identifier: LGPL-2.1-or-later
#include "join.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "old/provider.h"
#include "readers.h"

#define NR_BUCKETS 1024u

/* Functions to be called at a call site; behind them the end of the array. */
struct calls {
	struct calls *next; /* to be freed */
	const int **enabled;
	struct tp_probe probe[];
};

struct joined_site {
	struct joined_site *next;
	struct place place;
	struct calls *calls;
	uint32_t users; /* several objects may have the same one */
	char names[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct source *sources[NR_BUCKETS];
static struct joined_site *sites[NR_BUCKETS];
static struct target *dead_targets;
static struct calls *dead_calls;
static struct joined_site *dead_sites;

void join_lock(void)
{
	pthread_mutex_lock(&lock);
}

void join_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static uint32_t join_hash(const char *provider, const char *event)
{
	uint32_t hash = 2166136261u;

	while (*provider)
		hash = (hash ^ (unsigned char)*provider++) * 16777619u;
	while (*event)
		hash = (hash ^ (unsigned char)*event++) * 16777619u;
	return hash % NR_BUCKETS;
}

static bool fits(const struct source *source, const struct place *site)
{
	return strcmp(source->event, site->event) == 0 &&
	       strcmp(source->provider, site->provider) == 0 &&
	       strcmp(source->signature, site->signature) == 0;
}

/* --- the word that the program reads ----------------------------------------------------- */

static const struct calls *calls_of(const struct place *site)
{
	const struct tp_probe *probes = __atomic_load_n(site->probes, __ATOMIC_SEQ_CST);

	return probes ? (const struct calls *)((const char *)probes -
					       offsetof(struct calls, probe)) :
			NULL;
}

static int is_wanted(const struct place *site)
{
	const struct calls *calls = calls_of(site);

	for (uint32_t i = 0; calls && calls->probe[i].function; i++)
		if (!calls->enabled[i] || __atomic_load_n(calls->enabled[i], __ATOMIC_SEQ_CST))
			return 1;
	return 0;
}

/* Another thread may do the same: each checks after its store, so that the last store is right. */
static void update_state(const struct place *site)
{
	int wanted;

	do {
		wanted = is_wanted(site);
		__atomic_store_n(site->state, wanted, __ATOMIC_SEQ_CST);
	} while (wanted != is_wanted(site));
}

void join_update(struct target *const *targets)
{
	const struct target *at;

	lttng_ust_urcu_read_lock();
	at = __atomic_load_n(targets, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; at && at->sites[i]; i++)
		update_state(at->sites[i]);
	lttng_ust_urcu_read_unlock();
}

/* --- lists ---------------------------------------------------------------------------------- */

static void bury_calls(struct joined_site *joined)
{
	if (!joined->calls)
		return;
	joined->calls->next = dead_calls;
	dead_calls = joined->calls;
}

/* Return: -ENOMEM: the list is as before. */
static int renew_calls(struct joined_site *joined, uint32_t bucket)
{
	struct calls *calls = NULL;
	uint32_t nr = 0, at = 0;

	for (struct source *s = sources[bucket]; s; s = s->next)
		nr += fits(s, &joined->place);
	if (nr) {
		calls = calloc(1, sizeof(*calls) + (nr + 1) * sizeof(calls->probe[0]) +
					  nr * sizeof(calls->enabled[0]));
		if (!calls)
			return -ENOMEM;
		calls->enabled = (const int **)&calls->probe[nr + 1];
	}
	for (struct source *s = sources[bucket]; s; s = s->next) {
		if (!fits(s, &joined->place))
			continue;
		calls->enabled[at] = s->enabled;
		calls->probe[at++] = s->probe;
	}
	__atomic_store_n(joined->place.probes, calls ? calls->probe : NULL, __ATOMIC_SEQ_CST);
	bury_calls(joined);
	joined->calls = calls;
	update_state(&joined->place);
	return 0;
}

static void bury_targets(struct source *source)
{
	struct target *old = *source->targets;

	if (!old)
		return;
	old->next = dead_targets;
	dead_targets = old;
}

static int renew_targets(struct source *source, uint32_t bucket)
{
	struct target *targets;
	uint32_t nr = 0, at = 0;

	for (struct joined_site *j = sites[bucket]; j; j = j->next)
		nr += fits(source, &j->place);
	targets = calloc(1, sizeof(*targets) + (nr + 1) * sizeof(targets->sites[0]));
	if (!targets)
		return -ENOMEM;
	for (struct joined_site *j = sites[bucket]; j; j = j->next)
		if (fits(source, &j->place))
			targets->sites[at++] = &j->place;
	bury_targets(source);
	__atomic_store_n(source->targets, targets, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < at; i++)
		update_state(targets->sites[i]);
	return 0;
}

/* Without memory for shorter lists: a function or call site that goes must be in none. */
static void forget_function(struct joined_site *joined, const struct source *source)
{
	for (uint32_t i = 0; joined->calls && joined->calls->probe[i].function; i++)
		if (joined->calls->probe[i].data == source->probe.data)
			__atomic_store_n(joined->place.probes, NULL, __ATOMIC_SEQ_CST);
	update_state(&joined->place);
}

int join_add_source(struct source *source)
{
	const uint32_t bucket = join_hash(source->provider, source->event);
	int res = 0;

	source->next = sources[bucket];
	sources[bucket] = source;
	for (struct joined_site *j = sites[bucket]; j && !res; j = j->next)
		if (fits(source, &j->place))
			res = renew_calls(j, bucket);
	if (!res && source->enabled)
		res = renew_targets(source, bucket);
	if (res)
		join_remove_source(source);
	return res;
}

void join_remove_source(struct source *source)
{
	const uint32_t bucket = join_hash(source->provider, source->event);
	struct source **at = &sources[bucket];

	while (*at && *at != source)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = source->next;
	for (struct joined_site *j = sites[bucket]; j; j = j->next)
		if (fits(source, &j->place) && renew_calls(j, bucket) < 0)
			forget_function(j, source);
	if (source->enabled) {
		bury_targets(source);
		__atomic_store_n(source->targets, NULL, __ATOMIC_SEQ_CST);
	}
}

static struct joined_site **find_site(const struct place *site, uint32_t bucket)
{
	struct joined_site **at = &sites[bucket];

	while (*at && (*at)->place.state != site->state)
		at = &(*at)->next;
	return at;
}

static struct joined_site *joined_new(const struct place *place)
{
	const size_t first = strlen(place->provider) + 1, second = strlen(place->event) + 1;
	struct joined_site *joined = calloc(1, sizeof(*joined) + first + second);

	if (!joined)
		return NULL;
	joined->users = 1;
	joined->place = *place;
	joined->place.provider = memcpy(joined->names, place->provider, first);
	joined->place.event = memcpy(joined->names + first, place->event, second);
	return joined;
}

int join_add_site(const struct place *site)
{
	const uint32_t bucket = join_hash(site->provider, site->event);
	struct joined_site *joined = *find_site(site, bucket);

	if (joined) {
		joined->users++;
		return 0;
	}
	joined = joined_new(site);
	if (!joined)
		return -ENOMEM;
	joined->next = sites[bucket];
	sites[bucket] = joined;
	if (renew_calls(joined, bucket) < 0) {
		join_remove_site(site);
		return -ENOMEM;
	}
	for (struct source *s = sources[bucket]; s; s = s->next)
		if (s->enabled && fits(s, site) && renew_targets(s, bucket) < 0) {
			join_remove_site(site);
			return -ENOMEM;
		}
	return 0;
}

/* A list that could not be made anew must not have the site: it becomes empty. */
static void forget_site(struct source *source)
{
	bury_targets(source);
	__atomic_store_n(source->targets, NULL, __ATOMIC_SEQ_CST);
}

void join_remove_site(const struct place *site)
{
	const uint32_t bucket = join_hash(site->provider, site->event);
	struct joined_site **at = find_site(site, bucket), *joined = *at;

	if (!joined || --joined->users)
		return;
	*at = joined->next;
	for (struct source *s = sources[bucket]; s; s = s->next)
		if (s->enabled && fits(s, site) && renew_targets(s, bucket) < 0)
			forget_site(s);
	__atomic_store_n(site->state, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(site->probes, NULL, __ATOMIC_SEQ_CST);
	bury_calls(joined);
	joined->next = dead_sites;
	dead_sites = joined;
}

void join_drain(void)
{
	struct joined_site *joined;
	struct target *targets;
	struct calls *calls;

	join_lock();
	targets = dead_targets;
	calls = dead_calls;
	joined = dead_sites;
	dead_targets = NULL;
	dead_calls = NULL;
	dead_sites = NULL;
	join_unlock();
	lttng_ust_urcu_synchronize_rcu();
	old_synchronize();
	while (joined) {
		struct joined_site *next = joined->next;

		free(joined);
		joined = next;
	}
	while (targets) {
		struct target *next = targets->next;

		free(targets);
		targets = next;
	}
	while (calls) {
		struct calls *next = calls->next;

		free(calls);
		calls = next;
	}
}

/* --- the process ---------------------------------------------------------------------------- */

static __attribute__((constructor(102))) void join_start(void)
{
	pthread_atfork(join_lock, join_unlock, join_unlock);
}
