/* SPDX-License-Identifier: GPL-2.0-only */
#include "map.h"

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "ctl/print/json.h"
#include "row.h"

static const struct mi_word group_types[] = {
	{ "system", "kernel-global" },
	{ "user", "user-per-user" },
	{ "process", "user-per-process" },
	{ NULL, "shared" },
};
static const struct mi_word effective[] = {
	{ "signed-int-32", "signed-int-32" },
	{ NULL, "signed-int-64" },
};

/* @value: one of the owner; NULL: of the kernel. */
static struct json_object *mi_map_group(struct json_object *map, struct json_object *value)
{
	static const struct mi_row type[] = { { "type", "owner", MI_WORD, group_types }, { 0 } };
	static const struct mi_row size[] = {
		{ "effective_value_type", "value_type", MI_WORD, effective }, { 0 }
	};
	bool process = json_get(value, "pid") != NULL;
	struct json_object *o = mi_object(type, value);

	mi_take(o, size, map);
	if (!process && strcmp(json_str(value, "owner"), "user") != 0)
		return o;
	json_set_num(o, "owner_id", json_num(value, process ? "pid" : "uid"));
	json_set_str(o, "owner_name", "");
	return o;
}

static struct json_object *mi_map_row(struct json_object *value)
{
	static const struct mi_row rows[] = { { "@has_overflow", "wrapped", MI_FLAG, NULL },
					      { 0 } };
	struct json_object *o = json_object_new_object(), *number = json_object_new_object();

	json_set_str(o, "key", json_str(value, "map_key"));
	mi_take(number, rows, value);
	json_set(number, "", json_object_get(json_get(value, "value")));
	json_set(o, "value", number);
	return o;
}

static bool mi_map_same(struct json_object *a, struct json_object *b)
{
	static const char *const numbers[] = { "uid", "pid", "part" };
	bool same = strcmp(json_str(a, "owner"), json_str(b, "owner")) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		same &= json_num(a, numbers[i]) == json_num(b, numbers[i]);
	return same;
}

/* @first: the first of its values; NULL: it has none. */
static struct json_object *mi_map_table(struct json_object *session, struct json_object *map,
					struct json_object *first)
{
	static const struct mi_row names[] = {
		{ "channel_name", "name", MI_TEXT, NULL },
		{ "channel_type", "domain", MI_TEXT, NULL },
		{ 0 },
	};
	struct json_object *o = mi_one("session_name", json_object_get(session));
	struct json_object *part = json_get(first, "part"), *parts = json_object_new_object();

	mi_take(o, names, map);
	if (json_get(first, "owner"))
		json_set(o, "map_group", mi_map_group(map, first));
	else
		json_set(o, "map_groups", json_object_new_object());
	if (part && !json_get(first, "owner"))
		json_append(parts, "part_id", json_object_get(part));
	if (part && json_get(first, "owner"))
		json_set(o, "part_id", json_object_get(part));
	else
		json_set(o, "part_ids", json_object_get(parts));
	json_object_put(parts);
	json_set(o, "rows", json_object_new_object());
	for (size_t i = 0; i < json_len(map, "values"); i++)
		if (mi_map_same(json_at(map, "values", i), first))
			json_append(json_get(o, "rows"), "row",
				    mi_map_row(json_at(map, "values", i)));
	return o;
}

static const char *mi_map_kind(struct json_object *first)
{
	if (!json_get(first, "owner"))
		return "per_channel_map_table";
	return json_get(first, "part") ? "per_part_map_table" : "per_owner_map_table";
}

static void mi_map_add(struct json_object *tables, struct json_object *session,
		       struct json_object *map)
{
	if (!json_len(map, "values"))
		json_append(tables, mi_map_kind(NULL), mi_map_table(session, map, NULL));
	for (size_t i = 0; i < json_len(map, "values"); i++) {
		struct json_object *first = json_at(map, "values", i);
		size_t k = 0;

		while (k < i && !mi_map_same(json_at(map, "values", k), first))
			k++;
		if (k == i)
			json_append(tables, mi_map_kind(first), mi_map_table(session, map, first));
	}
}

struct json_object *mi_map_tables(struct json_object *record)
{
	struct json_object *tables = json_object_new_object();

	for (size_t i = 0; i < json_len(record, "map_channels"); i++)
		mi_map_add(tables, json_get(record, "session"), json_at(record, "map_channels", i));
	return tables;
}
