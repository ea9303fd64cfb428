/* SPDX-License-Identifier: GPL-2.0-only */
/* stats.c - lttctl stats [SESSION]: what events were counted instead of being recorded. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/library.h"
#include "ctl/record.h"
#include "ctl/table.h"
#include "ctl/target.h"
#include "ctl/text.h"

#define BAR "########################################"

static struct json_object *stats_verb_bucket(const struct ltt_ctl_bucket *bucket)
{
	struct json_object *o = json_object_new_object();

	record_set_num(o, "first", bucket->first);
	record_set_num(o, "last", bucket->last);
	record_set_num(o, "count", bucket->count);
	return o;
}

static struct json_object *stats_verb_counted(const struct ltt_ctl_counted *c)
{
	struct json_object *o = json_object_new_object();

	record_set_str(o, "domain", record_domain(c->domain));
	record_set_str(o, "channel", c->channel);
	record_set_str(o, "event", c->event);
	record_set_bool(o, "counting", c->counting);
	record_set_num(o, "since_ns", c->since_ns);
	record_set_num(o, "count", c->count);
	if (!*c->field)
		return o;
	record_set_str(o, "field", c->field);
	record_set_num(o, "sum", c->sum);
	record_set_num(o, "negative", c->negative);
	record_set_num(o, "missed", c->missed);
	record_set(o, "buckets", json_object_new_array());
	for (size_t i = 0; i < c->nr_buckets; i++)
		record_append(o, "buckets", stats_verb_bucket(c->buckets[i]));
	return o;
}

static enum status stats_verb_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, operand(ctl, 0));
	struct ltt_ctl_stats *stats;

	if (!session)
		return STATUS_ERROR;
	if (library_done(ctl, ltt_ctl_list_stats(library(ctl), session, &stats), &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	record_set_str(ctl->record, "session", session);
	record_set(ctl->record, "counted", json_object_new_array());
	for (size_t i = 0; i < stats->nr; i++)
		record_append(ctl->record, "counted", stats_verb_counted(stats->counted[i]));
	ltt_ctl_stats_free(stats);
	return STATUS_OK;
}

/* --- text ------------------------------------------------------------------------- */

static void show_counts(FILE *out, struct json_object *record)
{
	struct table table = { .columns = "llrl" };
	char buf[TEXT_BYTES];

	if (!record_len(record, "counted")) {
		fprintf(out,
			"Session %s counts no events; 'lttctl enable-event --count' makes it "
			"count\n",
			record_str(record, "session"));
		return;
	}
	table_cell(&table, "DOMAIN");
	table_cell(&table, "EVENT");
	table_cell(&table, "COUNT");
	table_cell(&table, "%s", "");
	for (size_t i = 0; i < record_len(record, "counted"); i++) {
		struct json_object *o = record_at(record, "counted", i);

		table_cell(&table, "%s", record_str(o, "domain"));
		table_cell(&table, "%s", record_str(o, "event"));
		table_cell(&table, "%s", text_count(buf, record_num(o, "count")));
		table_cell(&table, "%s", record_bool(o, "counting") ? "" : "no longer");
	}
	table_print(out, &table);
}

static void show_average(FILE *out, struct json_object *o)
{
	uint64_t nr = record_num(o, "count") - record_num(o, "missed"), sum = record_num(o, "sum");

	if (nr && nr <= INT64_MAX && record_num(o, "negative"))
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

/* Without gaps: what is between two sizes was never seen. */
static void show_buckets(FILE *out, struct json_object *o)
{
	uint64_t largest = record_num(o, "negative"), next = 0;
	struct table table = { .columns = "rrl" };
	char from[TEXT_BYTES], to[TEXT_BYTES];

	for (size_t i = 0; i < record_len(o, "buckets"); i++)
		largest = MAX(largest, record_num(record_at(o, "buckets", i), "count"));
	if (record_num(o, "negative"))
		stats_verb_add_row(&table, "below 0", record_num(o, "negative"), largest);
	for (size_t i = 0; i < record_len(o, "buckets"); i++) {
		struct json_object *b = record_at(o, "buckets", i);
		uint64_t first = record_num(b, "first"), last = record_num(b, "last");
		char *range AUTO_FREE = first == last ?
						xstrdup(text_count(from, first)) :
						xasprintf("%s to %s", text_count(from, first),
							  text_count(to, last));

		if (i && first != next)
			stats_verb_add_row(&table, "...", 0, largest);
		stats_verb_add_row(&table, range, record_num(b, "count"), largest);
		next = last + 1;
	}
	if (largest)
		table_print(out, &table);
}

static void stats_verb_text(FILE *out, struct json_object *record)
{
	char buf[TEXT_BYTES];

	show_counts(out, record);
	for (size_t i = 0; i < record_len(record, "counted"); i++) {
		struct json_object *o = record_at(record, "counted", i);

		if (!*record_str(o, "field"))
			continue;
		fprintf(out, "\n%s, %s", record_str(o, "event"), record_str(o, "field"));
		show_average(out, o);
		if (record_num(o, "missed"))
			fprintf(out, ", %s not looked at",
				text_count(buf, record_num(o, "missed")));
		fprintf(out, ":\n");
		show_buckets(out, o);
	}
}

const struct verb verb_stats = {
	.name = "stats",
	.operands = "[SESSION]",
	.help = "Show what was counted instead of being recorded",
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.run = stats_verb_run,
	.text = stats_verb_text,
};
