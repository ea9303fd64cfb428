/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel.h - a channel: most attributes never change, event rules do.
 * Owned by its session; part of the model of ltt-sessiond; pure.
 */
#ifndef CORE_CHANNEL_H
#define CORE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "model/types.h"
#include "proto/enums.h"
#include "rule.h"

#define CHANNEL_DEFAULT_NAME "channel0"

/** The attributes of a channel that a request has. */
struct channel_attr {
#define ASKED(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/channel.def"
};

/** The limits of the machine. */
struct channel_limits {
	unsigned int nr_cpus;
	uint64_t memory; /* bytes; 0: unknown */
};

/** A channel. Its texts are its own, and not NULL. */
struct channel {
	struct list_node node;
	uint32_t number; /* in its session, never reused: the CTF stream class */
	char *name;
	enum domain_id domain;
	struct list_node rules; /* struct rule */
	uint32_t nr_rules;
	struct idmap by_name;	   /* rules, by the hash of their patterns */
	struct list_node patterns; /* rules whose patterns are not the name of one event */
	uint32_t nr_counting;	   /* rules that count */
	struct list_node unsaved;  /* rules that the session's state lacks, or has as they were */
#define EACH(type, name, init, doc) MODEL_TYPE_##type name;
#include "model/channel.def"
};

/** Sub-buffers in the rings of a process that needs its own, beside those of its user. Of such
 *  processes there may be many: rings that are large by default would take all memory. */
uint32_t channel_private_subbufs(const struct channel *channel);
/** Set large buffer sizes if none is given: @bytes at most for all CPUs together. Sizes below the
 *  default are not set. */
void channel_attr_roomy(struct channel_attr *attr, uint64_t bytes,
			const struct channel_limits *limits);
/**
 * channel_attr_resolve() - convert requested to actual attributes: fill in defaults, round, check.
 * Return: 0 or the code set in @err, whose message names the limit.
 */
int channel_attr_resolve(struct channel_attr *attr, enum domain_id domain,
			 const struct channel_limits *limits, struct err *err);
/** Whether the channel has the requested attributes (0: any). */
bool channel_attr_agrees(const struct channel_attr *has, const struct channel_attr *asked);

struct channel *channel_new(const char *name, enum domain_id domain,
			    const struct channel_attr *attr);
/** The attributes of an existing channel. */
struct channel_attr channel_attr_of(const struct channel *channel);
struct channel *channel_free(struct channel *channel);

/** A walk over the rules that may match a name, in their order: a channel may have thousands of
 *  rules with one name each, of which an application's point passes none. */
struct rule_walk {
	const struct channel *channel;
	const struct idmap_node *named;	 /* the next one of the name's hash, or NULL */
	const struct list_node *pattern; /* the next one of all others */
};

void rule_walk_begin(struct rule_walk *walk, const struct channel *channel, const char *name);
/** Return: NULL at the end. */
const struct rule *rule_walk_next(struct rule_walk *walk);

struct rule *channel_find_rule(struct channel *channel, const struct rule_spec *spec);
struct rule *channel_add_rule(struct channel *channel, const struct rule_spec *spec);
/** A rule has changed: the next save of the session has it. */
void channel_rule_changed(struct channel *channel, struct rule *rule);
bool channel_has_context(const struct channel *channel, const char *name);
uint32_t channel_nr_contexts(const struct channel *channel);
/** @name: a context that the channel does not have yet; without a comma. */
void channel_add_context(struct channel *channel, const char *name);
/** The filters of the enabled rules that record points of a name and level, one on each line; NULL:
 *  a rule has neither filter nor sampling, or no rule matches. The filter of a rule that samples is
 *  followed by its sampling and, if they are needed, the rule's number and @starts, each after a
 *  tab. To be freed. */
char *channel_filter(const struct channel *channel, const char *name, int loglevel,
		     uint32_t starts);
/** The same for an event, of the rules for which @records returns true. */
char *channel_filter_by(const struct channel *channel,
			bool (*records)(const struct rule *rule, const void *event),
			const void *event, uint32_t starts);
/** The line of one rule; NULL: it has neither filter nor sampling. To be freed. */
char *channel_filter_of_rule(const struct rule *rule, uint32_t starts);
/** Check that the channel's limit of rules with a rate or number of events allows the sampling of
 *  @spec, for an existing or a new rule. Return: 0 or the code set in @err. */
int channel_check_budget(struct channel *channel, const struct rule_spec *spec, struct err *err);
/** Whether the channel is enabled, and an enabled rule of it matches points of a name and level. */
bool channel_wants(const struct channel *channel, const char *name, int loglevel);

#endif
