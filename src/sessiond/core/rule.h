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
#include "base/list.h"
#include "proto/enums.h"

#define RULE_MAX_PATTERN 255u
#define RULE_MAX_LOCATION 1023u
#define RULE_MAX_FETCH 2048u
#define RULE_MAX_FILE 4095u
#define RULE_MAX_FILTER 4096u
#define RULE_MAX_BY 511u
#define RULE_BY_FIELDS 2u
#define RULE_MAX_PLACES 32768u
#define RULE_MAX_EXCLUDE 32768u

/** The attributes of a rule. All but the filter and the sampling distinguish rules of a channel. */
struct rule_spec {
	const char *pattern;
	const char *exclude; /* globs, comma-separated; may be empty */
	enum loglevel_type loglevel_type;
	int loglevel;
	enum rule_kind kind;  /* RULE_EVENTS, or the pattern is the name of the probe */
	const char *location; /* place of a probe; else NULL or empty */
	const char *fetch;    /* additional values to record there; NULL or empty: none */
	const char *file;     /* of RULE_USER: the program, */
	const char *places;   /* and the places in it, as in client.def; else NULL or empty */
	const char *filter;   /* as in client.def; NULL or empty: none */
	const char *sampling; /* as in sampling.h; NULL or empty: none */
	const char *by;	      /* of rules that count: fields of the key; NULL or empty: none */
};

struct rule {
	struct list_node node;
	char *pattern;
	char *exclude;
	enum loglevel_type loglevel_type;
	int loglevel;
	enum rule_kind kind;
	char *location, *fetch, *file, *places;
	char *filter;	/* empty: none */
	char *sampling; /* empty: none */
	char *by;	/* empty: one count for all events */
	bool enabled;
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

/** Return: 0 or the code set in @err. */
int rule_spec_check(const struct rule_spec *spec, struct err *err);
struct rule *rule_new(const struct rule_spec *spec);
struct rule *rule_free(struct rule *rule);
/** Set the filter, or the sampling. Return: whether it has changed. */
bool rule_set_filter(struct rule *rule, const char *filter);
bool rule_set_sampling(struct rule *rule, const char *sampling);
bool rule_is(const struct rule *rule, const struct rule_spec *spec);
/** Whether the rule matches points of this name and level, regardless of `enabled`. */
bool rule_matches(const struct rule *rule, const char *name, int loglevel);

#endif
