/* SPDX-License-Identifier: GPL-2.0-only */
#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "context.h"
#include "session.h"

/* In one message: each takes 38 bytes. */
#define COUNTINGS_PER_MESSAGE 1000u
#define OUTBOX_BYTES (COUNTINGS_PER_MESSAGE * 48u + 64u)

/* --- counters to enable ----------------------------------------------------------- */

/** The points that a link should count. */
struct count_plan {
	struct user_link *link;
	const struct channel *channel; /* the current one, */
	struct user_tally *tally;      /* and the rule's */
	struct map *map;	       /* or the map */
	struct counting *countings;
	size_t nr, cap;
};

static int user_count_compare(const void *a, const void *b)
{
	const struct counting *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	if (x->counts != y->counts)
		return x->counts->id < y->counts->id ? -1 : 1;
	return (x->word > y->word) - (x->word < y->word);
}

static void user_count_plan_add(struct count_plan *plan, const struct counting *counting)
{
	if (plan->nr == plan->cap) {
		plan->cap = MAX(2 * plan->cap, (size_t)16);
		plan->countings = xrealloc(plan->countings, plan->cap * sizeof(*plan->countings));
	}
	plan->countings[plan->nr++] = *counting;
}

static void user_count_plan_place(struct count_plan *plan, const struct app_point *point,
				  const struct user_place *place, struct event_filter *filter)
{
	const struct rule *rule = plan->tally->rule;
	struct counting counting = { .point = point->id,
				     .field = rule->kind == RULE_HISTOGRAM ?
						      shape_integer(point->shape, rule->location) :
						      -1,
				     .counts = place->counts,
				     .word = place->word,
				     .filter = filter };
	char field[RULE_MAX_BY + 1];

	while (rule_by_field(rule->by, counting.nr_by, field)) {
		counting.by[counting.nr_by] = (uint32_t)shape_key(point->shape, field);
		counting.nr_by++;
	}
	user_count_plan_add(plan, &counting);
}

static void user_count_add_rule(struct count_plan *plan, const struct app_point *point,
				const struct rule *rule)
{
	struct user_link *link = plan->link;
	struct event_filter *filter = NULL;
	struct user_place *place;

	if (*rule->filter)
		filter = event_filter_get(&link->us->filters, point->shape, rule->filter);
	if (filter && filter->never)
		return;
	plan->tally = tally_get(link->us, plan->channel, rule);
	place = tally_place(link->us, plan->tally, link->app->app.uid, point->shape);
	if (place)
		user_count_plan_place(plan, point, place, filter);
}

static void user_count_visit_point(struct app_point *point, void *data)
{
	struct count_plan *plan = data;
	const struct rule *rule;
	struct rule_walk walk;

	rule_walk_begin(&walk, plan->channel, point->shape->name);
	while ((rule = rule_walk_next(&walk)))
		if (rule->enabled && rule_counts(rule->kind) &&
		    user_rule_takes(rule, point->shape))
			user_count_add_rule(plan, point, rule);
}

/** A key that a point increments. @filter: expressions, one on each line; NULL: each event. */
struct count_increment {
	char *key;
	char *filter;
	uint32_t lane;
};

static void count_increment_join(struct count_increment *increment, const char *filter)
{
	char *both = increment->filter && *filter ? xasprintf("%s\n%s", increment->filter, filter) :
						    NULL;

	free(increment->filter);
	increment->filter = both;
}

/* By the map's policy an event increments a key once, or once for each rule that it matches. */
static void count_increment_add(struct count_increment *increments, size_t *nr,
				const struct map *map, const struct map_rule *rule,
				const char *event)
{
	AUTO_FREE char *key = map_key(rule->key, event);
	uint32_t lane = 0;

	for (size_t i = 0; i < *nr; i++) {
		if (strcmp(increments[i].key, key) != 0)
			continue;
		if (map->update == MAP_UPDATE_PER_EVENT) {
			count_increment_join(&increments[i], rule->rule->filter);
			return;
		}
		lane++;
	}
	increments[(*nr)++] = (struct count_increment){
		TAKE(key), *rule->rule->filter ? xstrdup(rule->rule->filter) : NULL, lane
	};
}

static void user_count_increment(struct count_plan *plan, const struct app_point *point,
				 const struct count_increment *increment)
{
	struct user_link *link = plan->link;
	struct counting counting = { .point = point->id, .field = -1 };

	if (increment->filter)
		counting.filter = event_filter_get(&link->us->filters, point->shape,
						   increment->filter);
	if (counting.filter && counting.filter->never)
		return;
	counting.counts = user_map_value(link, plan->map, increment->key, increment->lane,
					 &counting.word);
	if (counting.counts)
		user_count_plan_add(plan, &counting);
}

static void user_count_visit_map_point(struct app_point *point, void *data)
{
	struct count_plan *plan = data;
	const struct map *map = plan->map;
	AUTO_FREE struct count_increment *increments = NULL;
	size_t nr = 0;

	for (uint32_t i = 0; i < map->nr_rules; i++) {
		if (!user_rule_takes(map->rules[i].rule, point->shape))
			continue;
		if (!increments)
			increments = xalloc(map->nr_rules * sizeof(*increments));
		count_increment_add(increments, &nr, map, &map->rules[i], point->shape->name);
	}
	for (size_t i = 0; i < nr; i++) {
		user_count_increment(plan, point, &increments[i]);
		free(increments[i].key);
		free(increments[i].filter);
	}
}

static void count_plan_make(struct count_plan *plan)
{
	list_for_each(plan->map, &plan->link->us->rec.session->maps, node)
		if (plan->map->domain == DOMAIN_USER && plan->map->nr_rules)
			link_each_point(plan->link, user_count_visit_map_point, plan);
	list_for_each(plan->channel, &plan->link->us->rec.session->channels, node)
		if (plan->channel->domain == DOMAIN_USER && plan->channel->enabled &&
		    plan->channel->nr_counting)
			link_each_point(plan->link, user_count_visit_point, plan);
	if (plan->nr)
		qsort(plan->countings, plan->nr, sizeof(*plan->countings), user_count_compare);
}

/* --- sending the difference -------------------------------------------------------- */

static void user_count_begin(struct encoder *enc, uint16_t type)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop: one message at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, 0, 0);
}

static void need_counts(struct user_link *link, const struct user_counts *counts)
{
	struct msg_app_counts msg;
	struct encoder enc;

	for (uint32_t i = 0; i < link->nr_sent_counts; i++)
		if (link->sent_counts[i] == counts)
			return;
	counts_describe(link->us, counts, &msg);
	user_count_begin(&enc, MSG_app_counts);
	msg_app_counts_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
	link->sent_counts = xrealloc(link->sent_counts,
				     (link->nr_sent_counts + 1) * sizeof(*link->sent_counts));
	link->sent_counts[link->nr_sent_counts++] = counts;
}

/* Countings gathered for one message. */
struct outbox {
	struct user_link *link;
	uint16_t type; /* MSG_app_count or MSG_app_uncount: the same fields at first */
	const struct event_filter *filter; /* of all of them; or NULL */
	uint8_t *buf;
	struct encoder list;
};

static void user_count_outbox_flush(struct outbox *box)
{
	const struct event_filter *filter = box->filter;
	struct msg_app_count msg = {
		.countings = encoder_list(&box->list),
		.filter = { filter ? filter->programs : NULL, filter ? filter->len : 0 },
		.filter_contexts = filter ? filter->contexts : "",
	};
	struct encoder enc;

	if (!box->list.nr_records)
		return;
	user_count_begin(&enc, box->type);
	msg_app_count_encode(&enc, &msg);
	peer_send(box->link->app->peer, &enc);
	encoder_init(&box->list, box->buf, OUTBOX_BYTES);
}

/* A filter takes the space of countings. */
static size_t user_count_per_message(const struct event_filter *filter)
{
	return COUNTINGS_PER_MESSAGE - (filter ? filter->len / 40 : 0);
}

static void user_count_outbox_add(struct outbox *box, const struct counting *counting)
{
	const struct msg_app_counting msg = {
		.point = counting->point,
		.counts = counting->counts->id,
		.word = counting->word,
		.has_field = counting->field >= 0,
		.field = (uint32_t)MAX(counting->field, 0),
		.nr_by = (uint8_t)counting->nr_by,
		.by = counting->by[0],
		.by_second = counting->by[1],
	};

	const struct event_filter *filter = box->type == MSG_app_count ? counting->filter : NULL;

	if (box->filter != filter)
		user_count_outbox_flush(box);
	box->filter = filter;
	if (box->type == MSG_app_count)
		need_counts(box->link, counting->counts);
	msg_app_counting_add(&box->list, &msg);
	box->link->changed = true;
	if (box->list.nr_records == user_count_per_message(filter))
		user_count_outbox_flush(box);
}

static bool is_counted_otherwise(const struct outbox *box, const struct counting *a,
				 const struct counting *b)
{
	return box->type == MSG_app_count && a->filter != b->filter;
}

/* Those in @a and not in @b, or with another filter there; both are sorted. */
static void send_missing(struct outbox *box, const struct counting *a, size_t nr_a,
			 const struct counting *b, size_t nr_b)
{
	size_t j = 0;

	for (size_t i = 0; i < nr_a; i++) {
		while (j < nr_b && user_count_compare(&b[j], &a[i]) < 0)
			j++;
		if (j == nr_b || user_count_compare(&b[j], &a[i]) != 0 ||
		    is_counted_otherwise(box, &a[i], &b[j]))
			user_count_outbox_add(box, &a[i]);
	}
	user_count_outbox_flush(box);
}

static void user_count_send(const struct count_plan *plan, bool all)
{
	struct user_link *link = plan->link;
	AUTO_FREE uint8_t *buf = xalloc(OUTBOX_BYTES);
	struct outbox box = { .link = link, .type = MSG_app_count, .buf = buf };

	encoder_init(&box.list, buf, OUTBOX_BYTES);
	send_missing(&box, plan->countings, plan->nr, link->countings, link->nr_countings);
	box.type = MSG_app_uncount;
	if (all)
		send_missing(&box, link->countings, link->nr_countings, plan->countings, plan->nr);
}

/* Those of points that were not visited stay. */
static void user_count_merge(struct count_plan *plan)
{
	const struct user_link *link = plan->link;
	struct counting *mine = plan->countings;
	size_t nr = plan->nr;

	plan->countings = xalloc((link->nr_countings + nr + 1) * sizeof(*mine));
	plan->nr = 0;
	for (size_t i = 0, j = 0; i < link->nr_countings || j < nr;) {
		int order = i == link->nr_countings ? 1 :
			    j == nr		    ? -1 :
				      user_count_compare(&link->countings[i], &mine[j]);

		plan->countings[plan->nr++] = order < 0 ? link->countings[i] : mine[j];
		i += order <= 0;
		j += order >= 0;
	}
	free(mine);
}

void link_count(struct user_link *link)
{
	struct count_plan plan = { .link = link };
	bool all = link->all || !link_records(link);

	if (link_records(link))
		count_plan_make(&plan);
	if (plan.nr || (all && link->nr_countings))
		user_count_send(&plan, all);
	if (!all && !plan.nr)
		return;
	if (!all)
		user_count_merge(&plan);
	free(link->countings);
	link->countings = plan.countings;
	link->nr_countings = plan.nr;
}

/* --- and the end of it ---------------------------------------------------------------- */

bool link_is_counted(const struct user_link *link, uint32_t point)
{
	size_t low = 0, high = link->nr_countings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (link->countings[middle].point < point)
			low = middle + 1;
		else
			high = middle;
	}
	return low < link->nr_countings && link->countings[low].point == point;
}

void link_uncount_points(struct user_link *link, const uint32_t *points, size_t nr)
{
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < link->nr_countings; i++) {
		const struct counting counting = link->countings[i];

		while (n < nr && points[n] < counting.point)
			n++;
		if (n == nr || points[n] != counting.point)
			link->countings[kept++] = counting;
	}
	link->nr_countings = kept;
}

void link_drop_counts(struct user_link *link)
{
	for (uint32_t i = 0; i < link->nr_sent_counts; i++) {
		struct msg_app_counts_drop msg = { link->sent_counts[i]->id };
		struct encoder enc;

		user_count_begin(&enc, MSG_app_counts_drop);
		msg_app_counts_drop_encode(&enc, &msg);
		peer_send(link->app->peer, &enc);
	}
	link->nr_sent_counts = 0;
}

void link_counts_free(struct user_link *link)
{
	free(link->countings);
	free(link->sent_counts);
}
