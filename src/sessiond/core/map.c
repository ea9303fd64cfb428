/* SPDX-License-Identifier: GPL-2.0-only */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "base/mem.h"
#include "base/str.h"

#define MAP_DEFAULT_KEYS 4096u

/* --- attributes --------------------------------------------------------------------- */

int map_attr_resolve(struct map_attr *attr, enum domain_id domain, struct err *err)
{
	if ((unsigned int)attr->value_type >= MAP_VALUE_NR_KINDS ||
	    (unsigned int)attr->update >= MAP_UPDATE_NR_KINDS ||
	    (unsigned int)attr->dead >= MAP_DEAD_NR_KINDS ||
	    (unsigned int)attr->ownership > OWNERSHIP_GLOBAL)
		return err_set(err, ERR_INVALID, "unknown attribute of a map channel");
	if (attr->max_keys > MAP_MAX_KEYS)
		return err_set(err, ERR_INVALID, "a map channel has at most %u keys", MAP_MAX_KEYS);
	if (domain == DOMAIN_USER && attr->ownership == OWNERSHIP_GLOBAL)
		return err_set(err, ERR_INVALID,
			       "values of applications belong to users or "
			       "processes");
	if (attr->dead != MAP_DEAD_DEFAULT && attr->ownership != OWNERSHIP_PROCESS)
		return err_set(err, ERR_INVALID,
			       "--dead-process-policy is for values of processes: add "
			       "--buffer-ownership=process");
	if (attr->value_type == MAP_VALUE_DEFAULT)
		attr->value_type = MAP_VALUE_INT_MAX;
	if (attr->ownership == OWNERSHIP_DEFAULT)
		attr->ownership = OWNERSHIP_USER;
	if (attr->update == MAP_UPDATE_DEFAULT)
		attr->update = MAP_UPDATE_PER_EVENT;
	if (attr->dead == MAP_DEAD_DEFAULT)
		attr->dead = MAP_DEAD_SUM;
	if (!attr->max_keys)
		attr->max_keys = MAP_DEFAULT_KEYS;
	return 0;
}

struct map *map_new(const char *name, enum domain_id domain, uint32_t number,
		    const struct map_attr *attr)
{
	struct map *map = xalloc(sizeof(*map));

	list_init(&map->node);
	map->name = xstrdup(name);
	map->domain = domain;
	map->number = number;
#define EACH(type, name, init, doc) map->name = attr->name;
#include "model/map.def"
	return map;
}

struct map *map_free(struct map *map)
{
	if (!map)
		return NULL;
	list_remove(&map->node);
	free(map->rules);
	free(map->name);
	free(map);
	return NULL;
}

void map_add_rule(struct map *map, const struct rule *rule, const char *key)
{
	map->rules = xrealloc(map->rules, (map->nr_rules + 1) * sizeof(*map->rules));
	map->rules[map->nr_rules++] = (struct map_rule){ rule, key };
}

/* --- keys --------------------------------------------------------------------------- */

/** Pieces of a template: text, or a name in braces. */
enum map_piece {
	MAP_TEXT,
	MAP_EVENT,
	MAP_PROVIDER,
	MAP_INVALID,
};

static bool map_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The piece at @at. @ret_len: its length in the template. */
static enum map_piece map_piece_at(const char *at, size_t *ret_len)
{
	static const char event[] = "{event_name}", provider[] = "{provider_name}";

	*ret_len = 2;
	if (map_has_prefix(at, "{{") || map_has_prefix(at, "}}"))
		return MAP_TEXT;
	*ret_len = sizeof(event) - 1;
	if (map_has_prefix(at, event))
		return MAP_EVENT;
	*ret_len = sizeof(provider) - 1;
	if (map_has_prefix(at, provider))
		return MAP_PROVIDER;
	*ret_len = 1;
	return *at == '{' || *at == '}' ? MAP_INVALID : MAP_TEXT;
}

int map_template_check(const char *key, struct err *err)
{
	size_t len;

	if (!*key || strlen(key) > MAP_MAX_TEMPLATE)
		return err_set(err, ERR_INVALID, "a template of keys has 1 to %u bytes",
			       MAP_MAX_TEMPLATE);
	for (const char *at = key; *at; at += len)
		if (map_piece_at(at, &len) == MAP_INVALID)
			return err_set(err, ERR_INVALID,
				       "'%s' is not a template of keys: in braces there is "
				       "{event_name} or {provider_name}; a brace is written twice",
				       key);
	return 0;
}

char *map_key(const char *key, const char *event)
{
	const char *colon = strchr(event, ':'), *name = colon ? colon + 1 : event;
	int provider = colon ? (int)(colon - event) : 0;
	char *all = xstrdup("");
	size_t len;

	for (const char *at = key; *at; at += len) {
		enum map_piece piece = map_piece_at(at, &len);
		char *longer = piece == MAP_EVENT    ? xasprintf("%s%s", all, name) :
			       piece == MAP_PROVIDER ? xasprintf("%s%.*s", all, provider, event) :
						       xasprintf("%s%c", all, *at);

		free(all);
		all = longer;
	}
	return all;
}
