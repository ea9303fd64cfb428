/* SPDX-License-Identifier: GPL-2.0-only */
#include "channel.h"

#include <inttypes.h>
#include <string.h>

#include "attribute.h"
#include "base/mem.h"
#include "base/str.h"
#include "ltt_ring.h"
#include "sampling.h"
#include "trace/packet.h"

/* LTTng's defaults, so that comparisons compare like with like. */
#define USER_SUBBUF_SIZE (512u << 10)
#define KERNEL_SUBBUF_SIZE (1u << 20)
#define PROCESS_SUBBUF_SIZE (16u << 10)
#define NUM_SUBBUF 4u
#define REMEMBERED_BYTES (256u << 10) /* of a process, or of the kernel */

/* Of `lttctl record`: more for a CPU is a delay at the start that no burst is worth. */
#define ROOMY_SUBBUF_SIZE (1u << 20)
#define ROOMY_CPU_BYTES (64u << 20)
#define ROOMY_BYTES (512ull << 20)
#define ROOMY_PRIVATE_SUBBUFS 8u

void channel_attr_roomy(struct channel_attr *attr, uint64_t bytes,
			const struct channel_limits *limits)
{
	uint64_t nr = MIN(bytes, (uint64_t)ROOMY_BYTES) / limits->nr_cpus;

	nr = MIN(nr, (uint64_t)ROOMY_CPU_BYTES) / ROOMY_SUBBUF_SIZE;
	while (nr & (nr - 1))
		nr &= nr - 1; /* a power of two */
	if (nr < NUM_SUBBUF || attr->subbuf_size || attr->num_subbuf)
		return;
	attr->subbuf_size = ROOMY_SUBBUF_SIZE;
	attr->num_subbuf = (uint32_t)nr;
	attr->roomy = true;
}

uint32_t channel_private_subbufs(const struct channel *channel)
{
	return channel->roomy ? MIN(channel->num_subbuf, ROOMY_PRIVATE_SUBBUFS) :
				channel->num_subbuf;
}

static void fill_kernel_defaults(struct channel_attr *attr)
{
	attr->ownership = OWNERSHIP_GLOBAL;
	if (attr->subbuf_size == 0)
		attr->subbuf_size = KERNEL_SUBBUF_SIZE;
	if (attr->num_subbuf == 0)
		attr->num_subbuf = NUM_SUBBUF;
	attr->num_subbuf = MAX(attr->num_subbuf, 2u); /* the module uses the requested size */
}

/* A part for each CPU, and at least a page for each sub-buffer. */
static uint64_t core_channel_remembered_size(const struct channel_limits *limits)
{
	uint64_t size = REMEMBERED_BYTES / NUM_SUBBUF / limits->nr_cpus;

	while (size & (size - 1))
		size &= size - 1; /* a power of two */
	return MAX(size, (uint64_t)LTT_RING_PAGE);
}

static void fill_defaults(struct channel_attr *attr)
{
	if (attr->ownership == OWNERSHIP_DEFAULT)
		attr->ownership = OWNERSHIP_USER;
	if (attr->subbuf_size == 0)
		attr->subbuf_size = attr->ownership == OWNERSHIP_PROCESS ? PROCESS_SUBBUF_SIZE :
									   USER_SUBBUF_SIZE;
	if (attr->num_subbuf == 0)
		attr->num_subbuf = NUM_SUBBUF;
}

static int round_sizes(struct channel_attr *attr, struct err *err)
{
	uint64_t size = round_up_pow2(MAX(attr->subbuf_size, (uint64_t)LTT_RING_PAGE));
	uint64_t num = round_up_pow2(attr->num_subbuf);
	uint64_t limit = 1ull << (LTT_POS_BITS - 2);

	if (size == 0 || size >= limit || num >= limit || size >= limit / num)
		return err_set(err, ERR_INVALID,
			       "--num-subbuf=%u of --subbuf-size=%" PRIu64
			       " are too much: the limit of a buffer is %" PRIu64
			       " GiB for each CPU",
			       attr->num_subbuf, attr->subbuf_size, limit >> 30);
	attr->subbuf_size = size;
	attr->num_subbuf = (uint32_t)num;
	return 0;
}

static int core_channel_check_memory(const struct channel_attr *attr,
				     const struct channel_limits *limits, struct err *err)
{
	uint64_t ring = attr->subbuf_size * attr->num_subbuf;

	if (limits->memory && ring > limits->memory / limits->nr_cpus)
		return err_set(err, ERR_INVALID,
			       "%u x %" PRIu64 " KiB for each of %u CPUs need %" PRIu64
			       " MiB, and this machine has %" PRIu64
			       " MiB; use a smaller --subbuf-size or --num-subbuf",
			       attr->num_subbuf, attr->subbuf_size >> 10, limits->nr_cpus,
			       (ring >> 20) * limits->nr_cpus, limits->memory >> 20);
	return 0;
}

/* The kernel's buffers are shared by all users. */
static int check_ownership(const struct channel_attr *attr, enum domain_id domain, struct err *err)
{
	if ((unsigned int)attr->ownership > OWNERSHIP_GLOBAL)
		return err_set(err, ERR_INVALID, "unknown buffer ownership %d",
			       (int)attr->ownership);
	if (domain == DOMAIN_KERNEL && attr->ownership != OWNERSHIP_DEFAULT &&
	    attr->ownership != OWNERSHIP_GLOBAL)
		return err_set(err, ERR_INVALID,
			       "the kernel has one set of buffers for all; omit --buffers-uid and "
			       "--buffers-pid");
	if (domain == DOMAIN_USER && attr->ownership == OWNERSHIP_GLOBAL)
		return err_set(err, ERR_INVALID,
			       "--buffers-global is for the kernel; use --buffers-uid");
	return 0;
}

/* Of applications in buffers of each process: in shared ones a process could take all the room. */
static int core_channel_check_remember(struct channel_attr *attr, enum domain_id domain,
				       struct err *err)
{
	if (attr->overwrite)
		return err_set(err, ERR_INVALID,
			       "events that are remembered are not overwritten: omit --overwrite, "
			       "or --remember");
	if (domain == DOMAIN_KERNEL) /* check_ownership() */
		return 0;
	if (attr->ownership != OWNERSHIP_DEFAULT && attr->ownership != OWNERSHIP_PROCESS)
		return err_set(err, ERR_INVALID,
			       "events are remembered in buffers of each process; omit "
			       "--buffers-uid");
	attr->ownership = OWNERSHIP_PROCESS;
	return 0;
}

/* The contents of a buffer go into one packet, and no packet into two files: a smaller size
 * could not be kept. */
static uint64_t tracefile_size(uint64_t asked, const struct channel_attr *attr)
{
	return MAX(asked, attr->subbuf_size * attr->num_subbuf + sizeof(struct packet_header));
}

int channel_attr_resolve(struct channel_attr *attr, enum domain_id domain,
			 const struct channel_limits *limits, struct err *err)
{
	int code = check_ownership(attr, domain, err);

	if (code)
		return code;
	if ((unsigned int)attr->output_type > OUTPUT_TYPE_SPLICE)
		return err_set(err, ERR_INVALID, "unknown output type %d", (int)attr->output_type);
	if (attr->tracefile_count && !attr->tracefile_size)
		return err_set(err, ERR_INVALID,
			       "a number of trace files needs their size: add --tracefile-size");
	if (attr->remember) {
		code = core_channel_check_remember(attr, domain, err);
		if (code)
			return code;
		if (!attr->subbuf_size)
			attr->subbuf_size = core_channel_remembered_size(limits);
	}
	(domain == DOMAIN_KERNEL ? fill_kernel_defaults : fill_defaults)(attr);
	code = round_sizes(attr, err);
	if (!code)
		code = core_channel_check_memory(attr, limits, err);
	if (!code && attr->tracefile_size)
		attr->tracefile_size = tracefile_size(attr->tracefile_size, attr);
	return code;
}

bool channel_attr_agrees(const struct channel_attr *has, const struct channel_attr *asked)
{
	uint64_t size = round_up_pow2(MAX(asked->subbuf_size, (uint64_t)LTT_RING_PAGE));

	return (!asked->subbuf_size || size == has->subbuf_size) &&
	       (!asked->num_subbuf || round_up_pow2(asked->num_subbuf) == has->num_subbuf) &&
	       (asked->ownership == OWNERSHIP_DEFAULT || asked->ownership == has->ownership) &&
	       (!asked->tracefile_size ||
		tracefile_size(asked->tracefile_size, has) == has->tracefile_size) &&
	       (!asked->tracefile_count || asked->tracefile_count == has->tracefile_count) &&
	       (!asked->blocking_us || asked->blocking_us == has->blocking_us) &&
	       (!asked->switch_timer_us || asked->switch_timer_us == has->switch_timer_us) &&
	       (asked->output_type == OUTPUT_TYPE_DEFAULT ||
		(asked->output_type == OUTPUT_TYPE_SPLICE) ==
			(has->output_type == OUTPUT_TYPE_SPLICE)) &&
	       (!asked->on_demand || has->on_demand) && (!asked->reclaim || has->reclaim) &&
	       (!asked->reclaim_us || asked->reclaim_us == has->reclaim_us) &&
	       (!asked->remember || has->remember) && asked->overwrite == has->overwrite;
}

struct channel *channel_new(const char *name, enum domain_id domain,
			    const struct channel_attr *attr)
{
	struct channel *channel = xalloc(sizeof(*channel));

	list_init(&channel->node);
	list_init(&channel->rules);
	list_init(&channel->patterns);
	list_init(&channel->unsaved);
	idmap_init(&channel->by_name);
	channel->name = xstrdup(name);
	channel->domain = domain;
#define EACH(type, name, init, doc) channel->name = init;
#include "model/channel.def"
#define ASKED(type, name, init, doc) channel->name = attr->name;
#include "model/channel.def"
#define EACH(type, name, init, doc) ATTRIBUTE_OWN(type, channel->name);
#include "model/channel.def"
	return channel;
}

struct channel_attr channel_attr_of(const struct channel *channel)
{
	return (struct channel_attr){
#define ASKED(type, name, init, doc) .name = channel->name,
#include "model/channel.def"
	};
}

struct channel *channel_free(struct channel *channel)
{
	struct rule *rule, *tmp;

	if (!channel)
		return NULL;
	list_for_each_safe(rule, tmp, &channel->rules, node)
		rule_free(rule);
	idmap_fini(&channel->by_name);
	list_remove(&channel->node);
	free(channel->name);
#define EACH(type, name, init, doc) ATTRIBUTE_FREE(type, channel->name);
#include "model/channel.def"
	free(channel);
	return NULL;
}

struct rule *channel_find_rule(struct channel *channel, const struct rule_spec *spec)
{
	struct idmap_node *node = idmap_find(&channel->by_name, idmap_hash_text(spec->pattern));
	struct rule *rule, *first = NULL;

	for (; node; node = idmap_next(&channel->by_name, node)) {
		rule = container_of(node, struct rule, by_name);
		if (rule_is(rule, spec) && (!first || rule->number < first->number))
			first = rule;
	}
	return first;
}

struct rule *channel_add_rule(struct channel *channel, const struct rule_spec *spec)
{
	struct rule *rule = rule_new(spec);

	list_append(&channel->rules, &rule->node);
	rule->number = channel->nr_rules++;
	channel->nr_counting += rule_counts(rule->kind);
	if (strpbrk(rule->pattern, "*\\"))
		list_append(&channel->patterns, &rule->in_patterns);
	idmap_add(&channel->by_name, &rule->by_name, idmap_hash_text(rule->pattern));
	channel_rule_changed(channel, rule);
	return rule;
}

void channel_rule_changed(struct channel *channel, struct rule *rule)
{
	if (list_empty(&rule->unsaved))
		list_append(&channel->unsaved, &rule->unsaved);
}

bool channel_has_context(const struct channel *channel, const char *name)
{
	const char *at = channel->contexts;
	size_t len = strlen(name);

	for (;;) {
		size_t word = strcspn(at, ",");

		if (word == len && memcmp(at, name, len) == 0)
			return true;
		if (!at[word])
			return false;
		at += word + 1;
	}
}

uint32_t channel_nr_contexts(const struct channel *channel)
{
	uint32_t nr = *channel->contexts != '\0';

	for (const char *at = channel->contexts; *at; at++)
		nr += *at == ',';
	return nr;
}

void channel_add_context(struct channel *channel, const char *name)
{
	char *longer = xasprintf("%s%s%s", channel->contexts, *channel->contexts ? "," : "", name);

	ATTRIBUTE_FREE(names, channel->contexts);
	channel->contexts = longer;
}

/* The next rule behind @node that has one name: a pattern's hash may be that of a name. */
static const struct idmap_node *rule_walk_named(const struct idmap *map,
						const struct idmap_node *node)
{
	while (node && !list_empty(&container_of(node, const struct rule, by_name)->in_patterns))
		node = idmap_next(map, node);
	return node;
}

void rule_walk_begin(struct rule_walk *walk, const struct channel *channel, const char *name)
{
	const struct idmap *map = &channel->by_name;

	walk->channel = channel;
	walk->named = map->nr ? idmap_find(map, idmap_hash_text(name)) : NULL;
	walk->named = rule_walk_named(map, walk->named);
	walk->pattern = channel->patterns.next;
}

const struct rule *rule_walk_next(struct rule_walk *walk)
{
	const struct idmap *map = &walk->channel->by_name;
	const struct rule *named = NULL, *pattern = NULL;

	if (walk->named)
		named = container_of(walk->named, const struct rule, by_name);
	if (walk->pattern != &walk->channel->patterns)
		pattern = container_of(walk->pattern, const struct rule, in_patterns);
	if (named && (!pattern || named->number < pattern->number)) {
		walk->named = rule_walk_named(map, idmap_next(map, walk->named));
		return named;
	}
	if (pattern)
		walk->pattern = walk->pattern->next;
	return pattern;
}

static bool channel_records(const struct rule *rule, const char *name, int loglevel)
{
	return rule->enabled && !rule_counts(rule->kind) && rule_matches(rule, name, loglevel);
}

bool channel_wants(const struct channel *channel, const char *name, int loglevel)
{
	const struct rule *rule;
	struct rule_walk walk;

	if (!channel->enabled)
		return false;
	rule_walk_begin(&walk, channel, name);
	while ((rule = rule_walk_next(&walk)))
		if (channel_records(rule, name, loglevel))
			return true;
	return false;
}

/* One rule's part of channel_filter(). */
static char *core_channel_line(const struct rule *rule, uint32_t starts)
{
	struct err ignored = { 0 };
	struct sampling sampling;

	if (!*rule->sampling || sampling_parse(rule->sampling, &sampling, &ignored))
		return xstrdup(rule->filter);
	return xasprintf("%s\t%s\t%" PRIu32 "\t%" PRIu32, rule->filter, rule->sampling,
			 sampling_has_budget(&sampling) ? rule->number : 0,
			 sampling.first ? starts : 0);
}

char *channel_filter_of_rule(const struct rule *rule, uint32_t starts)
{
	return *rule->filter || *rule->sampling ? core_channel_line(rule, starts) : NULL;
}

static char *core_channel_join(char *before, char *line)
{
	char *both = before ? xasprintf("%s\n%s", before, line) : xstrdup(line);

	free(before);
	free(line);
	return both;
}

/* Add a rule's line to @all. Return: false: it takes every event, and there are no lines. */
static bool core_channel_add(char **all, const struct rule *rule, uint32_t starts)
{
	if (!*rule->filter && !*rule->sampling) {
		free(TAKE(*all));
		return false;
	}
	*all = core_channel_join(*all, core_channel_line(rule, starts));
	return true;
}

/* Those that do not sample come first: an event that they take uses no rule's budget. */
static bool core_channel_is_turn(const struct rule *rule, int sampled)
{
	return !!*rule->sampling == sampled;
}

char *channel_filter_by(const struct channel *channel,
			bool (*records)(const struct rule *rule, const void *event),
			const void *event, uint32_t starts)
{
	const struct rule *rule;
	char *all = NULL;

	for (int sampled = 0; sampled < 2; sampled++)
		list_for_each(rule, &channel->rules, node)
			if (core_channel_is_turn(rule, sampled) && records(rule, event) &&
			    !core_channel_add(&all, rule, starts))
				return NULL;
	return all;
}

char *channel_filter(const struct channel *channel, const char *name, int loglevel, uint32_t starts)
{
	const struct rule *rule;
	struct rule_walk walk;
	char *all = NULL;

	for (int sampled = 0; sampled < 2; sampled++) {
		rule_walk_begin(&walk, channel, name);
		while ((rule = rule_walk_next(&walk)))
			if (core_channel_is_turn(rule, sampled) &&
			    channel_records(rule, name, loglevel) &&
			    !core_channel_add(&all, rule, starts))
				return NULL;
	}
	return all;
}

int channel_check_budget(struct channel *channel, const struct rule_spec *spec, struct err *err)
{
	const char *text = spec->sampling ? spec->sampling : "";
	const struct rule *rule;
	struct sampling sampling;
	uint32_t number;

	if (sampling_parse(text, &sampling, err))
		return err->code;
	rule = channel_find_rule(channel, spec);
	number = rule ? rule->number : channel->nr_rules;
	if (!sampling_has_budget(&sampling) || number < SAMPLING_MAX_RULES)
		return 0;
	return err_set(
		err, ERR_LIMIT,
		"only the first %u rules of a channel can have --rate or --first; add the rule "
		"to another channel (--channel)",
		SAMPLING_MAX_RULES);
}
