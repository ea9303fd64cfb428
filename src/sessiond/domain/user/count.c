/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.c - events of applications that are counted instead of recorded. A tally of each rule that
 * counts has a counter for each event and user, in memory that the user's applications share.
 */
#include "count.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "io/memfile.h"
#include "link.h"
#include "session.h"
#include "sessiond/admission.h"

/*
 * Shared memory in which the applications of a user count events of a session
 * (abi/ltt_counts.h). Applications may write anything into it, so it is read as numbers only; its
 * pages are allocated and its size is sealed, so that reading can't fail.
 */

#define PART_BYTES 16384u
#define PART_WORDS ((uint32_t)(PART_BYTES / sizeof(uint64_t)))
#define COUNTS_FDS 1u

static uint32_t nr_parts(const struct user_session *us)
{
	return us->rec.recorder->config.nr_cpus + 1;
}

static uint64_t parts_bytes(const struct user_session *us, const struct user_counts *counts)
{
	return (uint64_t)nr_parts(us) * counts->part_words * sizeof(uint64_t);
}

static uint64_t bytes_of(const struct user_session *us, const struct user_counts *counts)
{
	return parts_bytes(us, counts) +
	       (uint64_t)counts->nr_slots * sizeof(struct ltt_counts_slot);
}

static struct quotas *user_counts_quotas_of(const struct user_session *us)
{
	return us->rec.recorder->config.quotas;
}

/* How much is counted, the user's applications decide. */
struct account_id user_account(const struct user_session *us, uid_t uid)
{
	return (struct account_id){ uid, uid != us->rec.session->uid };
}

static int user_counts_charge(const struct user_session *us, const struct user_counts *counts,
			      struct err *err)
{
	struct account_id account = user_account(us, counts->uid);

	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_MEMORY,
				  bytes_of(us, counts), err))
		return err->code;
	if (quota_take_or_explain(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS,
				  err)) {
		quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY, bytes_of(us, counts));
		return err->code;
	}
	return 0;
}

static void pay_back(const struct user_session *us, const struct user_counts *counts)
{
	struct account_id account = user_account(us, counts->uid);

	quota_give(user_counts_quotas_of(us), account, QUOTA_MEMORY, bytes_of(us, counts));
	quota_give(user_counts_quotas_of(us), account, QUOTA_DESCRIPTORS, COUNTS_FDS);
}

static int user_counts_make(struct user_session *us, struct user_counts *counts, struct err *err)
{
	AUTO_FD int fd = -1;
	int ret = memfile_new("ltt-counts", bytes_of(us, counts), &fd);
	void *map;

	if (ret < 0)
		return err_errno(err, ERR_NO_MEMORY, -ret, "no memory for the counters");
	if (!admission_has_room(fd, ADMISSION_KEPT))
		return err_set(err, ERR_LIMIT,
			       "the session daemon has nearly reached its limit of open files");
	map = mmap(NULL, bytes_of(us, counts), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_NO_MEMORY, "the session daemon can't map the counters");
	counts->words = map;
	counts->fd = TAKE_FD(fd);
	return 0;
}

static struct user_counts *counts_new(struct user_session *us, uid_t uid, uint32_t part_words,
				      uint32_t nr_slots, struct err *err)
{
	AUTO_FREE struct user_counts *counts = xalloc(sizeof(*counts));

	counts->uid = uid;
	counts->part_words = part_words;
	counts->nr_slots = nr_slots;
	if (user_counts_charge(us, counts, err))
		return NULL;
	if (user_counts_make(us, counts, err)) {
		pay_back(us, counts);
		return NULL;
	}
	counts->id = us->rec.recorder->next_id++;
	list_append(&us->counts, &counts->node);
	return TAKE(counts);
}

static bool user_counts_has_room(const struct user_counts *counts, uid_t uid, uint32_t words)
{
	return counts->uid == uid && words <= counts->part_words - counts->used;
}

struct user_counts *counts_get(struct user_session *us, uid_t uid, uint32_t words,
			       uint32_t *ret_word, struct err *err)
{
	struct user_counts *counts, *found = NULL;

	list_for_each(counts, &us->counts, node)
		if (!found && user_counts_has_room(counts, uid, words))
			found = counts;
	if (!found)
		found = counts_new(us, uid, PART_WORDS, 0, err);
	if (found) {
		*ret_word = found->used;
		found->used += words;
	}
	return found;
}

struct user_counts *counts_with_keys(struct user_session *us, uid_t uid, uint32_t nr_slots,
				     uint32_t slot_words, struct err *err)
{
	uint32_t words = LTT_COUNTS_REST_WORDS + nr_slots * slot_words;
	uint32_t page_words = (uint32_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);
	uint32_t part_words = (words + page_words - 1) / page_words * page_words;
	struct user_counts *counts = counts_new(us, uid, part_words, nr_slots, err);

	if (counts)
		counts->used = part_words;
	return counts;
}

void counts_free_all(struct user_session *us)
{
	struct user_counts *counts, *next;

	list_for_each_safe(counts, next, &us->counts, node) {
		list_remove(&counts->node);
		munmap(counts->words, bytes_of(us, counts));
		close_fd(counts->fd);
		pay_back(us, counts);
		free(counts);
	}
}

void counts_describe(const struct user_session *us, const struct user_counts *counts,
		     struct msg_app_counts *ret)
{
	*ret = (struct msg_app_counts){
		.counts = counts->id,
		.session = us->rec.session->id,
		.memory = counts->fd,
		.nr_parts = nr_parts(us),
		.part_bytes = counts->part_words * (uint32_t)sizeof(uint64_t),
		.nr_slots = counts->nr_slots,
	};
}

void counts_add_up(const struct user_session *us, const struct user_counts *counts, uint32_t word,
		   uint32_t nr, uint64_t *to)
{
	for (uint32_t part = 0; part < nr_parts(us); part++) {
		const uint64_t *from = counts->words + (size_t)part * counts->part_words + word;

		for (uint32_t i = 0; i < nr; i++)
			to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
}

bool counts_key(const struct user_session *us, const struct user_counts *counts, uint32_t slot,
		uint64_t *ret_key)
{
	const char *table = (const char *)counts->words + parts_bytes(us, counts);
	const struct ltt_counts_slot *from = (const void *)table;

	if (__atomic_load_n(&from[slot].tag, __ATOMIC_ACQUIRE) <= LTT_COUNTS_TAG_WRITING)
		return false;
	for (uint32_t i = 0; i < LTT_COUNTS_KEY_WORDS; i++)
		ret_key[i] = __atomic_load_n(&from[slot].key[i], __ATOMIC_RELAXED);
	return true;
}

/*
 * Events of applications that are counted instead of recorded, and histograms of their
 * fields: a tally for each rule that counts, with a counter for each event name and each user.
 * Tallies live as long as the session, as their counts remain; count.c sends the counters to the
 * applications that have such events.
 */

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

static int user_stats_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct user_stat *)a)->name, ((const struct user_stat *)b)->name);
}

static uint64_t user_stats_real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t stat_bytes(const struct user_stat *stat)
{
	return sizeof(*stat) + strlen(stat->name);
}

static struct quotas *user_stats_quotas_of(const struct user_session *us)
{
	return us->rec.recorder->config.quotas;
}

/* @at points to the link of it in the list. */
static void place_drop(struct user_session *us, struct user_place **at)
{
	struct user_place *place = *at;

	*at = place->next;
	quota_give(user_stats_quotas_of(us), user_account(us, place->uid), QUOTA_TEXT,
		   sizeof(*place));
	free(place);
}

static void user_stats_stat_free(struct user_session *us, struct user_stat *stat)
{
	while (stat->places)
		place_drop(us, &stat->places);
	quota_give(user_stats_quotas_of(us), stat->account, QUOTA_TEXT, stat_bytes(stat));
	shape_unref(&us->user->recorder->shapes, stat->shape);
	free(stat);
}

/* Return: NULL where the user has no share left to name it. */
static struct user_stat *stat_get(struct user_session *us, struct user_tally *tally, uid_t uid,
				  struct shape *shape, struct err *err)
{
	const struct user_stat wanted = { .name = shape->name };
	void **found = tfind(&wanted, &tally->stats, user_stats_compare_names);
	struct user_stat *stat;

	if (found)
		return *found;
	stat = xalloc(sizeof(*stat));
	stat->shape = shape_ref(shape);
	stat->name = shape->name;
	stat->account = user_account(us, uid);
	stat->since_ns = user_stats_real_ns();
	if (quota_take_or_explain(user_stats_quotas_of(us), stat->account, QUOTA_TEXT,
				  stat_bytes(stat), err) == 0) {
		if (tsearch(stat, &tally->stats, user_stats_compare_names))
			return stat;
		quota_give(user_stats_quotas_of(us), stat->account, QUOTA_TEXT, stat_bytes(stat));
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
	if (quota_take_or_explain(user_stats_quotas_of(us), user_account(us, uid), QUOTA_TEXT,
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
static void user_stats_warn(struct user_session *us, uid_t uid, const struct err *err)
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
		user_stats_warn(us, uid, &err);
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

			tdelete(stat, &tally->stats, user_stats_compare_names);
			user_stats_stat_free(us, stat);
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

static void user_stats_report(const void *node, VISIT visit, void *closure)
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
				twalk_r(tally->stats, user_stats_report,
					&(struct counted_walk){ us, tally, ops, data });
		}
}

/* In one message: each takes 38 bytes. */
#define COUNTINGS_PER_MESSAGE 1000u
#define OUTBOX_BYTES (COUNTINGS_PER_MESSAGE * 48u + 64u)

/* --- counters to enable ----------------------------------------------------------- */

/** The points that a link should count. */
struct count_plan {
	struct user_link *link;
	const struct channel *channel; /* the current one, */
	struct user_tally *tally;      /* and the rule's */
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

static void count_plan_make(struct count_plan *plan)
{
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

#define BUCKET_MASK (0xffffull << LTT_COUNTS_HEAD_BUCKET_SHIFT)

/** A slot that has a key, with its bucket apart from it. */
struct keyed_entry {
	uint64_t key[LTT_COUNTS_KEY_WORDS];
	uint32_t bucket;
	uint64_t value[2]; /* hits, and with a histogram the sum */
};

struct keyed_list {
	struct keyed_entry *entries;
	size_t nr, cap;
};

/* --- slots ------------------------------------------------------------------------- */

static uint32_t keyed_words(uint64_t head, uint32_t number)
{
	enum ltt_counts_kind kind = LTT_COUNTS_HEAD_KIND(head, number);

	if (kind == LTT_COUNTS_TEXT || kind == LTT_COUNTS_CUT)
		return (LTT_COUNTS_HEAD_BYTES(head, number) + 7u) / 8u;
	return kind != LTT_COUNTS_NONE;
}

/* Words of the key; 0: an application has damaged it. */
static uint32_t keyed_key_words(uint64_t head, uint32_t nr_by)
{
	uint32_t words = 1;

	for (uint32_t i = 0; i < nr_by; i++) {
		enum ltt_counts_kind kind = LTT_COUNTS_HEAD_KIND(head, i);

		if (kind == LTT_COUNTS_NONE || kind > LTT_COUNTS_CUT)
			return 0;
		words += keyed_words(head, i);
	}
	return words <= LTT_COUNTS_KEY_WORDS ? words : 0;
}

/* The bucket is not compared as a part of the key; nor are bytes behind the key. */
static bool keyed_normalize(struct keyed_entry *entry, uint32_t nr_by)
{
	uint32_t words = keyed_key_words(entry->key[0], nr_by);

	entry->bucket = LTT_COUNTS_HEAD_BUCKET(entry->key[0]);
	entry->key[0] &= ~BUCKET_MASK;
	if (!words || entry->bucket > LTT_COUNTS_NEGATIVE)
		return false;
	for (uint32_t i = words; i < LTT_COUNTS_KEY_WORDS; i++)
		entry->key[i] = 0;
	return true;
}

static void keyed_add(struct keyed_list *list, const struct keyed_entry *entry)
{
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->entries = xrealloc(list->entries, list->cap * sizeof(*list->entries));
	}
	list->entries[list->nr++] = *entry;
}

static void keyed_gather(const struct user_session *us, const struct user_counts *counts,
			 uint32_t nr_by, uint32_t slot_words, struct keyed_list *list)
{
	for (uint32_t slot = 0; slot < counts->nr_slots; slot++) {
		struct keyed_entry entry = { 0 };

		if (!counts_key(us, counts, slot, entry.key) || !keyed_normalize(&entry, nr_by))
			continue;
		counts_add_up(us, counts, LTT_COUNTS_REST_WORDS + slot * slot_words, slot_words,
			      entry.value);
		if (entry.value[0])
			keyed_add(list, &entry);
	}
}

static int keyed_compare(const void *a, const void *b)
{
	const struct keyed_entry *x = a, *y = b;
	int order = memcmp(x->key, y->key, sizeof(x->key));

	return order ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* --- reports ----------------------------------------------------------------------- */

static const char *keyed_label(const struct layout_field *field, uint64_t number)
{
	bool is_signed = field->flags & LTT_FIELD_SIGNED;

	for (uint32_t i = 0; i < field->nr_labels; i++) {
		const struct layout_label *label = &field->labels[i];

		if (is_signed ? (int64_t)number >= label->first && (int64_t)number <= label->last :
				number >= (uint64_t)label->first && number <= (uint64_t)label->last)
			return label->text;
	}
	return NULL;
}

/* Whether a character, or a part of one, begins there that is not complete. */
static bool is_partial(const char *at, size_t len)
{
	unsigned char first = (unsigned char)*at;

	return (first >= 0xc2 && len < 2) || (first >= 0xe0 && len < 3) ||
	       (first >= 0xf0 && len < 4);
}

/* A text that was cut within a character ends before it. */
static void keyed_trim(char *text, size_t len)
{
	size_t back = 1;

	while (back < 4 && back < len && ((unsigned char)text[len - back] & 0xc0) == 0x80)
		back++;
	if (len && is_partial(&text[len - back], back))
		text[len - back] = '\0';
}

/** The values of a key, and memory for their texts. */
struct keyed_values {
	struct domain_counted_key key;
	char texts[LTT_COUNTS_BY_MAX][LTT_COUNTS_TEXT_MAX + 1];
};

static void keyed_value(const struct keyed_entry *entry, uint32_t number, uint32_t word,
			const struct layout_field *field, struct keyed_values *ret)
{
	struct domain_key_value *value = &ret->key.values[number];
	size_t bytes = LTT_COUNTS_HEAD_BYTES(entry->key[0], number);
	char *text = ret->texts[number];

	value->kind = LTT_COUNTS_HEAD_KIND(entry->key[0], number);
	if (value->kind < LTT_COUNTS_TEXT) {
		value->number = entry->key[word];
		value->text = keyed_label(field, value->number);
		return;
	}
	memcpy(text, &entry->key[word], bytes);
	text[bytes] = '\0';
	if (value->kind == LTT_COUNTS_CUT)
		keyed_trim(text, strlen(text));
	value->text = text;
}

static void keyed_values_of(const struct keyed_entry *entry, const struct rule *rule,
			    const struct user_stat *stat, struct keyed_values *ret)
{
	char name[RULE_MAX_BY + 1];
	uint32_t word = 1;

	for (uint32_t i = 0; rule_by_field(rule->by, i, name); i++) {
		int field = shape_key(stat->shape, name);

		keyed_value(entry, i, word, &stat->shape->layout->fields[MAX(field, 0)], ret);
		word += keyed_words(entry->key[0], i);
		ret->key.nr = i + 1;
	}
}

/* The coarse bucket of a fine one. */
static uint32_t keyed_bucket(uint32_t fine)
{
	uint64_t first = ltt_counts_fine_first(fine);

	return first ? 64 - (uint32_t)__builtin_clzll(first) : 0;
}

static void keyed_sum(struct ltt_counts *sums, const struct keyed_entry *entry, bool histogram)
{
	sums->count += entry->value[0];
	sums->sum += entry->value[1];
	if (histogram && entry->bucket == LTT_COUNTS_NEGATIVE)
		sums->negative += entry->value[0];
	else if (histogram)
		sums->buckets[keyed_bucket(entry->bucket)] += entry->value[0];
}

static void keyed_report_keys(const struct keyed_list *list, const struct rule *rule,
			      const struct user_stat *stat, const struct domain_counted_ops *ops,
			      void *data)
{
	const bool histogram = rule->kind == RULE_HISTOGRAM;
	size_t i = 0;

	while (i < list->nr) {
		const struct keyed_entry *first = &list->entries[i];
		struct keyed_values values = { .key.nr = 0 };

		while (i < list->nr &&
		       memcmp(list->entries[i].key, first->key, sizeof(first->key)) == 0)
			keyed_sum(&values.key.sums, &list->entries[i++], histogram);
		keyed_values_of(first, rule, stat, &values);
		ops->key(&values.key, data);
	}
}

void keyed_report(const struct user_session *us, const struct rule *rule,
		  const struct user_stat *stat, struct domain_counted *counted,
		  const struct domain_counted_ops *ops, void *data)
{
	const bool histogram = rule->kind == RULE_HISTOGRAM;
	struct ltt_counts_rest rest = { 0 };
	struct keyed_list list = { 0 };
	uint32_t nr_by = strchr(rule->by, ',') ? 2 : 1;

	for (const struct user_place *place = stat->places; place; place = place->next) {
		if (!place->counts)
			continue;
		counts_add_up(us, place->counts, 0, LTT_COUNTS_REST_WORDS, (uint64_t *)&rest);
		keyed_gather(us, place->counts, nr_by, histogram ? 2 : 1, &list);
	}
	if (list.nr)
		qsort(list.entries, list.nr, sizeof(*list.entries), keyed_compare);
	for (size_t i = 0; i < list.nr; i++)
		keyed_sum(&counted->sums, &list.entries[i], histogram);
	counted->sums.missed = rest.missed;
	counted->sums.count += rest.missed + rest.overflow;
	counted->overflow = rest.overflow;
	ops->counted(counted, data);
	keyed_report_keys(&list, rule, stat, ops, data);
	free(list.entries);
}
