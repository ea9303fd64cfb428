/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map.h - a map channel: keys, each with a value that matching events increment, and no records.
 * The keys are made of the names of events by the templates of triggers (ACTION_INCR_MAP). Owned by
 * its session; part of the model of ltt-sessiond; pure. The values are in the domain's memory.
 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "model/types.h"
#include "proto/enums.h"

#define MAP_MAX_KEYS 1048576u
#define MAP_MAX_TEMPLATE 255u

struct rule;

/** The attributes of a map channel that a request has. */
struct map_attr {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/map.def"
};

/** Events that increment keys. @rule, @key: of a trigger, which outlives this; @key: template. */
struct map_rule {
	const struct rule *rule;
	const char *key;
};

struct map {
	struct list_node node;
	uint32_t number; /* in its session */
	char *name;
	enum domain_id domain;
	struct map_rule *rules; /* in the order of the triggers and their actions */
	uint32_t nr_rules;
	uint32_t nr_keys; /* set by the domain */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/map.def"
};

/** Fill in defaults, and check. Return: 0 or the code set in @err. */
int map_attr_resolve(struct map_attr *attr, enum domain_id domain, struct err *err) MUST_CHECK;
struct map *map_new(const char *name, enum domain_id domain, uint32_t number,
		    const struct map_attr *attr);
struct map *map_free(struct map *map);
void map_add_rule(struct map *map, const struct rule *rule, const char *key);
/** Return: 0 or the code set in @err. */
int map_template_check(const char *key, struct err *err) MUST_CHECK;
/** The key of an event, by a template that is checked. To be freed. */
char *map_key(const char *key, const char *event);

#endif
