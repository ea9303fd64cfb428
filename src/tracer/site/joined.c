// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Points and descriptors (ltt/point.h): which event a point records. Points of an object that
 * have the same descriptors' object are one group, whose sites are registered as those of an object
 * of its own.
 *
 * Registration runs in the constructors and destructors of objects, with the loader's lock. The
 * lists have a lock of their own, which is taken before the registry's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/point.h>

#include "registry.h"
#include "tracer/agent/agent.h"
#include "tracer/ring/ring.h"

/* of struct ltt_point and struct ltt_descriptor in the first version */
#define POINT_LEAST (offsetof(struct ltt_point, site) + LTT_SITE_LEAST)
#define DESCRIPTOR_LEAST sizeof(struct ltt_descriptor)

/** struct described - the descriptors of an object. */
struct described {
	struct described *next;
	const struct ltt_descriptor *const *begin, *const *end;
};

/** struct pointing - the points of an object. */
struct pointing {
	struct pointing *next;
	struct ltt_point *const *begin, *const *end;
};

/** struct group - points that are joined. @described: NULL: by the linker. */
struct group {
	struct group *next;
	const struct pointing *pointing;
	const struct described *described;
	uint32_t nr;
	struct ltt_site *sites[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct described *all_described;
static struct pointing *all_pointing;
static struct group *groups;

void joined_lock(void)
{
	site_mute();
	pthread_mutex_lock(&lock);
}

void joined_unlock(void)
{
	pthread_mutex_unlock(&lock);
	site_unmute();
}

static struct ltt_point *point_of(struct ltt_site *site)
{
	return (struct ltt_point *)((char *)site - offsetof(struct ltt_point, site));
}

static bool point_fits(const struct ltt_point *point, const struct ltt_descriptor *descriptor)
{
	return descriptor->size >= DESCRIPTOR_LEAST && descriptor->event &&
	       descriptor->event->name && strcmp(descriptor->event->name, point->name) == 0 &&
	       strcmp(descriptor->arguments, point->arguments) == 0;
}

/* The descriptor of @described for a point that has none. */
static const struct ltt_descriptor *find_descriptor(const struct ltt_point *point,
						    const struct described *described)
{
	if (!point || point->size < POINT_LEAST || point->site.event)
		return NULL;
	if (!described)
		return point->linked && point_fits(point, point->linked) ? point->linked : NULL;
	for (const struct ltt_descriptor *const *d = described->begin;
	     !point->linked && d < described->end; d++)
		if (*d && point_fits(point, *d))
			return *d;
	return NULL;
}

static void point_take(struct ltt_point *point, const struct ltt_descriptor *descriptor)
{
	const int *level = descriptor->loglevel;

	if (level && *level >= LTT_EMERG && *level <= LTT_DEBUG)
		descriptor->event->loglevel = (uint8_t)*level;
	point->site.event = descriptor->event;
	__atomic_store_n(&point->emit, descriptor->emit, __ATOMIC_RELEASE);
}

/* Without memory they are not recorded. */
static void join(const struct pointing *pointing, const struct described *described)
{
	const size_t most = (size_t)(pointing->end - pointing->begin);
	struct group *group = NULL;

	for (size_t i = 0; i < most; i++) {
		struct ltt_point *point = pointing->begin[i];
		const struct ltt_descriptor *descriptor = find_descriptor(point, described);

		if (!descriptor)
			continue;
		if (!group)
			group = calloc(1, sizeof(*group) + most * sizeof(group->sites[0]));
		if (!group)
			return;
		point_take(point, descriptor);
		group->sites[group->nr++] = &point->site;
	}
	if (!group)
		return;
	group->pointing = pointing;
	group->described = described;
	group->next = groups;
	groups = group;
	sites_register_of(pointing->begin, group->sites, group->sites + group->nr);
}

static struct group *take_group(const struct pointing *pointing, const struct described *described)
{
	struct group **at = &groups;
	struct group *group;

	while (*at && !(pointing && (*at)->pointing == pointing) &&
	       !(described && (*at)->described == described))
		at = &(*at)->next;
	group = *at;
	if (group)
		*at = group->next;
	return group;
}

/* Threads that hit the point from now on find no function, and those inside are waited for: no site
 * may be unregistered while it is in use, and the code is unloaded next. */
static void part(struct group *group)
{
	for (uint32_t i = 0; i < group->nr; i++)
		__atomic_store_n(&point_of(group->sites[i])->emit, NULL, __ATOMIC_SEQ_CST);
	reader_synchronize_code();
	ltt_sites_unregister(group->sites, group->sites + group->nr);
	for (uint32_t i = 0; i < group->nr; i++)
		group->sites[i]->event = NULL;
	free(group);
}

/* With the lock. At exit other threads go on recording, and nothing is unmapped. */
static void part_all(const struct pointing *pointing, const struct described *described)
{
	struct group *group;

	while ((group = take_group(pointing, described))) {
		if (site_is_exiting())
			ltt_sites_unregister(group->sites, group->sites + group->nr);
		else
			part(group);
	}
}

/* Several objects may describe the same event, or have the same point. */
static void join_all(void)
{
	for (struct pointing *p = all_pointing; p && !site_is_exiting(); p = p->next) {
		join(p, NULL);
		for (struct described *d = all_described; d; d = d->next)
			join(p, d);
	}
}

void ltt_points_register(struct ltt_point *const *begin, struct ltt_point *const *end,
			 uint32_t abi)
{
	struct pointing *pointing;

	if (abi != LTT_SITE_ABI || begin >= end)
		return;
	joined_lock();
	pointing = calloc(1, sizeof(*pointing));
	if (pointing) {
		pointing->begin = begin;
		pointing->end = end;
		pointing->next = all_pointing;
		all_pointing = pointing;
		join_all();
	}
	joined_unlock();
}

void ltt_descriptors_register(const struct ltt_descriptor *const *begin,
			      const struct ltt_descriptor *const *end, uint32_t abi)
{
	struct described *described;

	if (abi != LTT_SITE_ABI || begin >= end)
		return;
	joined_lock();
	described = calloc(1, sizeof(*described));
	if (described) {
		described->begin = begin;
		described->end = end;
		described->next = all_described;
		all_described = described;
		join_all();
	}
	joined_unlock();
}

void ltt_points_unregister(struct ltt_point *const *begin)
{
	struct pointing **at = &all_pointing;
	struct pointing *pointing;

	joined_lock();
	while (*at && (*at)->begin != begin)
		at = &(*at)->next;
	pointing = *at;
	if (pointing) {
		*at = pointing->next;
		part_all(pointing, NULL);
		free(pointing);
		join_all();
	}
	joined_unlock();
}

void ltt_descriptors_unregister(const struct ltt_descriptor *const *begin)
{
	struct described **at = &all_described;
	struct described *described;

	joined_lock();
	while (*at && (*at)->begin != begin)
		at = &(*at)->next;
	described = *at;
	if (described) {
		*at = described->next;
		part_all(NULL, described);
		free(described);
		join_all();
	}
	joined_unlock();
}

unsigned int ltt_point_enter(void)
{
	return reader_enter_calling(__builtin_frame_address(0));
}

void ltt_point_leave(unsigned int token)
{
	reader_exit_calling(token);
}
