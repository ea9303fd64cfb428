/* SPDX-License-Identifier: GPL-2.0-only */
/* diff.c - lttctl diff A B: events and spans of two traces that are new, gone, more or less
 * frequent, slower or faster, by more than the noise of both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/profile.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/table.h"
#include "ctl/print/text.h"
#include "ctl/trace/viewing.h"
#include "read/event.h"
#include "show/show.h"

#define HUGE_RATIO 1e300

static struct {
	int all;
} opt;

static struct show_options chosen;

static const struct poptOption options[] = {
	OPTION_FLAG("all", 'a', &opt.all, "those without a difference, too"),
	OPTION_TEXT("events", 'e', &chosen.events, "only events with such names", "PATTERN[,...]"),
	OPTIONS_EVENTS(chosen),
	POPT_TABLEEND,
};

static enum status diff_verb_check(struct ctl *ctl)
{
	if (ctl->nr_operands != 2)
		err_set(&ctl->err, ERR_INVALID,
			"two traces are compared; usage: lttctl diff SESSION|DIR SESSION|DIR");
	else
		(void)!show_check(&chosen, &ctl->err);
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

/* --- reading -------------------------------------------------------------------------------- */

/** One of the two traces. */
struct diff_side {
	char *path;
	struct profile *profile;
	enum show_result verdict;
	uint64_t lost;
};

static void diff_verb_warn(void *priv, const char *sentence)
{
	print_warning(priv, "%s", sentence);
}

/* Return: a view of the trace, and the selected events; NULL with @err set. */
static struct view *diff_verb_open(struct ctl *ctl, const char *path, bool report,
				   struct pairs *pairs, struct view_select *select)
{
	struct view *view;

	if (show_open(path, false, report ? diff_verb_warn : NULL, ctl, &view, &ctl->err) != 0)
		return NULL;
	if (show_select(view, path, &chosen, pairs, select, &ctl->err) == 0)
		return view;
	return view_free(view);
}

/* The times of the first and last event: by a reading of its own. */
static struct profile *diff_verb_profile(struct ctl *ctl, const char *path)
{
	const struct view_summary *sum;
	struct view_select select;
	struct pairs *pairs = pairs_new(NULL, NULL, 0);
	struct view *view = diff_verb_open(ctl, path, false, pairs, &select);
	struct profile *profile = NULL;
	int r = view ? view_scan(view, &select) : 0;

	if (view && r == 0)
		r = view_summary(view, &sum);
	if (view && r == 0 && sum->events)
		profile = profile_new(sum->first_ns, sum->last_ns);
	else if (view && r == 0)
		err_set(&ctl->err, ERR_NO_EVENT, "%s has no event%s", path,
			show_selects(&chosen) ? " that matches the options" : "s");
	else if (view)
		err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", path);
	view_free(view);
	pairs_free(pairs);
	return profile;
}

static void diff_verb_take(struct profile *profile, const struct event *event)
{
	struct span span;

	profile_take_event(profile, event);
	if (!event->took)
		return;
	span_of_pair(&span, event);
	profile_take_span(profile, &span);
}

static int diff_verb_read(struct ctl *ctl, struct diff_side *side)
{
	const struct view_summary *sum;
	struct pairs *pairs = pairs_new(NULL, NULL, 0);
	struct view_select select;
	struct event event;
	struct view *view;
	int r = 0;

	pairs_by_suffix(pairs, NULL);
	side->profile = diff_verb_profile(ctl, side->path);
	view = side->profile ? diff_verb_open(ctl, side->path, true, pairs, &select) : NULL;
	while (view && (r = event_next(view, &select, &event)) > 0)
		diff_verb_take(side->profile, &event);
	if (view && r == 0)
		r = view_summary(view, &sum);
	if (view && r == 0) {
		side->verdict = show_verdict(sum);
		side->lost = sum->lost + sum->lost_before + sum->lost_buffers;
	}
	if (r < 0)
		err_errno(&ctl->err, ERR_OUTPUT, -r, "can't read %s", side->path);
	view_free(view);
	pairs_free(pairs);
	return ctl->err.code;
}

/* --- the record ----------------------------------------------------------------------------- */

static const char *const figure_keys[] = {
	[PROFILE_RATE] = "per_second",
	[PROFILE_P50] = "p50_ns",
	[PROFILE_P99] = "p99_ns",
};

/* Return: NULL: they do not differ. */
static const char *diff_verb_change(enum profile_figure figure, const struct profile_value *a,
				    const struct profile_value *b)
{
	if (!a->value && figure == PROFILE_RATE)
		return "new";
	if (!b->value && figure == PROFILE_RATE)
		return "gone";
	if (!profile_differs(a, b))
		return NULL;
	if (figure == PROFILE_RATE)
		return b->value > a->value ? "more" : "fewer";
	return b->value > a->value ? "slower" : "faster";
}

/* To the thousandth. */
static struct json_object *diff_verb_number(double value)
{
	return json_object_new_double((double)(int64_t)(value * 1000 + 0.5) / 1000);
}

static void diff_verb_compare(struct json_object *record, const struct profile *const sides[2],
			      const struct profile_item *const items[2], enum profile_figure figure)
{
	struct profile_value a = profile_value_of(sides[0], items[0], figure);
	struct profile_value b = profile_value_of(sides[1], items[1], figure);
	const struct profile_item *item = items[0] ? items[0] : items[1];
	const char *change = diff_verb_change(figure, &a, &b);
	struct json_object *o;

	if (!change)
		json_set_num(record, "same", json_num(record, "same") + 1);
	if (!change && !opt.all)
		return;
	o = json_object_new_object();
	json_set_str(o, "change", change ? change : "same");
	json_set_str(o, "of", item->kind == PROFILE_SPANS ? "spans" : "events");
	json_set_str(o, "figure", figure_keys[figure]);
	json_set_str(o, "name", item->name);
	json_set(o, "a_value", diff_verb_number(a.value));
	json_set(o, "a_noise", diff_verb_number(a.noise));
	json_set(o, "b_value", diff_verb_number(b.value));
	json_set(o, "b_noise", diff_verb_number(b.noise));
	json_set(o, "ratio", diff_verb_number(a.value ? b.value / a.value : 0));
	json_append(record, "changes", o);
}

/* The rates of events, quantiles of spans: the rate of these is that of their events. */
static void diff_verb_compare_item(struct json_object *record, const struct profile *const sides[2],
				   const struct profile_item *const items[2])
{
	if ((items[0] ? items[0] : items[1])->kind == PROFILE_EVENTS) {
		diff_verb_compare(record, sides, items, PROFILE_RATE);
	} else if (items[0] && items[1]) {
		diff_verb_compare(record, sides, items, PROFILE_P50);
		diff_verb_compare(record, sides, items, PROFILE_P99);
	}
}

/* How large a change is, without its direction; new and gone ones come first. */
static double diff_verb_size(struct json_object *o)
{
	double ratio = json_object_get_double(json_get(o, "ratio"));

	if (!ratio)
		return HUGE_RATIO;
	return ratio < 1 ? 1 / ratio : ratio;
}

static int diff_verb_larger(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a;
	struct json_object *y = *(struct json_object *const *)b;
	double larger = diff_verb_size(x), other = diff_verb_size(y);

	if (larger != other)
		return larger > other ? -1 : 1;
	return strcmp(json_str(x, "name"), json_str(y, "name"));
}

static struct json_object *diff_verb_result(const struct diff_side sides[2])
{
	const struct profile *const profiles[2] = { sides[0].profile, sides[1].profile };
	struct json_object *record = json_object_new_object();

	for (int i = 0; i < 2; i++) {
		struct json_object *o = json_object_new_object();

		json_set_str(o, "path", sides[i].path);
		json_set_num(o, "events", profiles[i]->events);
		json_set_num(o, "duration_ns", profiles[i]->duration_ns);
		json_set_num(o, "lost", sides[i].lost);
		json_append(record, "compared", o);
	}
	json_set_num(record, "same", 0);
	json_set(record, "changes", json_object_new_array());
	for (int side = 0; side < 2; side++) {
		struct profile_item *item = profiles[side]->items;

		for (; item; item = item->next) {
			const struct profile_item *other =
				profile_find(profiles[!side], item->kind, item->name);
			const struct profile_item *const items[2] = { side ? other : item,
								      side ? item : other };

			if (!side || !other) /* the others were compared before */
				diff_verb_compare_item(record, profiles, items);
		}
	}
	json_object_array_sort(json_get(record, "changes"), diff_verb_larger);
	return record;
}

static enum status diff_verb_run(struct ctl *ctl)
{
	struct diff_side sides[2] = { 0 };
	enum show_result verdict = SHOW_DONE;

	for (int i = 0; i < 2 && !ctl->err.code; i++) {
		sides[i].path = viewing_path(ctl, operand(ctl, (unsigned int)i));
		if (!sides[i].path || diff_verb_read(ctl, &sides[i]) != 0)
			break;
		if (sides[i].verdict != SHOW_DONE)
			verdict = sides[i].verdict;
		if (sides[i].lost)
			print_warning(ctl, "%s lacks events that were lost; its rates are too low",
				      sides[i].path);
	}
	if (!ctl->err.code)
		ctl->record = diff_verb_result(sides);
	for (int i = 0; i < 2; i++) {
		profile_free(sides[i].profile);
		free(sides[i].path);
	}
	return ctl->err.code ? STATUS_ERROR : (enum status)show_exit_status(verdict);
}

/* --- text ------------------------------------------------------------------------------------- */

/* A rate, or a time. */
static void diff_verb_value(struct table *table, struct json_object *o, const char *key, bool rate)
{
	double value = json_object_get_double(json_get(o, key));
	char buf[TEXT_BYTES];

	if (!rate)
		table_cell(table, "%s", text_time(buf, (uint64_t)value));
	else if (value < 100)
		table_cell(table, "%.2f", value);
	else
		table_cell(table, "%s", text_count(buf, (uint64_t)(value + 0.5)));
}

static void diff_verb_row(struct table *table, struct json_object *o)
{
	bool rate = strcmp(json_str(o, "figure"), "per_second") == 0;
	double ratio = json_object_get_double(json_get(o, "ratio"));

	table_form(table, o, "{change}");
	table_cell(table, "%s",
		   rate					    ? "per s" :
		   strncmp(json_str(o, "figure"), "p50", 3) ? "p99" :
							      "p50");
	diff_verb_value(table, o, "a_value", rate);
	diff_verb_value(table, o, "b_value", rate);
	if (ratio)
		table_cell(table, "x %.2f", ratio);
	else
		table_cell(table, "%s", "");
	table_form(table, o, "{name}");
}

static void diff_verb_text(FILE *out, struct json_object *record)
{
	static const char *const heads[] = { "CHANGE", "OF", "A", "B", "RATIO", "NAME" };
	struct table table = { .columns = "llrrrl" };

	for (size_t i = 0; i < json_len(record, "compared"); i++) {
		fputs(i ? "B: " : "A: ", out);
		text_form(out, json_at(record, "compared", i),
			  "{path}: {events:n} event{events:s} in {duration_ns:t}\n");
	}
	for (size_t i = 0; json_len(record, "changes") && i < ARRAY_SIZE(heads); i++)
		table_cell(&table, "%s", heads[i]);
	for (size_t i = 0; i < json_len(record, "changes"); i++)
		diff_verb_row(&table, json_at(record, "changes", i));
	table_print(out, &table);
	text_form(out, record,
		  "{same:n} figure{same:s} differ by no more than the noise of both traces\n");
}

const struct verb verb_diff = {
	.name = "diff",
	.operands = "SESSION|DIR SESSION|DIR",
	.help = "Compare two traces: what is new, gone, more frequent or slower",
	.options = options,
	.paged = true,
	.daemon = DAEMON_WELCOME,
	.max_operands = 2,
	.check = diff_verb_check,
	.run = diff_verb_run,
	.text = diff_verb_text,
};
