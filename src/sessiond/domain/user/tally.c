/* SPDX-License-Identifier: GPL-2.0-only */
#include "tally.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/realtime.h"
#include "session.h"
#include "sessiond/domain/rec/keyed.h"

/* --- which ---------------------------------------------------------------------- */

bool user_rule_takes(const struct rule *rule, const struct shape *shape)
{
	return rule_matches(rule, shape->name, shape->loglevel) && keyed_rule_suits(rule, shape);
}

/* --- events ---------------------------------------------------------------------- */

static int user_tally_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct user_stat *)a)->name, ((const struct user_stat *)b)->name);
}

static uint64_t stat_bytes(const struct user_stat *stat)
{
	return sizeof(*stat) + strlen(stat->name);
}

static struct quotas *user_tally_quotas_of(const struct user_session *us)
{
	return us->rec.recorder->config.quotas;
}

/* @at points to the link of it in the list. */
static void place_drop(struct user_session *us, struct user_place **at)
{
	struct user_place *place = *at;

	*at = place->next;
	quota_give(user_tally_quotas_of(us), user_account(us, place->uid), QUOTA_TEXT,
		   sizeof(*place));
	free(place);
}

static void user_tally_stat_free(struct user_session *us, struct user_stat *stat)
{
	while (stat->places)
		place_drop(us, &stat->places);
	quota_give(user_tally_quotas_of(us), stat->account, QUOTA_TEXT, stat_bytes(stat));
	shape_unref(&us->user->recorder->shapes, stat->shape);
	free(stat);
}

/* Return: NULL where the user has no share left to name it. */
static struct user_stat *stat_get(struct user_session *us, struct user_tally *tally, uid_t uid,
				  struct shape *shape, struct err *err)
{
	const struct user_stat wanted = { .name = shape->name };
	void **found = tfind(&wanted, &tally->stats, user_tally_compare_names);
	struct user_stat *stat;

	if (found)
		return *found;
	stat = xalloc(sizeof(*stat));
	stat->shape = shape_ref(shape);
	stat->name = shape->name;
	stat->account = user_account(us, uid);
	stat->since_ns = realtime_ns();
	if (quota_take_or_explain(user_tally_quotas_of(us), stat->account, QUOTA_TEXT,
				  stat_bytes(stat), err) == 0) {
		if (tsearch(stat, &tally->stats, user_tally_compare_names))
			return stat;
		quota_give(user_tally_quotas_of(us), stat->account, QUOTA_TEXT, stat_bytes(stat));
		err_set(err, ERR_NO_MEMORY, "there is no memory for the counter of an event");
	}
	shape_unref(&us->user->recorder->shapes, stat->shape);
	free(stat);
	return NULL;
}

static void place_find_memory(struct user_session *us, const struct rule *rule,
			      struct user_place *place, struct err *err)
{
	bool histogram = rule->kind == RULE_HISTOGRAM;

	place->nr_words = histogram ? LTT_COUNTS_WORDS : 1;
	if (*rule->by)
		place->counts = counts_with_keys(us, place->uid,
						 histogram ? LTT_COUNTS_HISTOGRAM_SLOTS :
							     LTT_COUNTS_HIT_SLOTS,
						 histogram ? 2 : 1, err);
	else
		place->counts = counts_get(us, place->uid, place->nr_words, &place->word, err);
}

static struct user_place *place_get(struct user_session *us, struct user_tally *tally,
				    struct user_stat *stat, uid_t uid, struct err *err)
{
	struct user_place *place = stat->places;

	while (place && place->uid != uid)
		place = place->next;
	if (place)
		return place;
	if (quota_take_or_explain(user_tally_quotas_of(us), user_account(us, uid), QUOTA_TEXT,
				  sizeof(*place), err))
		return NULL;
	place = xalloc(sizeof(*place));
	place->uid = uid;
	place_find_memory(us, tally->rule, place, err);
	place->next = stat->places;
	stat->places = place;
	return place;
}

struct user_place *tally_place(struct user_session *us, struct user_tally *tally, uid_t uid,
			       struct shape *shape)
{
	struct err err = { 0 };
	struct user_stat *stat = stat_get(us, tally, uid, shape, &err);
	struct user_place *place = stat ? place_get(us, tally, stat, uid, &err) : NULL;

	if (err.code)
		counts_problem(us, uid, &err);
	return place && place->counts ? place : NULL;
}

/* --- rules ------------------------------------------------------------------------ */

static struct user_tally *tally_find(const struct user_session *us, const struct rule *rule)
{
	return idmap_get(&us->tallies_by_rule, (uintptr_t)rule, struct user_tally, by_rule);
}

struct user_tally *tally_get(struct user_session *us, const struct channel *channel,
			     const struct rule *rule)
{
	struct user_tally *tally = tally_find(us, rule);

	if (tally)
		return tally;
	tally = xalloc(sizeof(*tally));
	tally->channel = channel;
	tally->rule = rule;
	list_append(&us->tallies, &tally->node);
	idmap_add(&us->tallies_by_rule, &tally->by_rule, (uintptr_t)rule);
	return tally;
}

void tallies_free(struct user_session *us)
{
	struct user_tally *tally, *next;

	list_for_each_safe(tally, next, &us->tallies, node) {
		while (tally->stats) {
			struct user_stat *stat = *(struct user_stat **)tally->stats;

			tdelete(stat, &tally->stats, user_tally_compare_names);
			user_tally_stat_free(us, stat);
		}
		list_remove(&tally->node);
		free(tally);
	}
	idmap_fini(&us->tallies_by_rule);
	counts_free_all(us);
}

/* Those that found no room are requested again. */
static void retry_stat(const void *node, VISIT visit, void *closure)
{
	struct user_stat *stat = *(struct user_stat *const *)node;
	struct user_place **at = &stat->places, *place;

	if (visit != postorder && visit != leaf)
		return;
	while ((place = *at))
		if (place->counts)
			at = &place->next;
		else
			place_drop(closure, at);
}

void tallies_retry(struct user_session *us)
{
	struct user_tally *tally;

	list_for_each(tally, &us->tallies, node)
		twalk_r(tally->stats, retry_stat, us);
}

/* --- for commands ------------------------------------------------------------------ */

struct counted_walk {
	const struct user_session *us;
	const struct user_tally *tally;
	const struct domain_counted_ops *ops;
	void *data;
};

static void user_tally_gather(const struct user_session *us, const struct user_counts *counts,
			      uint32_t nr_by, uint32_t slot_words, struct keyed_list *list)
{
	for (uint32_t slot = 0; slot < counts->nr_slots; slot++) {
		uint64_t key[LTT_COUNTS_KEY_WORDS], value[2] = { 0 };

		if (!counts_key(us, counts, slot, key))
			continue;
		counts_add_up(us, counts, LTT_COUNTS_REST_WORDS + slot * slot_words, slot_words,
			      value);
		keyed_list_add(list, key, nr_by, value[0], value[1]);
	}
}

/* The tables of the users whose applications count the event. */
static void user_tally_report_keys(const struct counted_walk *walk, const struct user_stat *stat,
				   struct domain_counted *counted)
{
	const struct rule *rule = walk->tally->rule;
	struct keyed_list list = { 0 };

	for (const struct user_place *place = stat->places; place; place = place->next) {
		if (!place->counts)
			continue;
		counts_add_up(walk->us, place->counts, 0, LTT_COUNTS_REST_WORDS,
			      (uint64_t *)&list.rest);
		user_tally_gather(walk->us, place->counts, rule_nr_by(rule->by),
				  rule->kind == RULE_HISTOGRAM ? 2 : 1, &list);
	}
	keyed_report(&list, rule, stat->shape, counted, walk->ops, walk->data);
	keyed_list_fini(&list);
}

static void user_tally_report(const void *node, VISIT visit, void *closure)
{
	const struct user_stat *stat = *(struct user_stat *const *)node;
	const struct counted_walk *counted_walk = closure;
	const struct user_tally *tally = counted_walk->tally;
	struct domain_counted counted = {
		.domain = DOMAIN_USER,
		.channel = tally->channel->name,
		.event = stat->name,
		.field = tally->rule->location,
		.counting = counted_walk->us->rec.recording && tally->channel->enabled &&
			    tally->rule->enabled,
		.since_ns = stat->since_ns,
		.at_least = tally->rule->counted_before,
	};

	if (visit != postorder && visit != leaf)
		return;
	if (*tally->rule->by) {
		user_tally_report_keys(counted_walk, stat, &counted);
		return;
	}
	for (const struct user_place *place = stat->places; place; place = place->next)
		if (place->counts)
			counts_add_up(counted_walk->us, place->counts, place->word, place->nr_words,
				      (uint64_t *)&counted.sums);
	counted_walk->ops->counted(&counted, counted_walk->data);
}

void user_each_counted(struct domain_tracer *domain, const struct session *session,
		       const struct domain_counted_ops *ops, void *data)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	const struct channel *channel;
	const struct rule *rule;

	if (!us)
		return;
	list_for_each(channel, &session->channels, node)
		list_for_each(rule, &channel->rules, node) {
			const struct user_tally *tally =
				rule_counts(rule->kind) ? tally_find(us, rule) : NULL;

			if (tally)
				twalk_r(tally->stats, user_tally_report,
					&(struct counted_walk){ us, tally, ops, data });
		}
}
