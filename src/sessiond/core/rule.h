/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rule.h - an event rule: which instrumentation points a channel records.
 * Owned by its channel; part of the model of ltt-sessiond; pure.
 */
#ifndef CORE_RULE_H
#define CORE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "model/types.h"
#include "proto/enums.h"

#define RULE_MAX_PATTERN 255u
#define RULE_MAX_LOCATION 1023u
#define RULE_MAX_FETCH 2048u
#define RULE_MAX_FILE 4095u
#define RULE_MAX_FILTER 4096u
#define RULE_MAX_BY 511u
#define RULE_MAX_LOGGER 1023u
#define RULE_BY_FIELDS 2u
#define RULE_MAX_PLACES 32768u
#define RULE_MAX_EXCLUDE 32768u

/** The attributes of a rule that a request has. Texts are borrowed; NULL: empty. */
struct rule_spec {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/rule.def"
};

/** A rule. Its texts are its own, and not NULL. */
struct rule {
	struct list_node node;
	uint32_t number; /* in its channel, in the order of the rules, which are never removed */
	struct idmap_node by_name;    /* by its pattern */
	struct list_node in_patterns; /* of a rule whose pattern is not the name of one event */
	struct list_node unsaved;     /* in its channel's list: the session's state lacks it */
	size_t saved_bytes;	      /* of it in the state, */
	size_t next_bytes;	      /* if the next save succeeds */
	bool counted_before; /* it counts, and earlier counts ended with their session daemon */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/rule.def"
};

/** Whether rules of the kind select existing events. Others create events. */
static inline bool rule_chooses(enum rule_kind kind)
{
	return kind == RULE_EVENTS || kind == RULE_COUNT || kind == RULE_HISTOGRAM;
}
/** Whether rules of the kind count events instead of recording them. */
static inline bool rule_counts(enum rule_kind kind)
{
	return kind == RULE_COUNT || kind == RULE_HISTOGRAM;
}

/** Field @number of the key @by, in @buf of RULE_MAX_BY + 1 bytes. Return: false: the key has fewer
 *  fields. */
bool rule_by_field(const char *by, uint32_t number, char *buf);
/** Fields of the key. */
uint32_t rule_nr_by(const char *by);

/** The name by which it is disabled. */
static inline const char *rule_handle(const struct rule *rule)
{
	return *rule->logger ? rule->logger : rule->pattern;
}

/** Return: 0 or the code set in @err. */
int rule_spec_check(const struct rule_spec *spec, struct err *err);
struct rule *rule_new(const struct rule_spec *spec);
struct rule *rule_free(struct rule *rule);
/** Bytes of memory that a rule with these attributes takes. */
uint64_t rule_bytes(const struct rule_spec *spec);
/** The attributes of a rule, with its texts. */
struct rule_spec rule_spec_of(const struct rule *rule);
/** Whether it is the rule that a request means: one with the same attributes but those that a
 *  request changes. */
bool rule_is(const struct rule *rule, const struct rule_spec *spec);
/** Whether the request means the same place of a program, of which another file is there now. */
bool rule_is_outdated(const struct rule *rule, const struct rule_spec *spec);
/** Set the attributes that a request changes. Return: whether one has changed. */
bool rule_change(struct rule *rule, const struct rule_spec *spec);
/** Whether the rule matches points of this name and level, regardless of `enabled`. */
bool rule_matches(const struct rule *rule, const char *name, int loglevel);
/** Whether there is a name that both patterns match. */
bool rule_patterns_meet(const char *a, const char *b);

#endif
