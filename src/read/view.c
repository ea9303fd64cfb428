/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "find.h"
#include "read/feed/ahead.h"
#include "read/live/live.h"
#include "pairs.h"
#include "read/decode/plan.h"
#include "skim.h"
#include "verify.h"
#include "view_priv.h"

/* Memory for windows, shared by the feeds. */
#define WINDOWS_TOTAL (36u << 20)
#define WINDOW_LEAST (16u << 10)
#define WINDOW_MOST (1u << 20)
/* Marks of events likewise, see feed.h. */
#define MARKS_TOTAL ((10u << 20) / sizeof(struct feed_mark))
#define MARKS_MOST (1u << 17)

/* --- open and free -------------------------------------------------------- */

static bool is_same_dir(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Return: 0; -EPROTO: guests->err is set. */
static int set_guest(struct view *view, struct source *source)
{
	struct guest *guest = view->guest;

	for (size_t i = 0; i < view->nr_sources; i++) {
		if (!is_same_dir(view->sources[i]->dir_fd, source->dir_fd))
			continue;
		err_set(&view->guests->err, ERR_INVALID,
			"--guest=%s: the trace %s is shown already, as one of %s", guest->word,
			source->label, view->sources[i]->guest ? "a guest" : "the host");
		return -EPROTO;
	}
	return guest_trace_new(view->guests, guest, source);
}

static void set_relay_clock(struct view *view, struct source *source)
{
	if (source_to_relay_clock(source) < 0) {
		report_note(&view->reporter,
			    "%s: how its host's clock differs from the relay's is not known; its "
			    "timestamps are those of its host",
			    *source->label ? source->label : "the trace");
		view->relay_clock_unknown = true;
	}
}

/* Of a guest's trace: its path as the user writes it. */
static char *guest_label(const struct guest *guest, const char *label)
{
	return strcmp(label, ".") == 0 ? xstrdup(guest->dir) :
					 xasprintf("%s/%s", guest->dir, label);
}

struct source *view_add_source(struct view *view, struct source *source)
{
	if (!(view->nr_sources & (view->nr_sources - 1))) /* full at each power of two */
		view->sources = xrealloc(view->sources,
					 MAX(2 * view->nr_sources, 1u) * sizeof(*view->sources));
	source->number = (uint32_t)view->nr_sources;
	view->sources[view->nr_sources++] = source;
	return source;
}

static int add_source(void *priv, int dir_fd, const char *label, const struct find_names *files)
{
	struct view *view = priv;
	char *below AUTO_FREE = view->guest ? guest_label(view->guest, label) : NULL;
	struct source *source;
	int r = source_open(dir_fd, below ? below : label, files, view->forms, &view->reporter,
			    &source);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (view->guest) {
		r = set_guest(view, source);
		if (r < 0) {
			source_free(source);
			return r;
		}
	} else if (view->relay_clock) {
		set_relay_clock(view, source);
	}
	view_add_source(view, source);
	return 0;
}

static void add_empty(void *priv)
{
	struct view *view = priv;

	view->nr_empty++;
}

static int by_label(const void *a, const void *b)
{
	return strverscmp((*(struct source *const *)a)->label, (*(struct source *const *)b)->label);
}

static void count_feeds(struct view *view)
{
	uint32_t order = 0, nr = 1;

	for (size_t i = 0; i < view->nr_sources; i++)
		nr += view->sources[i]->nr_feeds;
	for (size_t i = 0; i < view->nr_sources; i++)
		for (uint32_t k = 0; k < view->sources[i]->nr_feeds; k++) {
			struct feed *feed = view->sources[i]->feeds[k];

			feed->order = order++;
			feed->window.slab = &view->slab;
			feed->marks_most = MAX(MIN(MARKS_TOTAL / nr, MARKS_MOST), MARKS_LEAST);
		}
	view->preferred = MAX(MIN(WINDOWS_TOTAL / (order + 1), WINDOW_MOST), WINDOW_LEAST);
	slab_init(&view->slab, view->preferred, order);
}

/* Of each file only the time of the first event is read; the file is opened when it is needed. */
int view_peek(struct view *view, const int64_t *begin_ns)
{
	if (view->peeked)
		return 0;
	view->peeked = true;
	for (size_t i = 0; i < view->nr_sources; i++) {
		struct source *source = view->sources[i];

		for (uint32_t k = 0; k < source->nr_feeds; k++) {
			int r = feed_peek(source->feeds[k], begin_ns);

			if (r < 0)
				return r;
			if (!r)
				merge_add(&view->merge, source->feeds[k]);
		}
	}
	return 0;
}

/* Lists of a guest's traces are not verified here. */
static int add_guests(struct view *view)
{
	static const struct find_ops ops = { .trace = add_source };
	size_t nr = view->guests ? view->guests->nr : 0;
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++) {
		size_t before = view->nr_sources;
		uint64_t found = 0;

		view->guest = &view->guests->guests[i];
		r = find_traces(view->guest->dir, &view->reporter, &ops, view, &found);
		if (view->guests->err.code || view->nr_sources != before || r == -ENOMEM)
			continue;
		err_set(&view->guests->err, ERR_OUTPUT, "--guest=%s: %s", view->guest->word,
			r < 0 ? strerror(-r) :
			found ? "no trace in this directory can be read" :
				"there is no trace in this directory");
		r = -EPROTO;
	}
	view->guest = NULL;
	return r;
}

/* --- searching ------------------------------------------------------------ */

#define SEARCHES 5u
#define TICK_MS 20 /* more than that of the times of files */

static void view_forget(struct view *view)
{
	if (view->forms)
		source_forms_fini(view->forms);
	for (size_t i = 0; i < view->nr_sources; i++)
		source_free(view->sources[i]);
	free(view->sources);
	for (size_t i = 0; i < view->nr_missing; i++)
		free(view->missing[i]);
	free(view->missing);
	for (size_t i = 0; i < view->nr_sessions; i++) {
		free(view->sessions[i].path);
		free(view->sessions[i].label);
		free(view->sessions[i].below);
		free(view->sessions[i].list);
	}
	free(view->sessions);
	view->sources = NULL;
	view->missing = NULL;
	view->sessions = NULL;
	view->nr_sources = view->nr_missing = view->nr_sessions = view->nr_empty = 0;
}

struct view_held {
	char **texts;
	size_t nr;
};

static void view_hold(void *priv, const char *text)
{
	struct view_held *held = priv;

	held->texts = xrealloc(held->texts, (held->nr + 1) * sizeof(*held->texts));
	held->texts[held->nr++] = xstrdup(text);
}

static void view_release(struct view_held *held, const struct reporter *reporter)
{
	for (size_t i = 0; i < held->nr; i++) {
		if (reporter && reporter->fn)
			reporter->fn(reporter->priv, held->texts[i]);
		free(held->texts[i]);
	}
	free(held->texts);
}

/* When a directory and its archives changed last; 0: there are none. */
static uint64_t changed_ns(const char *dir)
{
	char *archives AUTO_FREE = xasprintf("%s/archives", dir);
	uint64_t ns = 0;
	struct stat st;

	if (stat(dir, &st) == 0)
		ns = stat_mtime_ns(&st);
	return stat(archives, &st) == 0 ? MAX(ns, stat_mtime_ns(&st)) : ns;
}

/* A later change has another time. */
static uint64_t changed_before_ns(const char *dir)
{
	uint64_t ns = changed_ns(dir);
	struct timespec now;

	for (unsigned int i = 0; i < SEARCHES; i++) {
		clock_gettime(CLOCK_REALTIME, &now);
		if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ns >=
		    TICK_MS * 1000000u)
			break;
		poll(NULL, 0, TICK_MS);
		ns = changed_ns(dir);
	}
	return ns;
}

/* A rotation or a clear of a session moves its traces while they are searched for. */
static int find_all(struct view *view, uint64_t *ret_found)
{
	static const struct find_ops ops = {
		.trace = add_source, .list = verify_list, .empty = add_empty
	};
	const struct reporter reporter = view->reporter;

	for (unsigned int tries = 1;; tries++) {
		uint64_t before = changed_before_ns(view->dir);
		struct view_held held = { 0 };
		bool last;
		int r;

		view->reporter.fn = view_hold;
		view->reporter.priv = &held;
		r = find_traces(view->dir, &view->reporter, &ops, view, ret_found);
		if (r == 0)
			verify_lists(view);
		view->reporter.fn = reporter.fn;
		view->reporter.priv = reporter.priv;
		last = r < 0 || tries == SEARCHES || changed_ns(view->dir) == before;
		view_release(&held, last ? &reporter : NULL);
		if (last)
			return r;
		view_forget(view);
		view->reporter = reporter;
	}
}

static int open_all(struct view *view)
{
	uint64_t found = 0;
	int r = find_all(view, &found);

	if (r < 0)
		return r;
	if (!view->nr_sessions)
		verify_find_session(view);
	verify_sort_sessions(view);
	if (!view->nr_sources)
		verify_report_missing(view);
	if (!found && !view->nr_empty)
		return -ENOENT;
	if (!found)
		report_note(&view->reporter, "%s is a snapshot of empty buffers: it has no events",
			    view->dir);
	if (found && !view->nr_sources)
		return -EPROTO;
	r = add_guests(view);
	if (r < 0)
		return r;
	qsort(view->sources, view->nr_sources, sizeof(*view->sources), by_label);
	count_feeds(view);
	return 0;
}

static int view_open_new(struct view *view, const char *dir, view_report_fn fn, void *priv,
			 struct view **ret_view)
{
	int r;

	view->dir = dir;
	view->reporter = (struct reporter){ .fn = fn, .priv = priv };
	r = open_all(view);
	if (r < 0) {
		view_free(view);
		return r;
	}
	*ret_view = view;
	return 0;
}

int view_open_guests(const char *dir, bool relay_clock, struct guests *guests, view_report_fn fn,
		     void *priv, struct view **ret_view)
{
	struct view *view = xalloc(sizeof(*view));

	view->relay_clock = relay_clock;
	view->guests = guests;
	return view_open_new(view, dir, fn, priv, ret_view);
}

int view_open_to_print(const char *dir, view_report_fn fn, void *priv, struct view **ret_view)
{
	struct view *view = xalloc(sizeof(*view));

	view->forms = xalloc(sizeof(*view->forms));
	return view_open_new(view, dir, fn, priv, ret_view);
}

int view_open(const char *dir, view_report_fn fn, void *priv, struct view **ret_view)
{
	return view_open_guests(dir, false, NULL, fn, priv, ret_view);
}

int view_open_relay(const char *dir, view_report_fn fn, void *priv, struct view **ret_view)
{
	return view_open_guests(dir, true, NULL, fn, priv, ret_view);
}

int view_open_failed(const char *dir, int error, struct err *err)
{
	if (error == -ENOENT)
		return err_set(err, ERR_OUTPUT, "there is no trace in %s", dir);
	if (error == -EPROTO)
		return err_set(err, ERR_OUTPUT, "no trace in %s can be read", dir);
	return err_errno(err, ERR_OUTPUT, -error, "can't read %s", dir);
}

struct view *view_free(struct view *view)
{
	if (!view)
		return NULL;
	view_forget(view);
	free(view->forms);
	slab_fini(&view->slab);
	free(view->unended);
	merge_fini(&view->merge);
	values_fini(&view->values);
	task_names_fini(&view->tasks);
	where_fini(&view->where);
	if (view->live)
		view->live->ops->free(view->live);
	free((void *)view->summary.streams);
	free((void *)view->summary.names);
	free((void *)view->summary.conflicts);
	free(view);
	return NULL;
}

/* --- events --------------------------------------------------------------- */

static enum ctf_selected select_name(const struct view_select *select, const char *name)
{
	if (select->names && !glob_match_list(select->names, name))
		return SELECTED_NOT;
	return select->hidden && glob_match_list(select->hidden, name) ? SELECTED_HIDDEN :
									 SELECTED_SHOWN;
}

static bool has_selected_name(const struct view_select *select, struct ctf_event_class *ec)
{
	if (ec->selected == SELECTED_UNKNOWN)
		ec->selected = select_name(select, ec->name);
	return ec->selected != SELECTED_NOT;
}

bool view_shows(const struct view_select *select, struct ctf_event_class *ec)
{
	return has_selected_name(select, ec) && ec->selected == SELECTED_SHOWN;
}

static bool has_no_name(const struct view_select *select, const struct feed *feed)
{
	struct ctf_event_class *ec = feed->sc ? feed->sc->events : NULL;

	while (ec && !has_selected_name(select, ec))
		ec = ec->next_in_stream;
	return feed->sc && !ec;
}

/* Whether none of its events is read. */
static bool view_passes(const struct view_select *select, const struct feed *feed)
{
	return select->names_only && !feed->open && has_no_name(select, feed);
}

struct ahead *view_read_ahead(struct view *view, const struct view_select *select,
			      const struct ahead_threads *threads)
{
	const struct merge *merge = &view->merge;
	struct ahead *ahead =
		ahead_new(threads, merge->nr, select->has_begin ? &select->begin_ns : NULL);

	for (size_t i = 0; i < merge->nr; i++)
		if (!view_passes(select, merge->heap[i].feed))
			ahead_add(ahead, merge->heap[i].feed);
	ahead_begin(ahead);
	return ahead;
}

int view_advance(struct view *view, const struct view_select *select)
{
	static const int64_t never = INT64_MAX;
	struct feed *feed = merge_first(&view->merge);
	const int64_t *begin = select->has_begin ? &select->begin_ns : NULL;
	int r;

	if (view_passes(select, feed))
		begin = &never;
	/* (all streams may be needed to find one event: little of each is) */
	r = feed_next(feed, begin, select->limit == 1 ? WINDOW_LEAST : view->preferred);
	if (r > 0)
		merge_fix_first(&view->merge);
	else if (!r)
		merge_remove_first(&view->merge);
	return MIN(r, 0);
}

/* Add new streams of a live session, and wait while it has none. Return: 1; 0: it has ended;
 * negative errno. */
static int view_await_feeds(struct view *view)
{
	struct feed *feed;
	int r = 1;

	do
		while ((feed = view->live->ops->take_new(view->live)))
			merge_add(&view->merge, feed);
	while (!merge_first(&view->merge) && (r = view->live->ops->await_stream(view->live)) > 0);
	return r;
}

/* The feed with the earliest event; those not yet open are opened on the way. */
static int earliest(struct view *view, const struct view_select *select, struct feed **ret_feed)
{
	struct feed *current = TAKE(view->current);
	int r = 0;

	if (current && feed_next_marked(current)) {
		merge_fix_first(&view->merge);
		merge_prefetch(&view->merge);
	} else if (current) {
		r = view_advance(view, select);
	}
	while (!r && (!view->live || (r = view_await_feeds(view)) > 0) &&
	       merge_first(&view->merge) && !merge_first(&view->merge)->in_packet)
		r = view_advance(view, select);
	r = MIN(r, 0);
	*ret_feed = merge_first(&view->merge);
	return r;
}

/* Of those with a selected name, one that is hidden is counted. */
static bool is_shown(struct view *view, const struct ctf_event_class *ec)
{
	view->hidden += ec->selected == SELECTED_HIDDEN;
	return ec->selected == SELECTED_SHOWN;
}

/* An expression, and durations, may need them, too. */
static bool needs_fields(const struct view_select *select, struct ctf_event_class *ec)
{
	if (!select->needs_fields || select->where)
		return true;
	if (ec->needed == NEEDED_UNKNOWN)
		ec->needed =
			select->needs_fields(ec->name) ||
					(select->pairs && pairs_need_fields(select->pairs, ec)) ?
				NEEDED :
				NEEDED_NOT;
	return ec->needed == NEEDED;
}

static bool is_always_planned(const struct value *scope)
{
	return !scope || (scope->type->plan && scope->type->align == 8);
}

static const struct value *value_at(const struct view *view, int32_t index)
{
	return index < 0 ? NULL : &view->values.at[index];
}

/* All events whose contexts have plans have it at the same places. */
static void find_task(const struct view *view, struct event *event)
{
	const struct value *at = view->values.at;
	struct ctf_event_class *ec = event->ec;
	struct task *task = &event->task;

	if (ec->task_is_known) {
		*task = (struct task){ value_at(view, ec->task_at[0]),
				       value_at(view, ec->task_at[1]),
				       value_at(view, ec->task_at[2]) };
		return;
	}
	task_find(task, at, event->fields ? event->fields : at + view->values.nr);
	ec->task_is_known =
		is_always_planned(event->stream_context) && is_always_planned(event->context);
	ec->task_at[0] = task->procname ? (int16_t)(task->procname - at) : -1;
	ec->task_at[1] = task->pid ? (int16_t)(task->pid - at) : -1;
	ec->task_at[2] = task->tid ? (int16_t)(task->tid - at) : -1;
}

static int fill_brief_event(struct feed *feed, struct event *event)
{
	event_init(event, feed->source, feed->ec, &feed->packet, feed->ns);
	return 1;
}

static const struct value *task_value(const struct view *view, int8_t number)
{
	return number < 0 ? NULL : &view->task_values[number];
}

/* Return: as fill_event(), or FEED_UNPLANNED. */
static int fill_task_event(struct view *view, struct feed *feed, struct event *event)
{
	struct ctf_event_class *ec = feed->ec;
	int r;

	if (!ec->task_is_known)
		return FEED_UNPLANNED;
	if (!ec->task_pick)
		plan_make_task(&feed->source->arena, feed->packet.sc, ec);
	r = ec->task_pick ? feed_pick(feed, ec->task_pick, view->task_values) : FEED_UNPLANNED;
	if (r != 1)
		return r;
	fill_brief_event(feed, event);
	event->task.procname = task_value(view, ec->task_picked[0]);
	event->task.pid = task_value(view, ec->task_picked[1]);
	event->task.tid = task_value(view, ec->task_picked[2]);
	return 1;
}

/* Return: 1; 0: it can't be decoded after all; negative errno. */
static int fill_event(struct view *view, const struct view_select *select, struct feed *feed,
		      struct event *event)
{
	bool has_fields = needs_fields(select, feed->ec);
	struct feed_scopes scopes;
	int r = FEED_UNPLANNED;

	if (!has_fields && select->tasks_only)
		r = fill_task_event(view, feed, event);
	if (r != FEED_UNPLANNED)
		return r;
	r = feed_decode(feed, &view->values, has_fields, &scopes);
	if (r <= 0)
		return r;
	fill_brief_event(feed, event);
	event->stream_context = value_at(view, scopes.stream_context);
	event->context = value_at(view, scopes.context);
	event->fields = value_at(view, scopes.fields);
	find_task(view, event);
	return 1;
}

int event_decode(struct view *view, const struct view_select *select, struct event *event)
{
	return fill_event(view, select, view->current, event);
}

const uint8_t *event_task_bytes(const struct view *view, size_t *ret_len)
{
	const struct ctf_event_class *ec = view->current->ec;

	return ec->task_layout ? feed_pick_bytes(view->current, ec->task_pick, ret_len) : NULL;
}

struct plan_pick *event_pick_new(const struct event *event, const struct value *const *wanted,
				 uint32_t nr)
{
	const struct value *of[PLAN_SCOPES] = { event->stream_context, event->context,
						event->fields };
	struct plan_scope scopes[PLAN_SCOPES] = { { NULL, NULL } };
	bool *marks[PLAN_SCOPES] = { NULL };
	struct plan_pick *pick;

	for (uint32_t i = 0; i < PLAN_SCOPES; i++) {
		size_t values = of[i] ? (size_t)(value_behind(of[i]) - of[i]) : 0;

		marks[i] = xalloc(values + 1);
		for (uint32_t k = 0; k < nr; k++)
			if (of[i] && wanted[k] > of[i] && wanted[k] < of[i] + values)
				marks[i][wanted[k] - of[i]] = true;
		scopes[i] = (struct plan_scope){ of[i] ? of[i]->type : NULL, marks[i] };
	}
	pick = plan_pick_new(scopes);
	for (uint32_t i = 0; i < PLAN_SCOPES; i++)
		free(marks[i]);
	return pick;
}

int event_pick(struct view *view, const struct plan_pick *pick, struct value *values)
{
	_Static_assert(EVENT_UNPLANNED == FEED_UNPLANNED, "the same outcome");
	return feed_pick(view->current, pick, values);
}

int event_locate(struct view *view, const struct plan_pick *skipped, const uint8_t **bases)
{
	return feed_locate(view->current, skipped, bases);
}

static void count_event(struct view *view, struct feed *feed)
{
	if (!view->events++)
		view->first_ns = feed->ns;
	view->last_ns = feed->ns;
	++*feed->ec->count;
}

#define POSITION_BITS 44 /* for 2 TiB of a file */

uint64_t event_position(const struct view *view)
{
	const struct feed *feed = view->current;
	uint64_t at;

	if (!feed)
		return 0;
	at = feed->packet.offset * 8 + feed->event_at;
	return (uint64_t)feed->order << POSITION_BITS | (at & ((UINT64_C(1) << POSITION_BITS) - 1));
}

void view_each_class(const struct view *view,
		     void (*fn)(void *priv, const struct ctf_event_class *ec), void *priv)
{
	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct ctf_trace_class *tc = view->sources[i]->tc;

		for (const struct ctf_event_class *ec = tc->is_shared ? NULL : tc->events; ec;
		     ec = ec->next)
			fn(priv, ec);
	}
}

struct view_sought {
	const char *names;
	bool found;
};

static void view_compare_class(void *priv, const struct ctf_event_class *ec)
{
	struct view_sought *sought = priv;

	sought->found |= glob_match_list(sought->names, ec->name);
}

bool view_declares(const struct view *view, const char *names)
{
	struct view_sought sought = { names, false };

	view_each_class(view, view_compare_class, &sought);
	return sought.found;
}

static bool view_type_has(const struct ctf_type *type, const char *name)
{
	for (uint32_t i = 0; type && i < type->nr_fields; i++)
		if (strcmp(type->fields[i].shown, name) == 0)
			return true;
	return false;
}

bool view_has_context(const struct view *view, const char *name)
{
	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct ctf_trace_class *tc = view->sources[i]->tc;

		for (const struct ctf_stream_class *sc = tc->streams; sc; sc = sc->next)
			if (view_type_has(sc->event_context, name))
				return true;
		for (const struct ctf_event_class *ec = tc->events; ec; ec = ec->next)
			if (view_type_has(ec->context, name))
				return true;
	}
	return false;
}

/* Return: as fill_event(); 0: also if it is hidden. */
static int show_event(struct view *view, const struct view_select *select, struct feed *feed,
		      struct event *event)
{
	if (!is_shown(view, feed->ec))
		return 0;
	if (!event)
		return 1;
	return select->brief ? fill_brief_event(feed, event) :
			       fill_event(view, select, feed, event);
}

/* Return: 1: it is selected; 0: it is not, or can't be decoded; negative errno. */
static int select_event(struct view *view, const struct view_select *select, struct feed *feed,
			struct event *event)
{
	bool by_task = select->processes || select->threads;
	struct event unused;
	int r;

	if (!by_task && !has_selected_name(select, feed->ec))
		return 0;
	if (!by_task && !select->where && !(select->pairs && event))
		return show_event(view, select, feed, event);
	if (!by_task && !select->pairs) {
		r = where_picked_holds(&view->where, feed);
		if (r != WHERE_UNKNOWN)
			return r > 0 ? show_event(view, select, feed, event) : r;
	}
	event = event ? event : &unused;
	r = fill_event(view, select, feed, event);
	if (r <= 0)
		return r;
	if (by_task &&
	    (!task_is_selected(&view->tasks, event, select->processes, select->threads) ||
	     !has_selected_name(select, feed->ec)))
		return 0;
	if (select->pairs && pairs_take(select->pairs, event, &view->took))
		event->took = &view->took;
	if (select->where && !where_holds(&view->where, select->where, feed->ec, event))
		return 0;
	return is_shown(view, feed->ec);
}

int event_next(struct view *view, const struct view_select *select, struct event *event)
{
	struct feed *feed;
	int r = view_peek(view, select->has_begin ? &select->begin_ns : NULL);

	if (r < 0 || (select->limit && view->events >= select->limit))
		return r;
	for (;;) {
		r = earliest(view, select, &feed);
		if (r < 0 || !feed || (select->has_end && feed->ns > select->end_ns))
			return r;
		view->current = feed;
		if (select->has_begin && feed->ns < select->begin_ns)
			continue;
		r = select_event(view, select, feed, event);
		if (r > 0)
			count_event(view, feed);
		if (r)
			return r;
	}
}

static const struct view_select everything;

int view_scan(struct view *view, const struct view_select *select)
{
	int r;

	select = select ?: &everything;
	if (skim_can_be(view, select))
		return skim_scan(view, select);
	do
		r = event_next(view, select, NULL);
	while (r > 0);
	return r;
}
