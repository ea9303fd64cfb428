/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map.h - the values of map channels that applications increment. Each user's applications have
 * memory for them in a session (counts.h), in areas of MAP_AREA_WORDS values; an index of the area,
 * which applications do not have, has the key of each value. The keeper has both, so that a daemon
 * that takes over continues with the same values. A value is never moved: the end of a process only
 * changes the way in which its values are read. Owned by the session; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_MAP_H
#define DOMAIN_USER_MAP_H

#include "counts.h"
#include "sessiond/core/map.h"
#include "sessiond/domain/domain.h"

#define MAP_AREA_WORDS 512u

struct user_link;

struct user_maps {
	struct list_node areas; /* struct map_area */
	struct list_node keys;	/* struct map_key, in the order of their creation */
	struct idmap by_text;	/* the same */
	uint32_t nr_areas;
};

void user_maps_init(struct user_maps *maps);
/** Find the memory of an earlier daemon. */
void user_maps_restore(struct user_session *us);
void user_maps_free(struct user_session *us);
/** Put all areas into a new keeper. */
void user_maps_keep(const struct user_session *us);
/** The value that the application increments for a key. @lane: number of the increment, if an event
 *  increments the key more than once. @ret_word: in each part of the memory. Return: NULL: there is
 *  no memory, which was reported. */
const struct user_counts *user_map_value(const struct user_link *link, struct map *map,
					 const char *key, uint32_t lane, uint32_t *ret_word);
extern const struct domain_map_ops user_map_ops;

#endif
