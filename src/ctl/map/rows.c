/* SPDX-License-Identifier: GPL-2.0-only */
#include "rows.h"

#include <ltt/control.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/words.h"

struct json_object *map_json(const struct ltt_ctl_map *map)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, map, name);
	json_set_str(o, "domain", json_domain(map->domain));
	json_map_attributes(o, map);
	return o;
}

/* --- the chosen values -------------------------------------------------------------------- */

/* Of a value, or of several that are added up: those with the same @key, owner and @part. */
struct map_row {
	const char *key;
	uint32_t uid, pid, part;
	bool shared, wrapped;
	uint64_t value;
};

struct map_rows {
	const struct map_choice *choice;
	struct map_row *rows;
	size_t nr, cap;
};

static bool map_has_name(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool map_has_number(const uint32_t *numbers, size_t nr, uint32_t number)
{
	for (size_t i = 0; i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool map_takes_key(const struct map_choice *choice, const char *key)
{
	if (!choice->keys && !choice->globs)
		return true;
	for (const char *const *glob = choice->globs; glob && *glob; glob++)
		if (glob_match(*glob, key))
			return true;
	return map_has_name(choice->keys, key);
}

static bool map_takes_owner(const struct map_choice *c, const struct ltt_ctl_map *map,
			    const struct ltt_ctl_map_value *value)
{
	bool user = map->domain == LTT_CTL_USER && !value->pid && !value->shared;

	if (!c->nr_uids && !c->nr_pids && !c->all_uids && !c->all_pids && !c->shared && !c->system)
		return true;
	return (user && (c->all_uids || map_has_number(c->uids, c->nr_uids, value->uid))) ||
	       (value->pid && (c->all_pids || map_has_number(c->pids, c->nr_pids, value->pid))) ||
	       (c->shared && value->shared) || (c->system && map->domain == LTT_CTL_KERNEL);
}

static bool map_takes_channel(const struct map_choice *choice, const struct ltt_ctl_map *map)
{
	bool any_domain = !choice->domains[DOMAIN_KERNEL] && !choice->domains[DOMAIN_USER];

	return (!choice->channels || map_has_name(choice->channels, map->name)) &&
	       (any_domain || choice->domains[map->domain]);
}

static void map_add_row(struct map_rows *rows, const struct ltt_ctl_map_value *value, uint32_t part,
			uint64_t number)
{
	const enum map_per per = rows->choice->per;
	const bool owner = per == MAP_PER_OWNER || per == MAP_PER_PART;

	if (rows->nr == rows->cap) {
		rows->cap = MAX(2 * rows->cap, (size_t)64);
		rows->rows = xrealloc(rows->rows, rows->cap * sizeof(*rows->rows));
	}
	rows->rows[rows->nr++] = (struct map_row){
		.key = value->key,
		.uid = owner ? value->uid : 0,
		.pid = owner ? value->pid : 0,
		.shared = owner && value->shared,
		.part = per == MAP_PER_CPU || per == MAP_PER_PART ? part : 0,
		.value = number,
	};
}

/* A value that nothing has incremented has no parts. */
static void map_add_value(struct map_rows *rows, const struct ltt_ctl_map_value *value)
{
	const struct map_choice *c = rows->choice;
	const bool parts = c->per == MAP_PER_CPU || c->per == MAP_PER_PART;

	if (!parts && !c->nr_parts)
		map_add_row(rows, value, 0, 0);
	for (size_t i = 0; i < value->nr_parts; i++) {
		const struct ltt_ctl_map_part *part = value->parts[i];

		if (!c->nr_parts || map_has_number(c->parts, c->nr_parts, part->number))
			map_add_row(rows, value, part->number, part->value);
	}
}

static int map_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int map_compare(const void *a, const void *b)
{
	const struct map_row *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = map_compare_numbers(x->shared, y->shared);
	if (!order)
		order = map_compare_numbers(x->uid, y->uid);
	if (!order)
		order = map_compare_numbers(x->pid, y->pid);
	return order ? order : map_compare_numbers(x->part, y->part);
}

static void map_merge(struct map_rows *rows)
{
	size_t nr = 0;

	if (rows->nr)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), map_compare);
	for (size_t i = 0; i < rows->nr; i++) {
		if (nr && map_compare(&rows->rows[nr - 1], &rows->rows[i]) == 0)
			rows->rows[nr - 1].value += rows->rows[i].value;
		else
			rows->rows[nr++] = rows->rows[i];
	}
	rows->nr = nr;
}

/* --- values as the map has them ------------------------------------------------------------- */

static int64_t map_wrapped(const struct ltt_ctl_map *map, uint64_t value)
{
	return map->value_type == LTT_CTL_MAP_INT_32 ? (int32_t)value : (int64_t)value;
}

static bool map_has_wrapped(const struct ltt_ctl_map *map, uint64_t value)
{
	return value > (map->value_type == LTT_CTL_MAP_INT_32 ? INT32_MAX : INT64_MAX);
}

static int map_compare_values(const void *a, const void *b)
{
	const struct map_row *x = a, *y = b;
	int64_t m = (int64_t)x->value, n = (int64_t)y->value;

	return m != n ? (m > n) - (m < n) : map_compare(a, b);
}

static struct json_object *map_row_json(const struct map_choice *choice,
					const struct ltt_ctl_map *map, const struct map_row *row)
{
	struct json_object *o = json_object_new_object();
	const bool parts = choice->per == MAP_PER_CPU || choice->per == MAP_PER_PART;

	json_set_str(o, "map_key", row->key);
	json_set(o, "value", json_object_new_int64((int64_t)row->value));
	json_set_bool(o, "wrapped", row->wrapped);
	if (choice->per == MAP_PER_OWNER || choice->per == MAP_PER_PART) {
		json_set_str(o, "owner",
			     map->domain == LTT_CTL_KERNEL ? "system" :
			     row->shared		   ? "shared" :
			     row->pid			   ? "process" :
							     "user");
		if (map->domain != LTT_CTL_KERNEL)
			json_set_num(o, "uid", row->uid);
		if (row->pid)
			json_set_num(o, "pid", row->pid);
	}
	if (parts)
		json_set_num(o, "part", row->part);
	return o;
}

/* The values wrap before they are compared. */
static void map_put_rows(struct json_object *o, const struct ltt_ctl_map *map,
			 struct map_rows *rows)
{
	const struct map_choice *c = rows->choice;
	uint64_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		struct map_row *row = &rows->rows[i];

		row->wrapped = map_has_wrapped(map, row->value);
		row->value = (uint64_t)map_wrapped(map, row->value);
	}
	if (c->by_value && rows->nr)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), map_compare_values);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct map_row *row = &rows->rows[c->descending ? rows->nr - 1 - i : i];

		if ((c->changed && !row->value) || (c->limit && nr == c->limit))
			continue;
		json_append(o, "values", map_row_json(c, map, row));
		nr++;
	}
}

static struct json_object *map_fetched(const struct ltt_ctl_map *map,
				       const struct map_choice *choice)
{
	struct map_rows rows = { .choice = choice };
	struct json_object *o = map_json(map);

	json_set_num(o, "key_count", map->keys);
	json_set_num(o, "rule_count", map->rules);
	JSON_COPY(o, map, overflow);
	json_set(o, "values", json_object_new_array());
	for (size_t i = 0; i < map->nr_values; i++)
		if (map_takes_key(choice, map->values[i]->key) &&
		    map_takes_owner(choice, map, map->values[i]))
			map_add_value(&rows, map->values[i]);
	map_merge(&rows);
	map_put_rows(o, map, &rows);
	free(rows.rows);
	return o;
}

static int map_check_channels(struct ctl *ctl, const char *session, const struct map_choice *choice,
			      struct json_object *maps)
{
	for (const char *const *name = choice->channels; name && *name; name++) {
		bool found = false;

		for (size_t i = 0; i < json_object_array_length(maps); i++)
			found |= strcmp(json_str(json_object_array_get_idx(maps, i), "name"),
					*name) == 0;
		if (!found)
			return err_set(&ctl->err, ERR_NO_CHANNEL,
				       "session '%s' has no map channel '%s'; 'lttctl show-maps' "
				       "shows those that exist",
				       session, *name);
	}
	return 0;
}

int map_fetch(struct ctl *ctl, const char *session, const struct map_choice *choice,
	      struct json_object **ret)
{
	struct ltt_ctl_maps *list;

	if (ctl_done(ctl, ltt_ctl_list_maps(ctl->library, session, &list), &ctl->err) != 0)
		return ctl->err.code;
	*ret = json_object_new_array();
	for (size_t i = 0; i < list->nr; i++)
		if (map_takes_channel(choice, list->maps[i]))
			json_object_array_add(*ret, map_fetched(list->maps[i], choice));
	ltt_ctl_maps_free(list);
	if (map_check_channels(ctl, session, choice, *ret) == 0)
		return 0;
	json_object_put(TAKE(*ret));
	return ctl->err.code;
}
