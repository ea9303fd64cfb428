/* SPDX-License-Identifier: GPL-2.0-only */
/* stats.c - lttctl stats [SESSION]: the events that were counted instead of being recorded. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/names.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/session/target.h"

#define BAR "########################################"

static struct json_object *stats_verb_bucket(const struct ltt_ctl_bucket *bucket)
{
	struct json_object *o = json_object_new_object();

	JSON_COPY(o, bucket, first, last, count);
	return o;
}

static void stats_verb_add_buckets(struct json_object *o,
				   const struct ltt_ctl_bucket *const *buckets, size_t nr)
{
	json_set(o, "buckets", json_object_new_array());
	for (size_t i = 0; i < nr; i++)
		json_append(o, "buckets", stats_verb_bucket(buckets[i]));
}

/* --- keys -------------------------------------------------------------------------- */

static struct json_object *stats_verb_value(const struct ltt_ctl_key_value *value)
{
	struct json_object *o = json_object_new_object();

	if (value->kind == LTT_CTL_KEY_SIGNED)
		json_set(o, "value", json_object_new_int64(value->number));
	else if (value->kind == LTT_CTL_KEY_UNSIGNED)
		json_set_num(o, "value", (uint64_t)value->number);
	else
		json_set_str(o, "value", value->text);
	if (value->kind == LTT_CTL_KEY_CUT)
		json_set_bool(o, "cut", true);
	if (value->kind < LTT_CTL_KEY_TEXT && *value->text)
		json_set_str(o, "label", value->text);
	return o;
}

static struct json_object *stats_verb_key(const struct ltt_ctl_key *key, bool histogram)
{
	struct json_object *o = json_object_new_object();

	json_set(o, "key", json_object_new_array());
	for (size_t i = 0; i < key->nr_values; i++)
		json_append(o, "key", stats_verb_value(key->values[i]));
	JSON_COPY(o, key, count);
	if (!histogram)
		return o;
	JSON_COPY(o, key, sum, negative);
	stats_verb_add_buckets(o, key->buckets, key->nr_buckets);
	return o;
}

static int stats_verb_compare_values(const struct ltt_ctl_key_value *x,
				     const struct ltt_ctl_key_value *y)
{
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (x->kind >= LTT_CTL_KEY_TEXT)
		return strcmp(x->text, y->text);
	if (x->kind == LTT_CTL_KEY_SIGNED)
		return (x->number > y->number) - (x->number < y->number);
	return ((uint64_t)x->number > (uint64_t)y->number) -
	       ((uint64_t)x->number < (uint64_t)y->number);
}

/* The most frequent first, equal ones by their values. */
static int stats_verb_compare(const void *a, const void *b)
{
	const struct ltt_ctl_key *x = *(const struct ltt_ctl_key *const *)a;
	const struct ltt_ctl_key *y = *(const struct ltt_ctl_key *const *)b;
	int order = 0;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	for (size_t i = 0; !order && i < x->nr_values && i < y->nr_values; i++)
		order = stats_verb_compare_values(x->values[i], y->values[i]);
	return order;
}

static void stats_verb_add_keys(struct json_object *o, const struct ltt_ctl_counted *c)
{
	size_t bytes = c->nr_keys * sizeof(*c->keys);
	const struct ltt_ctl_key **keys AUTO_FREE = xalloc(bytes + 1);
	struct names by CLEANUP(names_fini) = { 0 };

	names_split(c->by, &by);
	json_set(o, "keyed_by", json_object_new_array());
	for (size_t i = 0; i < by.nr; i++)
		json_append(o, "keyed_by", json_object_new_string(by.names[i]));
	JSON_COPY(o, c, overflow);
	if (!*c->field)
		json_set_num(o, "missed", c->missed);
	json_set(o, "keys", json_object_new_array());
	if (!c->nr_keys)
		return;
	memcpy(keys, c->keys, bytes);
	qsort(keys, c->nr_keys, sizeof(*keys), stats_verb_compare);
	for (size_t i = 0; i < c->nr_keys; i++)
		json_append(o, "keys", stats_verb_key(keys[i], *c->field));
}

static struct json_object *stats_verb_counted(const struct ltt_ctl_counted *c)
{
	struct json_object *o = json_object_new_object();

	json_set_str(o, "domain", json_domain(c->domain));
	JSON_COPY(o, c, channel, event);
	json_set_bool(o, "counting", c->counting);
	json_set_time(o, "since_ns", (int64_t)c->since_ns);
	JSON_COPY(o, c, count);
	json_set_bool(o, "at_least", c->at_least);
	if (*c->by)
		stats_verb_add_keys(o, c);
	if (!*c->field)
		return o;
	JSON_COPY(o, c, field, sum, negative, missed);
	stats_verb_add_buckets(o, c->buckets, c->nr_buckets);
	return o;
}

/* Return: 0 or the code in ctl->err. */
static int stats_verb_fetch(struct ctl *ctl, const char *session, struct json_object **ret)
{
	struct ltt_ctl_stats *stats;

	if (ctl_done(ctl, ltt_ctl_list_stats(ctl->library, session, &stats), &ctl->err) != 0)
		return ctl->err.code;
	*ret = json_object_new_object();
	json_set_str(*ret, "session", session);
	json_set_bool(*ret, "at_least", stats->at_least);
	json_set(*ret, "counted", json_object_new_array());
	for (size_t i = 0; i < stats->nr; i++)
		json_append(*ret, "counted", stats_verb_counted(stats->counted[i]));
	ltt_ctl_stats_free(stats);
	return 0;
}

/* --- text ------------------------------------------------------------------------- */

static bool stats_verb_has_rates(struct json_object *record)
{
	return json_len(record, "counted") &&
	       json_object_object_get_ex(json_at(record, "counted", 0), "per_second", NULL);
}

static void show_counts(FILE *out, struct json_object *record)
{
#define COUNTS                                             \
	{ "DOMAIN", "{domain}" }, { "EVENT", "{event}" },  \
	{                                                  \
		"COUNT", "[{?at_least}at least ]{count:n}" \
	}
#define COUNTING { "", "[{!counting}no longer]" }
	static const char *const counts[][2] = { COUNTS, COUNTING };
	static const char *const rates[][2] = { COUNTS, { "PER SECOND", "{per_second:n}" }, COUNTING };

	text_form(out, record,
		  "[{?counted}|{?at_least}Session {session} has counted no events under this "
		  "session daemon\n|Session {session} counts no events; 'lttctl enable-event "
		  "--count' makes it count\n]");
	if (!json_len(record, "counted"))
		return;
	if (stats_verb_has_rates(record))
		table_records(out, "llrrl", rates, json_get(record, "counted"));
	else
		table_records(out, "llrl", counts, json_get(record, "counted"));
}

/* Hits whose value is known. */
static uint64_t stats_verb_measured(struct json_object *o)
{
	return json_num(o, "count") - json_num(o, "missed") - json_num(o, "overflow");
}

static void show_average(FILE *out, struct json_object *o)
{
	uint64_t nr = stats_verb_measured(o), sum = json_num(o, "sum");

	if (nr && nr <= INT64_MAX && json_num(o, "negative"))
		fprintf(out, ", %" PRId64 " on average", (int64_t)sum / (int64_t)nr);
	else if (nr)
		fprintf(out, ", %" PRIu64 " on average", sum / nr);
}

static void stats_verb_add_row(struct table *table, const char *range, uint64_t count,
			       uint64_t largest)
{
	char buf[TEXT_BYTES];

	table_cell(table, "%s", range);
	table_cell(table, "%s", text_count(buf, count));
	table_cell(table, "%.*s", (int)((count * strlen(BAR) + largest - 1) / largest), BAR);
}

/* Without gaps: sizes between two lines did not occur. */
static void show_buckets(FILE *out, struct json_object *o)
{
	uint64_t largest = json_num(o, "negative"), next = 0;
	struct table table = { .columns = "rrl" };
	char from[TEXT_BYTES], to[TEXT_BYTES];

	for (size_t i = 0; i < json_len(o, "buckets"); i++)
		largest = MAX(largest, json_num(json_at(o, "buckets", i), "count"));
	if (json_num(o, "negative"))
		stats_verb_add_row(&table, "below 0", json_num(o, "negative"), largest);
	for (size_t i = 0; i < json_len(o, "buckets"); i++) {
		struct json_object *b = json_at(o, "buckets", i);
		uint64_t first = json_num(b, "first"), last = json_num(b, "last");
		char *range AUTO_FREE = first == last ?
						xstrdup(text_count(from, first)) :
						xasprintf("%s to %s", text_count(from, first),
							  text_count(to, last));

		if (i && first != next)
			stats_verb_add_row(&table, "...", 0, largest);
		stats_verb_add_row(&table, range, json_num(b, "count"), largest);
		next = last + 1;
	}
	if (largest)
		table_print(out, &table);
}

static void stats_verb_title(struct table *table, struct json_object *o)
{
	for (size_t i = 0; i < json_len(o, "keyed_by"); i++)
		table_cell(table, "%s", json_object_get_string(json_at(o, "keyed_by", i)));
	table_cell(table, "COUNT");
	if (*json_str(o, "field"))
		table_cell(table, "AVERAGE");
}

static void stats_verb_average_cell(struct table *table, struct json_object *key)
{
	uint64_t nr = json_num(key, "count"), sum = json_num(key, "sum");

	if (nr <= INT64_MAX && json_num(key, "negative"))
		table_cell(table, "%" PRId64, (int64_t)sum / (int64_t)nr);
	else
		table_cell(table, "%" PRIu64, nr ? sum / nr : 0);
}

/* As it stands in the event: a label with its number, and a text that was cut with dots. */
#define VALUE "[{label?} ({value})|{value}[{?cut}...]]"

static void show_keys(FILE *out, struct json_object *o)
{
	bool histogram = *json_str(o, "field"), two = json_len(o, "keyed_by") > 1;
	struct table table = { .columns = histogram ? two ? "llrr" : "lrr" : two ? "llr" : "lr" };

	stats_verb_title(&table, o);
	for (size_t i = 0; i < json_len(o, "keys"); i++) {
		struct json_object *key = json_at(o, "keys", i);

		for (size_t j = 0; j < json_len(key, "key"); j++)
			table_form(&table, json_at(key, "key", j), VALUE);
		table_form(&table, key, "{count:n}");
		if (histogram)
			stats_verb_average_cell(&table, key);
	}
	table_print(out, &table);
	text_form(out, o,
		  "[overflow: {overflow:n?} in none of them, as the table of keys had no room\n]"
		  "[{!field}{missed:n?} without a key that could be read\n]");
}

static void stats_verb_text(FILE *out, struct json_object *record)
{
	show_counts(out, record);
	for (size_t i = 0; i < json_len(record, "counted"); i++) {
		struct json_object *o = json_at(record, "counted", i);

		text_form(out, o, "[{?keyed_by}\n{event}:\n]");
		if (json_len(o, "keyed_by"))
			show_keys(out, o);
		if (!*json_str(o, "field"))
			continue;
		text_form(out, o, "\n{event}, {field}");
		show_average(out, o);
		text_form(out, o, "[, {missed:n?} not looked at]:\n");
		show_buckets(out, o);
	}
}

/* --- again and again ----------------------------------------------------------------- */

static bool stats_verb_is_same(struct json_object *a, struct json_object *b)
{
	static const char *const names[] = { "domain", "channel", "event", "field" };
	struct json_object *x, *y;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(json_str(a, names[i]), json_str(b, names[i])) != 0)
			return false;
	x = json_object_object_get(a, "keyed_by");
	y = json_object_object_get(b, "keyed_by");
	return json_object_equal(x, y);
}

/* Hits since @before was counted; all of them if there is no such count, or a greater one, which
 * is of an earlier session daemon. */
static uint64_t stats_verb_new_hits(struct json_object *o, struct json_object *before)
{
	uint64_t count = json_num(o, "count");

	for (size_t i = 0; before && i < json_len(before, "counted"); i++) {
		struct json_object *old = json_at(before, "counted", i);

		if (stats_verb_is_same(o, old) && json_num(old, "count") <= count)
			return count - json_num(old, "count");
	}
	return count;
}

static void stats_verb_add_rates(struct json_object *record, struct json_object *before,
				 uint64_t elapsed_ns)
{
	for (size_t i = 0; i < json_len(record, "counted"); i++) {
		struct json_object *o = json_at(record, "counted", i);
		double hits = (double)stats_verb_new_hits(o, before);

		json_set_num(o, "per_second", (uint64_t)(hits * 1e9 / (double)elapsed_ns + 0.5));
	}
}

static void stats_verb_print(struct ctl *ctl, struct json_object *record)
{
	struct json_object *printable AUTO_RECORD = NULL;
	char stamp[16];
	time_t now = time(NULL);
	struct tm tm;

	ctl->printed = true;
	if (ctl->json) {
		text_json_line(stdout, record);
	} else if (!ctl->quiet) {
		printable = text_printable(record);
		strftime(stamp, sizeof(stamp), "%H:%M:%S", localtime_r(&now, &tm));
		printf("%s %s:\n", stamp, json_str(printable, "session"));
		stats_verb_text(stdout, printable);
		putchar('\n');
	}
	fflush(stdout);
}

/* Whole figures have been written: nothing is left to be done. */
static void stats_verb_on_signal(int signo)
{
	(void)signo;
	_exit(STATUS_OK);
}

static uint64_t stats_verb_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void stats_verb_sleep(uint64_t until_ns)
{
	const struct timespec ts = { (time_t)(until_ns / 1000000000u),
				     (long)(until_ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* Until the session is destroyed, which is no error. */
static enum status stats_verb_follow(struct ctl *ctl, const char *session, uint64_t period_ns)
{
	struct json_object *before AUTO_RECORD = NULL;
	uint64_t last_ns = 0;

	signal(SIGINT, stats_verb_on_signal);
	signal(SIGTERM, stats_verb_on_signal);
	signal(SIGPIPE, stats_verb_on_signal);
	for (;;) {
		uint64_t now_ns = stats_verb_now_ns();
		struct json_object *record;

		if (stats_verb_fetch(ctl, session, &record) != 0)
			break;
		if (before)
			stats_verb_add_rates(record, before, now_ns - last_ns);
		stats_verb_print(ctl, record);
		json_object_put(before);
		before = record;
		last_ns = now_ns;
		stats_verb_sleep(now_ns + period_ns);
	}
	if (!before || ctl->err.code != ERR_NO_SESSION)
		return STATUS_ERROR;
	ctl->err = (struct err){ 0 };
	return STATUS_OK;
}

static enum status stats_verb_show(struct ctl *ctl, const char *session)
{
	if (stats_verb_fetch(ctl, session, &ctl->record) != 0)
		return STATUS_ERROR;
	if (!json_flag(ctl->record, "at_least"))
		return STATUS_OK;
	print_warning(ctl,
		      "session '%s': counts made before the session daemon was started again are "
		      "lost",
		      session);
	return STATUS_LOST;
}

/* --- the verb ------------------------------------------------------------------------ */

static int follow;
static char *interval;
static uint64_t interval_s = 1;

static const struct poptOption options[] = {
	OPTION_FLAG("follow", 'f', &follow,
		    "show them again and again, until the session is destroyed"),
	OPTION_TEXT("interval", 0, &interval, "with --follow: seconds in between (1)", "SECONDS"),
	POPT_TABLEEND,
};

static enum status stats_verb_check(struct ctl *ctl)
{
	if (!interval)
		return STATUS_OK;
	if (!follow)
		err_set(&ctl->err, ERR_INVALID, "--interval is for --follow");
	else if (parse_u64(interval, &interval_s) != 0 || !interval_s || interval_s > 86400)
		err_set(&ctl->err, ERR_INVALID,
			"invalid interval '%s'; use a number of seconds, 1 to 86400", interval);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status stats_verb_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, operand(ctl, 0));
	enum status status;

	if (!session)
		return STATUS_ERROR;
	status = follow ? stats_verb_follow(ctl, session, interval_s * 1000000000u) :
			  stats_verb_show(ctl, session);
	if (status == STATUS_ERROR)
		target_suggest(ctl, session, NULL, NULL);
	return status;
}

const struct verb verb_stats = {
	.name = "stats",
	.operands = "[SESSION]",
	.help = "Show what was counted instead of being recorded",
	.options = options,
	.paged = true,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = stats_verb_check,
	.run = stats_verb_run,
	.text = stats_verb_text,
};
