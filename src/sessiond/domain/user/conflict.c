/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conflict.c - markers that have the same name and different formats. Only those with the first
 * format are recorded; the conflict is reported to clients, also when the application with the
 * other format has ended, and in a comment of the trace's metadata.
 */
#include "conflict.h"

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "link.h"
#include "session.h"
#include "trace.h"
#include "trace/metadata.h"

/* Conflicts that a session remembers and that are reported at a time: pairs of formats, not
 * of processes. A user with more conflicts than this has the same mistake in all. */
#define MAX_NOTES 100u

void conflict_note(struct user_link *link, struct trace_channel *trace_channel, struct shape *armed,
		   struct shape *refused)
{
	const struct channel *channel = trace_channel->channel;
	struct user_session *us = link->us;
	struct conflict_note *note;

	list_for_each(note, &us->conflicts, node)
		if (note->channel == channel && note->refused == refused)
			return;
	if (us->nr_conflicts >= MAX_NOTES)
		return;
	us->nr_conflicts++;
	note = xalloc(sizeof(*note));
	note->channel = channel;
	note->armed = shape_ref(armed);
	note->refused = shape_ref(refused);
	note->pid = (uint32_t)link->app->app.pid;
	list_append(&us->conflicts, &note->node);
	trace_append(trace_channel->trace,
		     metadata_marker(refused->name, refused->format, armed->format,
				     note->pid)); /* for readers elsewhere */
	log_warn("session '%s': marker '%s' of process %u is not recorded: its format is \"%s\", "
		 "but \"%s\" was registered first",
		 us->rec.session->name, refused->name, note->pid, refused->format, armed->format);
}

void conflicts_free(struct user_session *us)
{
	struct conflict_note *note, *next;

	list_for_each_safe(note, next, &us->conflicts, node) {
		shape_unref(&us->user->recorder->shapes, note->armed);
		shape_unref(&us->user->recorder->shapes, note->refused);
		list_remove(&note->node);
		free(note);
	}
}

/*
 * While a channel records, its trace channels know which came first. Formats that they don't know
 * yet are tried with tables of the moment: one for each trace that there would be.
 */
struct trial {
	struct list_node node;
	uint64_t owner;
	struct class_table classes;
};

struct search {
	struct user_domain *user;
	struct user_session *us; /* NULL: never started */
	struct channel *channel;
	const struct rule *rule;
	struct user_app *app;
	struct class_table *table; /* of the trace channel, or NULL */
	struct list_node trials;
	const struct shape *seen[MAX_NOTES]; /* that were reported */
	size_t nr_seen;
	void (*fn)(const struct domain_conflict *conflict, void *data);
	void *data;
};

static struct class_table *trial_table(struct search *search)
{
	bool process = search->channel->ownership == OWNERSHIP_PROCESS;
	uint64_t owner = process ? search->app->app.id : search->app->app.uid;
	struct trial *trial;

	list_for_each(trial, &search->trials, node)
		if (trial->owner == owner)
			return &trial->classes;
	trial = xalloc(sizeof(*trial));
	trial->owner = owner;
	class_table_init(&trial->classes, &search->user->recorder->shapes, NULL,
			 (struct account_id){ 0 });
	list_append(&search->trials, &trial->node);
	return &trial->classes;
}

/* The trace channel that records these points, if there is one yet. */
static struct class_table *trace_channel_table(struct search *search)
{
	struct trace *trace = NULL;
	struct trace_channel *trace_channel = NULL;

	if (search->us)
		trace = trace_find(search->us, search->app, search->channel);
	if (trace)
		trace_channel = trace_channel_find(trace, search->channel);
	return trace_channel ? &trace_channel->classes : NULL;
}

static bool conflicts(struct search *search, struct shape *shape, struct event_class **ret)
{
	enum class_outcome outcome = CLASS_NEW;

	if (search->table)
		outcome = class_find(search->table, shape, ret);
	if (outcome == CLASS_NEW)
		outcome = class_get(trial_table(search), shape, ret);
	return outcome == CLASS_CONFLICT;
}

static bool conflict_is_wanted(const struct search *search, const struct shape *shape)
{
	if (search->rule)
		return !rule_counts(search->rule->kind) &&
		       rule_matches(search->rule, shape->name, shape->loglevel);
	return channel_wants(search->channel, shape->name, shape->loglevel);
}

static void conflict_report(struct search *search, const struct shape *armed,
			    const struct shape *refused, uint32_t pid)
{
	const struct domain_conflict conflict = { refused->name, armed->format, refused->format,
						  pid };

	for (size_t i = 0; i < search->nr_seen; i++)
		if (search->seen[i] == refused)
			return;
	if (search->nr_seen == MAX_NOTES)
		return;
	search->seen[search->nr_seen++] = refused;
	search->fn(&conflict, search->data);
}

static void try_point(struct app_point *point, void *data)
{
	struct search *search = data;
	struct event_class *class;

	if (point->shape->kind == SHAPE_MARKER && conflict_is_wanted(search, point->shape) &&
	    conflicts(search, point->shape, &class))
		conflict_report(search, class->shape, point->shape, (uint32_t)search->app->app.pid);
}

static void report_notes(struct search *search)
{
	const struct conflict_note *note;

	if (!search->us)
		return;
	list_for_each(note, &search->us->conflicts, node)
		if (note->channel == search->channel && conflict_is_wanted(search, note->refused))
			conflict_report(search, note->armed, note->refused, note->pid);
}

static void search_fini(struct search *search)
{
	struct trial *trial, *next;

	list_for_each_safe(trial, next, &search->trials, node) {
		class_table_fini(&trial->classes);
		list_remove(&trial->node);
		free(trial);
	}
}

void user_each_conflict(struct domain_tracer *domain, struct session *session,
			struct channel *channel, const struct rule *rule,
			void (*fn)(const struct domain_conflict *conflict, void *data), void *data)
{
	struct user_domain *user = user_of(domain);
	struct search search = { .user = user,
				 .us = user_session_find(user, session),
				 .channel = channel,
				 .rule = rule,
				 .fn = fn,
				 .data = data };

	list_init(&search.trials);
	report_notes(&search);
	list_for_each(search.app, &user->apps, node) {
		if (!user_eligible(session, &search.app->app))
			continue;
		search.table = trace_channel_table(&search);
		app_each_point(&search.app->app, try_point, &search);
	}
	search_fini(&search);
}
