/* SPDX-License-Identifier: GPL-2.0-only */
/* rows.h - the map channels of a session as objects, with the values that the options of
 * show-maps choose, and the sums of them. */
#ifndef CTL_MAP_ROWS_H
#define CTL_MAP_ROWS_H

#include "ctl/ctl.h"

struct ltt_ctl_map;

/** The values that are added up in one row: those of a key, */
enum map_per {
	MAP_PER_CHANNEL, /* all of them, */
	MAP_PER_OWNER,	 /* of one owner, */
	MAP_PER_CPU,	 /* of one part of all owners' memory, */
	MAP_PER_PART,	 /* or of one owner and part */
};

/** Which values; lists that are empty choose all. */
struct map_choice {
	const char *const *channels; /* names; NULL at the end; NULL: no list, as below */
	const char *const *keys, *const *globs; /* of keys: one of both must match */
	bool domains[DOMAIN_USER + 1];		/* none: all */
	const uint32_t *uids, *pids, *parts;
	size_t nr_uids, nr_pids, nr_parts;
	bool all_uids, all_pids, shared, system; /* further owners; none: all */
	bool changed;				 /* only values that are not 0 */
	enum map_per per;
	bool by_value, descending; /* order of the rows; else by key */
	uint64_t limit;		   /* rows of a map channel; 0: all */
};

/** The attributes of a map channel, as in files of saved sessions. */
struct json_object *map_json(const struct ltt_ctl_map *map);
/** Fetch the map channels of a session: an array of objects in @ret. Return: 0 or the code in
 *  ctl->err: also if a channel that is chosen does not exist. */
int map_fetch(struct ctl *ctl, const char *session, const struct map_choice *choice,
	      struct json_object **ret) MUST_CHECK;

#endif
