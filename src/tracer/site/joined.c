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

/** struct further - the point of a descriptor of an event that @first has another one of. */
struct further {
	struct ltt_point point;
	struct ltt_point *first;
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

static void point_take(struct ltt_point *point, const struct ltt_descriptor *descriptor)
{
	const int *level = descriptor->loglevel;

	if (level && *level >= LTT_EMERG && *level <= LTT_DEBUG)
		descriptor->event->loglevel = (uint8_t)*level;
	point->site.event = descriptor->event;
	__atomic_store_n(&point->emit, descriptor->emit, __ATOMIC_RELEASE);
}

/* --- points of further descriptors ------------------------------------------------------ */

static struct ltt_point *point_next(const struct ltt_point *point)
{
	return __atomic_load_n(&point->more, __ATOMIC_SEQ_CST);
}

static bool more_is_wanted(const struct ltt_point *first)
{
	for (const struct ltt_point *p = point_next(first); p; p = point_next(p))
		if (__atomic_load_n(&p->site.armed, __ATOMIC_SEQ_CST) & LTT_SITE_LISTENED)
			return true;
	return false;
}

/* Another thread may do the same: each checks after its store, so that the last store is right. */
static void more_update(struct ltt_point *first)
{
	bool wanted;

	do {
		wanted = more_is_wanted(first);
		if (wanted)
			__atomic_or_fetch(&first->site.armed, LTT_SITE_MORE, __ATOMIC_SEQ_CST);
		else
			__atomic_and_fetch(&first->site.armed, ~LTT_SITE_MORE, __ATOMIC_SEQ_CST);
	} while (wanted != more_is_wanted(first));
}

static struct further *further_of(struct ltt_point *point)
{
	return (struct further *)((char *)point - offsetof(struct further, point));
}

static void further_changed(struct ltt_site *site, int listened)
{
	(void)listened;
	more_update(further_of(point_of(site))->first);
}

static bool point_is_further(const struct ltt_point *point)
{
	return point->site.changed == further_changed;
}

static struct ltt_point *further_new(struct ltt_point *first,
				     const struct ltt_descriptor *descriptor)
{
	struct further *further = calloc(1, sizeof(*further));
	struct ltt_point *last = first;

	if (!further)
		return NULL;
	further->first = first;
	further->point.size = sizeof(further->point);
	further->point.name = first->name;
	further->point.arguments = first->arguments;
	further->point.site.size = sizeof(further->point.site);
	further->point.site.changed = further_changed;
	point_take(&further->point, descriptor);
	while (last->more)
		last = last->more;
	__atomic_store_n(&last->more, &further->point, __ATOMIC_SEQ_CST);
	return &further->point;
}

static void further_unlink(struct ltt_point *point)
{
	struct ltt_point *at = further_of(point)->first;

	while (at->more != point)
		at = at->more;
	__atomic_store_n(&at->more, point->more, __ATOMIC_SEQ_CST);
}

/* --- joining ------------------------------------------------------------------------------ */

static bool point_records(const struct ltt_point *point, const struct ltt_event *event)
{
	while (point && point->site.event != event)
		point = point->more;
	return point;
}

/* A descriptor of @described for a point that has not got it. */
static const struct ltt_descriptor *find_descriptor(const struct ltt_point *point,
						    const struct described *described)
{
	if (!point || point->size < POINT_LEAST)
		return NULL;
	if (!described)
		return point->linked && !point->site.event && point_fits(point, point->linked) ?
			       point->linked :
			       NULL;
	for (const struct ltt_descriptor *const *d = described->begin; d < described->end; d++)
		if (*d && point_fits(point, *d) && !point_records(point, (*d)->event))
			return *d;
	return NULL;
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
		if (point->site.event)
			point = further_new(point, descriptor);
		else
			point_take(point, descriptor);
		if (point)
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

/* It has been unregistered, which has changed its armed word. */
static void point_release(struct ltt_point *point)
{
	if (point_is_further(point)) {
		more_update(further_of(point)->first);
		free(further_of(point));
	} else {
		point->site.event = NULL;
		more_update(point);
	}
}

/* Threads that hit the point from now on find no function, and those inside are waited for: no site
 * may be unregistered while it is in use, and the code is unloaded next. */
static void part(struct group *group)
{
	for (uint32_t i = 0; i < group->nr; i++) {
		struct ltt_point *point = point_of(group->sites[i]);

		__atomic_store_n(&point->emit, NULL, __ATOMIC_SEQ_CST);
		if (point_is_further(point))
			further_unlink(point);
	}
	reader_synchronize_code();
	ltt_sites_unregister(group->sites, group->sites + group->nr);
	for (uint32_t i = 0; i < group->nr; i++)
		point_release(point_of(group->sites[i]));
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
