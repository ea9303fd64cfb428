/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.c - events of the kernel that are counted instead of recorded, histograms of their fields
 * and counts by keys. The module counts in a channel of its own for each session, which lives as
 * long as the daemon; the counts of an event that was disabled are kept here.
 */
#include "count.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/realtime.h"
#include "base/str.h"
#include "event.h"
#include "probe.h"
#include "session.h"
#include "sessiond/core/quota.h"

/* --- fields ------------------------------------------------------------------------ */

bool kernel_stat_matches(struct kernel_domain *kernel, const struct rule *rule,
			 struct kernel_event *event)
{
	const struct shape *shape;

	if (!rule_counts(rule->kind) || !kernel_rule_names(rule, event))
		return false;
	if (rule->kind == RULE_COUNT && !*rule->by)
		return true;
	shape = kernel_event_shape(kernel, event);
	return shape && keyed_rule_suits(rule, shape);
}

int kernel_stats_no_field(const struct shape *shape, const char *event, const char *field,
			  bool of_key, struct err *err)
{
	uint32_t nr = shape ? shape->layout->nr_fields : 0, nr_words = 0;
	const char **words AUTO_FREE = xalloc((nr + 1) * sizeof(*words));
	const char *near;

	for (uint32_t i = 0; i < nr; i++) {
		const struct layout_field *f = &shape->layout->fields[i];

		if (of_key ? field_is_key(f) : field_is_integer(f))
			words[nr_words++] = f->name;
	}
	near = nearest_word(field, words);
	return err_set(err, ERR_INVALID, "event '%.100s' has no %s field '%.100s'; %s%.100s%s", event,
		       of_key ? "integer or text" : "integer", field,
		       near ? "did you mean '" : "`lttctl list -k --fields` lists ",
		       near ? near : "fields", near ? "'?" : "");
}

int kernel_check_fields(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	const struct shape *shape =
		kernel_event_shape(kernel, kernel_event_find(kernel, spec->pattern));
	char field[RULE_MAX_BY + 1];

	if (spec->kind == RULE_HISTOGRAM && (!shape || shape_integer(shape, spec->location) < 0))
		return kernel_stats_no_field(shape, spec->pattern, spec->location, false, err);
	for (uint32_t i = 0; rule_by_field(spec->by ? spec->by : "", i, field); i++)
		if (!shape || shape_key(shape, field) < 0)
			return kernel_stats_no_field(shape, spec->pattern, field, true, err);
	return 0;
}

/* --- of a session ------------------------------------------------------------------- */

/* Return: the module's channel; negative errno. */
static int open_counting(struct kernel_session *ks)
{
	const struct kmod *kmod = ks->kernel->kmod;
	int err;

	if (ks->counting >= 0)
		return ks->counting;
	ks->counting = kernel_trial(kmod, LTT_KMOD_COUNTS | kernel_leaves_own(ks));
	if (ks->counting < 0)
		return ks->counting;
	err = kernel_tracker_send_all(kmod, ks->counting, ks->rec.session);
	if (err < 0)
		ks->counting = close_fd(ks->counting);
	return err < 0 ? err : ks->counting;
}

static void add_up(struct ltt_counts *to, const struct ltt_kmod_counted *more)
{
	to->count += more->count;
	to->sum += more->sum;
	to->negative += more->negative;
	to->missed += more->missed;
	for (uint32_t i = 0; i < LTT_KMOD_BUCKETS; i++)
		to->buckets[i] += more->buckets[i];
}

/* Its counts until now. */
static struct ltt_counts sums_of(const struct kernel_session *ks, const struct kernel_stat *stat)
{
	struct ltt_kmod_counted now = { .size = sizeof(now), .id = stat->id };
	struct ltt_counts all = stat->before;

	if (stat->on && kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_COUNTED, &now) == 0)
		add_up(&all, &now);
	return all;
}

/* --- tables of keys ------------------------------------------------------------------ */

static struct quotas *kernel_stats_quotas_of(const struct kernel_session *ks)
{
	return ks->rec.recorder->config.quotas;
}

static struct account_id kernel_stats_account_of(const struct kernel_session *ks)
{
	return (struct account_id){ .uid = ks->rec.session->uid };
}

static void kernel_stats_refund(struct kernel_session *ks, struct kernel_stat *stat)
{
	quota_give(kernel_stats_quotas_of(ks), kernel_stats_account_of(ks), QUOTA_MEMORY,
		   stat->paid_bytes);
	stat->paid_bytes = 0;
}

/* The memory of the table that the module makes. */
static bool kernel_stats_charge(struct kernel_session *ks, const struct rule *rule,
				struct kernel_stat *stat)
{
	uint64_t words = LTT_COUNTS_REST_WORDS +
			 LTT_COUNTS_KERNEL_SLOTS * (rule->kind == RULE_HISTOGRAM ? 2ull : 1ull);
	uint64_t bytes = LTT_COUNTS_KERNEL_SLOTS * sizeof(struct ltt_counts_slot) +
			 ks->rec.recorder->config.nr_cpus * words * sizeof(uint64_t);
	struct err err = { 0 };

	if (!*rule->by)
		return true;
	if (quota_take_or_explain(kernel_stats_quotas_of(ks), kernel_stats_account_of(ks),
				  QUOTA_MEMORY, bytes, &err)) {
		log_warn("session '%s': %s", ks->rec.session->name, err.text);
		return false;
	}
	stat->paid_bytes = bytes;
	return true;
}

/* Add its keys until now. */
static void kernel_stats_gather(const struct kernel_session *ks, const struct rule *rule,
				const struct kernel_stat *stat, struct keyed_list *list)
{
	struct ltt_kmod_key *keys AUTO_FREE = xalloc(LTT_COUNTS_KERNEL_SLOTS * sizeof(*keys));
	struct ltt_kmod_keys request = { .size = sizeof(request),
					 .id = stat->id,
					 .nr_keys = LTT_COUNTS_KERNEL_SLOTS,
					 .keys = (uintptr_t)keys };

	if (!stat->on ||
	    kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_COUNTED_KEYS, &request) < 0)
		return;
	list->rest.overflow += request.overflow;
	list->rest.missed += request.missed;
	for (uint32_t i = 0; i < MIN(request.nr_keys, LTT_COUNTS_KERNEL_SLOTS); i++)
		keyed_list_add(list, keys[i].key, rule_nr_by(rule->by), keys[i].count, keys[i].sum);
}

/* --- events -------------------------------------------------------------------------- */

static int kernel_stats_enable(struct kernel_session *ks, const struct rule *rule,
			       struct kernel_event *event, const struct event_filter *filter,
			       uint32_t id)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg), .id = id };
	const struct shape *shape =
		rule->kind == RULE_HISTOGRAM || *rule->by ? kernel_event_shape(ks->kernel, event) :
							    NULL;
	struct ltt_kmod_filter filtering;
	char field[RULE_MAX_BY + 1];
	int fd = open_counting(ks);

	if (rule->kind == RULE_HISTOGRAM) {
		msg.flags = LTT_KMOD_HISTOGRAM;
		msg.field = (uint32_t)shape_integer(shape, rule->location);
	}
	while (rule_by_field(rule->by, msg.nr_by, field)) {
		msg.by[msg.nr_by] = (uint32_t)shape_key(shape, field);
		msg.nr_by++;
	}
	kernel_filter_fill(&filtering, id, filter);
	msg.filter = filter ? (uintptr_t)&filtering : 0;
	snprintf(msg.name, sizeof(msg.name), "%s", event->name);
	return fd < 0 ? fd : kmod_call(ks->kernel->kmod, fd, LTT_KMOD_ENABLE, &msg);
}

static void switch_on(struct kernel_session *ks, const struct rule *rule,
		      struct kernel_event *event, struct event_filter *filter,
		      struct kernel_stat **stat)
{
	struct kernel_stat *s = *stat = *stat ? *stat : xalloc(sizeof(**stat));
	int err = -ENOMEM;

	s->id = ++ks->last_stat;
	s->since_ns = s->since_ns ? s->since_ns : realtime_ns();
	if (kernel_stats_charge(ks, rule, s))
		err = kernel_stats_enable(ks, rule, event, filter, s->id);
	if (err < 0)
		kernel_stats_refund(ks, s);
	s->on = err >= 0;
	s->filter = filter;
	s->error = (uint16_t)(err < 0 ? -err : 0);
}

static void switch_off(struct kernel_session *ks, const struct rule *rule, struct kernel_stat *stat)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg),
				       .id = stat->id,
				       .flags = LTT_KMOD_NOWAIT };

	if (*rule->by) {
		kernel_stats_gather(ks, rule, stat, &stat->before_keys);
		keyed_list_merge(&stat->before_keys);
	} else {
		stat->before = sums_of(ks, stat);
	}
	stat->on = false;
	kernel_stats_refund(ks, stat);
	(void)!kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_DISABLE, &msg);
}

/* Another filter, or none, applies from now on, and the count goes on. */
static void kernel_stats_refilter(struct kernel_session *ks, const struct rule *rule,
				  struct kernel_stat *stat, struct event_filter *filter)
{
	struct ltt_kmod_filter msg;
	int err;

	kernel_filter_fill(&msg, stat->id, filter);
	err = kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_FILTER, &msg);
	stat->filter = filter;
	if (err >= 0)
		return;
	switch_off(ks, rule, stat);
	stat->error = (uint16_t)-err;
}

/* Whether the rule counts some of this event. @ret_filter: NULL: all. */
static bool kernel_stats_wanted(struct kernel_session *ks, const struct rule *rule,
				struct kernel_event *event, struct event_filter **ret_filter)
{
	struct shape *shape;

	*ret_filter = NULL;
	if (!kernel_stat_matches(ks->kernel, rule, event))
		return false;
	if (!*rule->filter)
		return true;
	shape = kernel_event_shape(ks->kernel, event);
	if (shape)
		*ret_filter = event_filter_get(&ks->filters, shape, rule->filter);
	return shape && !(*ret_filter)->never;
}

void kernel_stat_step(struct kernel_session *ks, struct kernel_channel *kc,
		      struct kernel_tally *tally, uint32_t nr)
{
	struct kernel_event *event = &ks->kernel->events[nr];
	struct kernel_stat *stat = tally->stats[nr];
	bool on = stat && stat->on;
	struct event_filter *filter;
	bool wanted = ks->rec.recording && kc->channel->enabled && tally->rule->enabled &&
		      kernel_stats_wanted(ks, tally->rule, event, &filter);

	if (wanted && on && stat->filter != filter)
		kernel_stats_refilter(ks, tally->rule, stat, filter);
	else if (wanted && !on && !(stat && stat->error))
		switch_on(ks, tally->rule, event, filter, &tally->stats[nr]);
	else if (!wanted && on)
		switch_off(ks, tally->rule, stat);
}

/* --- of a channel ------------------------------------------------------------------- */

static bool has_tally(const struct kernel_channel *kc, const struct rule *rule)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++)
		if (kc->tallies[i]->rule == rule)
			return true;
	return false;
}

void kernel_tallies_add(struct kernel_channel *kc)
{
	struct kernel_tally *tally;
	struct rule *rule;

	list_for_each(rule, &kc->channel->rules, node) {
		if (!rule_counts(rule->kind) || has_tally(kc, rule))
			continue;
		tally = xalloc(sizeof(*tally));
		tally->rule = rule;
		tally->stats = xalloc(((size_t)kc->nr_slots + 1) * sizeof(*tally->stats));
		kc->tallies = xrealloc(kc->tallies, (kc->nr_tallies + 1) * sizeof(*kc->tallies));
		kc->tallies[kc->nr_tallies++] = tally;
	}
}

void kernel_tallies_grow(struct kernel_channel *kc, uint32_t before)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++) {
		struct kernel_stat **stats = kc->tallies[i]->stats;

		stats = xrealloc(stats, ((size_t)kc->nr_slots + 1) * sizeof(*stats));
		memset(stats + before, 0, (kc->nr_slots + 1 - before) * sizeof(*stats));
		kc->tallies[i]->stats = stats;
	}
}

void kernel_tallies_mark(const struct kernel_channel *kc)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++)
		for (uint32_t event = 0; event < kc->nr_slots; event++) {
			const struct kernel_stat *stat = kc->tallies[i]->stats[event];

			if (stat && stat->on && stat->filter)
				stat->filter->used = true;
		}
}

static void kernel_stat_free(struct kernel_session *ks, struct kernel_stat *stat)
{
	if (!stat)
		return;
	kernel_stats_refund(ks, stat);
	keyed_list_fini(&stat->before_keys);
	free(stat);
}

void kernel_tallies_free(struct kernel_session *ks, struct kernel_channel *kc)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++) {
		for (uint32_t event = 0; event < kc->nr_slots; event++)
			kernel_stat_free(ks, kc->tallies[i]->stats[event]);
		free(kc->tallies[i]->stats);
		free(kc->tallies[i]);
	}
	free(kc->tallies);
}

/* --- for commands ------------------------------------------------------------------- */

static void kernel_stats_report_one(const struct kernel_session *ks, const struct rule *rule,
				    struct kernel_event *event, const struct kernel_stat *stat,
				    struct domain_counted *counted,
				    const struct domain_counted_ops *ops, void *data)
{
	struct keyed_list list = { .rest = stat->before_keys.rest };

	if (!*rule->by) {
		counted->sums = sums_of(ks, stat);
		ops->counted(counted, data);
		return;
	}
	keyed_list_append(&list, &stat->before_keys);
	kernel_stats_gather(ks, rule, stat, &list);
	keyed_report(&list, rule, kernel_event_shape(ks->kernel, event), counted, ops, data);
	keyed_list_fini(&list);
}

static void kernel_stats_report(const struct kernel_session *ks, const struct kernel_channel *kc,
				const struct kernel_tally *tally,
				const struct domain_counted_ops *ops, void *data)
{
	for (uint32_t i = 0; i < kc->nr_slots; i++) {
		const struct kernel_stat *stat = tally->stats[i];
		struct kernel_event *event = &ks->kernel->events[i];
		struct domain_counted counted = {
			.domain = DOMAIN_KERNEL,
			.channel = kc->channel->name,
			.event = event->name,
			.field = tally->rule->location,
			.at_least = tally->rule->counted_before,
		};

		if (!stat || stat->error)
			continue;
		counted.counting = stat->on;
		counted.since_ns = stat->since_ns;
		kernel_stats_report_one(ks, tally->rule, event, stat, &counted, ops, data);
	}
}

void kernel_each_counted(struct domain_tracer *domain, const struct session *session,
			 const struct domain_counted_ops *ops, void *data)
{
	struct recording *rec = recording_find(domain, session);
	const struct kernel_channel *kc;

	if (!rec)
		return;
	list_for_each(kc, &ks_of(rec)->channels, node)
		for (uint32_t i = 0; i < kc->nr_tallies; i++)
			kernel_stats_report(ks_of(rec), kc, kc->tallies[i], ops, data);
}
