/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "points.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/base/env.h"
#include "tracer/site/site.h"

/*
 * One entry per point, in order of appearance. The entry of a removed point stays until the removal
 * has been sent on each link that announced the point.
 */
struct entry {
	const struct point *point; /* NULL: gone */
	uint32_t id;
	uint32_t told; /* bit l: link l knows it */
};

struct cursor {
	bool open;
	size_t next;	/* entries before it have been sent, or were removed */
	size_t nr_gone; /* entries whose removal has not been sent on the link yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t nr_entries, cap_entries;
static size_t nr_dead; /* unused entries */
static struct cursor cursors[AGENT_LINKS];
static uint32_t generation = 1;

/* Remove dead entries; cursors keep their position. */
static void compact(void)
{
	size_t next[AGENT_LINKS] = { 0 };
	size_t to = 0;

	for (size_t i = 0; i < nr_entries; i++) {
		if (!entries[i].point && !entries[i].told)
			continue;
		for (unsigned int l = 0; l < AGENT_LINKS; l++)
			next[l] += i < cursors[l].next;
		entries[to++] = entries[i];
	}
	nr_entries = to;
	nr_dead = 0;
	for (unsigned int l = 0; l < AGENT_LINKS; l++)
		cursors[l].next = next[l];
}

static bool agent_points_ensure_room(void)
{
	size_t cap = cap_entries ? cap_entries * 2 : 64;
	struct entry *bigger;

	if (nr_entries == cap_entries && nr_dead > nr_entries / 2)
		compact();
	if (nr_entries < cap_entries)
		return true;
	bigger = realloc(entries, cap * sizeof(*entries));
	if (!bigger)
		return false;
	entries = bigger;
	cap_entries = cap;
	return true;
}

static void on_added(const struct point *point, void *data)
{
	(void)data;
	site_mute();
	pthread_mutex_lock(&lock);
	if (agent_points_ensure_room()) {
		entries[nr_entries++] = (struct entry){ .point = point, .id = point->id };
		__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	} else {
		tracer_debug("no memory to register %s", point->event->name);
	}
	pthread_mutex_unlock(&lock);
	site_unmute();
}

/* Points are mostly removed in order of appearance: continue the search from the last one. */
static struct entry *agent_points_find(uint32_t id)
{
	static size_t hint;

	for (size_t i = 0; i < nr_entries; i++) {
		size_t at = (hint + i) % nr_entries;

		if (entries[at].id == id && entries[at].point) {
			hint = at + 1;
			return &entries[at];
		}
	}
	return NULL;
}

static void on_removed(uint32_t id, void *data)
{
	struct entry *entry;

	(void)data;
	pthread_mutex_lock(&lock);
	entry = agent_points_find(id);
	if (entry) {
		entry->point = NULL;
		for (unsigned int l = 0; l < AGENT_LINKS; l++)
			cursors[l].nr_gone += (entry->told >> l) & 1;
		nr_dead += !entry->told;
	}
	pthread_mutex_unlock(&lock);
}

static const struct point_listener listener = { .added = on_added, .removed = on_removed };

void agent_points_start(void)
{
	site_listen(&listener);
}

/* With the lock held: nothing has been sent on the link. */
static void forget(unsigned int link)
{
	for (size_t i = 0; i < nr_entries; i++) {
		if (!(entries[i].told & (1u << link)))
			continue;
		entries[i].told &= ~(1u << link);
		nr_dead += !entries[i].point && !entries[i].told;
	}
	cursors[link] = (struct cursor){ 0 };
}

void agent_points_open(unsigned int link)
{
	pthread_mutex_lock(&lock);
	forget(link);
	cursors[link].open = true;
	pthread_mutex_unlock(&lock);
}

void agent_points_close(unsigned int link)
{
	pthread_mutex_lock(&lock);
	forget(link);
	pthread_mutex_unlock(&lock);
}

bool agent_points_any_link_up(void)
{
	bool open = false;

	pthread_mutex_lock(&lock);
	for (unsigned int l = 0; l < AGENT_LINKS; l++)
		open |= cursors[l].open;
	pthread_mutex_unlock(&lock);
	return open;
}

uint32_t agent_points_generation(void)
{
	return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

void agent_points_lock(void)
{
	pthread_mutex_lock(&lock);
}

void agent_points_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

const struct point *agent_points_peek(unsigned int link)
{
	struct cursor *c = &cursors[link];

	while (c->next < nr_entries && !entries[c->next].point)
		c->next++;
	return c->next < nr_entries ? entries[c->next].point : NULL;
}

void agent_points_advance(unsigned int link)
{
	entries[cursors[link].next++].told |= 1u << link;
}

size_t agent_points_take_gone(unsigned int link, uint32_t *ret_ids, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; cursors[link].nr_gone && i < nr_entries && nr < max; i++) {
		struct entry *entry = &entries[i];

		if (entry->point || !(entry->told & (1u << link)))
			continue;
		ret_ids[nr++] = entry->id;
		entry->told &= ~(1u << link);
		nr_dead += !entry->told;
		cursors[link].nr_gone--;
	}
	return nr;
}

void agent_points_after_fork_child(void)
{
	for (unsigned int l = 0; l < AGENT_LINKS; l++)
		forget(l);
	pthread_mutex_unlock(&lock);
}
