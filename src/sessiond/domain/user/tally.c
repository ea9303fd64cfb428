/* SPDX-License-Identifier: GPL-2.0-only */
#include "tally.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "keyed.h"
#include "session.h"

/* --- which ---------------------------------------------------------------------- */

int shape_integer(const struct shape *shape, const char *name)
{
	const struct layout *layout = shape->layout;

	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (field_is_integer(&layout->fields[i]) &&
		    strcmp(layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

int shape_key(const struct shape *shape, const char *name)
{
	const struct layout *layout = shape->layout;

	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (field_is_key(&layout->fields[i]) && strcmp(layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool has_key(const struct shape *shape, const char *by)
{
	char field[RULE_MAX_BY + 1];

	for (uint32_t i = 0; rule_by_field(by, i, field); i++)
		if (shape_key(shape, field) < 0)
			return false;
	return true;
}

bool user_rule_suits(const struct rule *rule, const struct shape *shape)
{
	return has_key(shape, rule->by) &&
	       (rule->kind != RULE_HISTOGRAM || shape_integer(shape, rule->location) >= 0);
}

bool user_rule_takes(const struct rule *rule, const struct shape *shape)
{
	return rule_matches(rule, shape->name, shape->loglevel) && user_rule_suits(rule, shape);
}

/* --- events ---------------------------------------------------------------------- */

static int user_tally_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct user_stat *)a)->name, ((const struct user_stat *)b)->name);
}

static uint64_t user_tally_real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
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
	stat->since_ns = user_tally_real_ns();
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

/* No user can make another user's start fail. */
static void user_tally_warn(struct user_session *us, uid_t uid, const struct err *err)
{
	if (user_account(us, uid).guest)
		us->rec.recorder->config.trouble(us->rec.session, TROUBLE_BUFFERS, err->text);
	else
		recording_problem(&us->rec, TROUBLE_BUFFERS, err->code, "events can't be counted",
				  err->text);
}

struct user_place *tally_place(struct user_session *us, struct user_tally *tally, uid_t uid,
			       struct shape *shape)
{
	struct err err = { 0 };
	struct user_stat *stat = stat_get(us, tally, uid, shape, &err);
	struct user_place *place = stat ? place_get(us, tally, stat, uid, &err) : NULL;

	if (err.code)
		user_tally_warn(us, uid, &err);
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
		counted.by = tally->rule->by;
		keyed_report(counted_walk->us, tally->rule, stat, &counted, counted_walk->ops,
			     counted_walk->data);
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
