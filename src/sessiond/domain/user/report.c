/* SPDX-License-Identifier: GPL-2.0-only */
/* report.c - events that are recorded or not, and the reasons, for clients. */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "context.h"
#include "count.h"
#include "fire.h"
#include "link.h"
#include "sessiond/domain/rec/keyed.h"
#include "session.h"
#include "sessiond/core/sampling.h"
#include "trace.h"
#include "trace/metadata.h"

/* Counts and lists of the user domain's applications and points. */

uint32_t user_count_apps(struct domain_tracer *domain, const struct session *session)
{
	const struct user_app *app;
	uint32_t nr = 0;

	list_for_each(app, &user_of(domain)->apps, node)
		nr += user_eligible(session, &app->app);
	return nr;
}

uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule, uint32_t *ret_never)
{
	struct user_domain *user = user_of(domain);
	const struct user_matches *matches = user_matches_get(user, rule);
	uint32_t nr = 0;

	*ret_never = 0;
	for (size_t i = 0; i < matches->nr; i++) {
		const struct app_point *point = matches->points[i];
		const struct filter_verdict *verdict;

		if (!user_eligible(session, point->app) || !keyed_rule_suits(rule, point->shape))
			continue;
		verdict = user_matches_verdict(user, rule, point->shape);
		nr++;
		*ret_never += verdict && verdict->column;
	}
	return nr;
}

struct name_search {
	const struct session *session;
	const char **names;
	size_t nr, cap;
};

static bool shape_is_eligible(const struct shape *shape, const struct session *session)
{
	const struct app_point *point;

	list_for_each(point, &shape->points, in_shape)
		if (user_eligible(session, point->app))
			return true;
	return false;
}

static void user_add_name(struct shape *shape, void *data)
{
	struct name_search *search = data;

	if (!shape_is_eligible(shape, search->session))
		return;
	if (search->nr + 1 >= search->cap) {
		search->cap = MAX(2 * search->cap, (size_t)64);
		search->names = xrealloc(search->names, search->cap * sizeof(*search->names));
	}
	search->names[search->nr++] = shape->name;
	search->names[search->nr] = NULL;
}

const char *user_nearest_point(struct domain_tracer *domain, const struct session *session,
			       const char *name)
{
	struct name_search search = { .session = session };
	const char *near = NULL;

	shapes_each(&user_of(domain)->recorder->shapes, "*", user_add_name, &search);
	if (search.names)
		near = nearest_word(name, search.names);
	free(search.names);
	return near ? near : "";
}

/* --- points ------------------------------------------------------------------ */

struct listing {
	struct user_app *app;
	void (*fn)(const struct domain_point *point, void *data);
	void *data;
};

static uint32_t app_pid(const struct app *app)
{
	return app->pid > 0 ? (uint32_t)app->pid : app->vpid;
}

static void user_list_point(struct app_point *point, void *data)
{
	const struct listing *listing = data;
	const struct app *app = &listing->app->app;
	struct domain_point row = {
		.pid = app_pid(app),
		.uid = app->uid,
		.process = app->procname,
		.file = point->file,
		.line = point->line,
		.shape = point->shape,
	};
	const struct user_link *link;

	list_for_each(link, &listing->app->links, in_app)
		row.active += link_is_armed(link, point->id) || link_is_counted(link, point->id);
	listing->fn(&row, listing->data);
}

static void list_refused(const struct listing *listing, const struct app_refused *refused)
{
	const struct app *app = &listing->app->app;
	const struct domain_point row = {
		.pid = app_pid(app),
		.uid = app->uid,
		.process = app->procname,
		.file = refused->file,
		.line = refused->line,
		.refused = refused->why,
		.name = refused->name,
		.kind = refused->kind,
	};

	listing->fn(&row, listing->data);
}

void user_each_point(struct domain_tracer *domain, const struct caller *caller,
		     void (*fn)(const struct domain_point *point, void *data), void *data)
{
	struct listing listing = { NULL, fn, data };
	const struct app_refused *refused;
	struct user_app *app;

	list_for_each(app, &user_of(domain)->apps, node) {
		if (caller->uid != 0 && caller->uid != app->app.uid)
			continue;
		listing.app = app;
		app_each_point(&app->app, user_list_point, &listing);
		list_for_each(refused, &app->app.refused, node)
			list_refused(&listing, refused);
	}
}

/*
 * Markers that have the same name and different formats. Only those with the first
 * format are recorded; the conflict is reported to clients, also when the application with the
 * other format has ended, and in a comment of the trace's metadata.
 */

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
	trace_remark(trace_channel->trace,
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

/* By application, and by number. */
static int conflict_compare(const void *a, const void *b)
{
	const struct app_point *x = *(struct app_point *const *)a;
	const struct app_point *y = *(struct app_point *const *)b;

	if (x->app != y->app)
		return (x->app->id > y->app->id) - (x->app->id < y->app->id);
	return (x->id > y->id) - (x->id < y->id);
}

/* Only the points that search->rule matches. */
static void try_matches(struct search *search, const struct session *session)
{
	const struct user_matches *matches = user_matches_get(search->user, search->rule);
	AUTO_FREE struct app_point **markers = xalloc((matches->nr + 1) * sizeof(*markers));
	size_t nr = 0;

	for (size_t i = 0; i < matches->nr; i++)
		if (matches->points[i]->shape->kind == SHAPE_MARKER &&
		    user_eligible(session, matches->points[i]->app))
			markers[nr++] = matches->points[i];
	if (nr)
		qsort(markers, nr, sizeof(*markers), conflict_compare);
	for (size_t i = 0; i < nr; i++) {
		search->app = container_of(markers[i]->app, struct user_app, app);
		search->table = trace_channel_table(search);
		try_point(markers[i], search);
	}
}

static void try_all(struct search *search, const struct session *session)
{
	list_for_each(search->app, &search->user->apps, node) {
		if (!user_eligible(session, &search->app->app))
			continue;
		search->table = trace_channel_table(search);
		app_each_point(&search->app->app, try_point, search);
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
	(rule ? try_matches : try_all)(&search, session);
	search_fini(&search);
}

/*
 * The programs of a session, for reports to its user: those that still record,
 * and the points that they have if the rules match none. Names are kept until the session ends, as
 * the programs end before.
 */

/* Enough to choose from; of each session. */
#define MAX_NAMES 100u

static bool user_programs_is_known(const struct user_session *us, const struct shape *shape)
{
	for (uint32_t i = 0; i < us->nr_announced; i++)
		if (strcmp(us->announced[i]->name, shape->name) == 0)
			return true;
	return false;
}

static bool user_programs_is_taken(const struct user_session *us, const struct shape *shape)
{
	const struct channel *channel;

	list_for_each(channel, &us->rec.session->channels, node)
		if (channel->domain == DOMAIN_USER && channel->enabled &&
		    channel_wants(channel, shape->name, shape->loglevel))
			return true;
	return false;
}

struct begun_search {
	struct user_session *us;
	uint32_t first;
	bool found;
};

static void begun_visit_point(struct app_point *point, void *data)
{
	struct begun_search *search = data;

	search->found |=
		point->id >= search->first && user_programs_is_taken(search->us, point->shape);
}

static void note(struct app_point *point, void *data)
{
	struct user_session *us = data;

	us->matched = us->matched || user_programs_is_taken(us, point->shape);
	if (us->matched || us->more_announced || user_programs_is_known(us, point->shape))
		return;
	us->more_announced = us->nr_announced == MAX_NAMES;
	if (us->more_announced)
		return;
	if (!us->announced)
		us->announced = xalloc(MAX_NAMES * sizeof(struct shape *));
	us->announced[us->nr_announced++] = shape_ref(point->shape);
}

void announced_note(struct user_link *link)
{
	if (!link->us->matched)
		link_each_point(link, note, link->us);
}

void announced_free(struct user_session *us)
{
	for (uint32_t i = 0; i < us->nr_announced; i++)
		shape_unref(&us->user->recorder->shapes, us->announced[i]);
	free(us->announced);
}

static const char *failure_text(uint32_t error)
{
	return error == EFBIG ? "its buffers take more addresses than a 32-bit program has; use "
				"smaller ones (--subbuf-size, --num-subbuf)" :
				strerror((int)error);
}

static void note_missing(struct user_link *link, const char *why)
{
	const struct app *app = &link->app->app;

	session_note_unrecorded(link->us->rec.session, app->pid, app->procname, why);
	recording_saved(&link->us->rec);
}

void unrecorded_note(struct user_link *link)
{
	struct session *session = link->us->rec.session;
	const char *why = session_problem(session);
	bool unable = link->unable || (link->nr_todo && !session_is_writable(session, DOMAIN_USER));
	bool armed = link->was_armed || link->app->recorded > 1;

	if (!link->us->rec.recording || (!link->failed && (armed || !unable)))
		return;
	if (link->failed)
		why = failure_text(link->failed_error);
	note_missing(link, *why ? why : "its buffers could not be created");
}

void unarmed_note(struct user_link *link)
{
	char why[256];
	bool missing = false;

	for (size_t i = 0; i < link->nr_todo; i++)
		missing |= link->todo[i] >= link->app->recorded;
	if (!missing || !link->us->rec.recording)
		return;
	snprintf(why, sizeof(why), "it began before the session could write: %s",
		 session_write_problem(link->us->rec.session));
	note_missing(link, why);
}

void begun_note(struct user_app *app)
{
	struct user_link *link;

	list_for_each(link, &app->links, in_app) {
		struct begun_search search = { link->us, app->begun_first, false };

		if (!app->begun_ns || !link->us->rec.recording ||
		    link->us->rec.session->recording_since > app->begun_ns)
			continue;
		app_each_point(&app->app, begun_visit_point, &search);
		if (search.found)
			note_missing(link, "it began before the session daemon answered");
	}
}

/* Also one that has not sent its points yet, or has not been processed yet. */
static bool records(const struct user_link *link)
{
	return !link->app->announced || link->nr_arms || link->nr_todo || !list_empty(&link->dirty);
}

void user_programs(struct domain_tracer *domain, const struct session *session,
		   struct domain_programs *ret, void (*fn)(const char *name, void *data),
		   void *data)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	const struct user_link *link;

	ret->apps += user_count_apps(domain, session);
	if (!us)
		return;
	ret->matched = us->matched;
	ret->more = us->more_announced;
	for (uint32_t i = 0; i < us->nr_announced; i++)
		fn(us->announced[i]->name, data);
	if (us->rec.recording)
		list_for_each(link, &us->links, in_session)
			ret->recording += records(link);
}

/*
 * Reports the points that can't be counted or filtered as a rule requests, also
 * because an application has an older libltt, and the applications that can't use their buffers.
 */

#define NAME_BYTES 64
#define KEY_KINDS "integer, enumeration or text "

/* --- filters that never hold ---------------------------------------------------------- */

/* Return: whether there are points of the rule, but its filter holds for none of them. @ret_first:
 * the verdict for one of them, valid until points change. */
static bool filter_never_holds(struct user_domain *user, const struct session *session,
			       const struct rule *rule, const struct filter_verdict **ret_first)
{
	const struct user_matches *matches;

	*ret_first = NULL;
	if (!*rule->filter && !*rule->sampling)
		return false;
	matches = user_matches_get(user, rule);
	for (size_t i = 0; i < matches->nr; i++) {
		const struct app_point *point = matches->points[i];
		const struct filter_verdict *verdict;

		if (!user_eligible(session, point->app) || !keyed_rule_suits(rule, point->shape))
			continue;
		verdict = user_matches_verdict(user, rule, point->shape);
		if (!verdict || !verdict->column)
			return false;
		*ret_first = *ret_first ? *ret_first : verdict;
	}
	return *ret_first;
}

static void report_never(const struct user_session *us, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct filter_verdict *first;
	char why[512];

	if (!filter_never_holds(us->user, us->rec.session, rule, &first))
		return;
	snprintf(why, sizeof(why), "its %s no event that there is now: %s",
		 first->of_key ? "field of --by is in" : "filter holds for", first->why);
	fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why, !rule_counts(rule->kind) },
	   data);
}

/* --- buffers that are of no use to an application ------------------------------------- */

int user_app_buffer_failed(struct user_app *app, const struct msg_app_buffer_failed *msg)
{
	struct user_link *link;

	list_for_each(link, &app->links, in_app) {
		for (uint32_t i = 0; i < link->nr_sent; i++) {
			if (link->told[i]->id != msg->ring)
				continue;
			link->failed = link->told[i]->trace_channel->channel;
			link->failed_error = msg->error;
			log_warn_some("session '%s': process %d (%s) can't use its buffers: %s",
				      link->us->rec.session->name, (int)app->app.pid,
				      app->app.procname, failure_text(msg->error));
			return 0;
		}
	}
	return 0;
}

static const char *advice(uint32_t error)
{
	switch (error) {
	case ENOMEM:
		return "; allow it more memory (ulimit -v), or use smaller buffers";
	case EMFILE:
		return "; allow it more open files (ulimit -n) and start it anew";
	case EPERM:
	case EACCES:
		return "; a security module or a seccomp filter forbids it";
	default:
		return "";
	}
}

static void report_failed(const struct user_link *link, const struct rule *rule,
			  void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct app *app = &link->app->app;
	char why[256 + NAME_BYTES];

	snprintf(why, sizeof(why), "process %d (%.*s) can't map its buffers: %.120s%s",
		 (int)app->pid, NAME_BYTES, app->procname, failure_text(link->failed_error),
		 advice(link->failed_error));
	fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why, true }, data);
}

/* Once for each application. @rule: NULL: the first that records. */
static void each_failed(const struct user_session *us, const struct channel *channel,
			const struct rule *rule,
			void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct user_link *link;
	const struct rule *each;

	list_for_each(link, &us->links, in_session) {
		if (!link->failed || (channel && link->failed != channel))
			continue;
		list_for_each(each, &link->failed->rules, node) {
			if ((rule && each != rule) || rule_counts(each->kind) || !each->enabled)
				continue;
			report_failed(link, each, fn, data);
			break;
		}
	}
}

void user_each_refusal(struct domain_tracer *domain, const struct session *session,
		       const struct channel *channel, const struct rule *rule,
		       void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	const struct channel *its;
	const struct rule *each;

	if (!us || !us->rec.recording)
		return;
	each_failed(us, channel, rule, fn, data);
	silent_each(us, channel, rule, fn, data);
	if (rule && channel && channel->domain == DOMAIN_USER) {
		if (rule->enabled)
			report_never(us, rule, fn, data);
		return;
	}
	list_for_each(its, &session->channels, node)
		list_for_each(each, &its->rules, node)
			if (its->domain == DOMAIN_USER && (!channel || its == channel) &&
			    (!rule || each == rule) && each->enabled)
				report_never(us, each, fn, data);
}

/* --- check of a request ------------------------------------------------------------- */

struct field_search {
	const struct session *session; /* NULL: applications of @uid */
	uid_t uid;
	const char *name, *field; /* of the event, and in it */
	int (*find)(const struct shape *shape, const char *field);
	bool (*suits)(const struct layout_field *field);
	bool known, found;
	const char **words; /* fields there are, of the event that was found first */
	uint32_t nr_words;
};

static void note_words(struct field_search *search, const struct layout *layout)
{
	search->words = xalloc((layout->nr_fields + 1) * sizeof(*search->words));
	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (search->suits(&layout->fields[i]))
			search->words[search->nr_words++] = layout->fields[i].name;
}

static bool field_search_admits(const struct field_search *search, const struct shape *shape)
{
	const struct app_point *point;

	if (search->session)
		return shape_is_eligible(shape, search->session);
	list_for_each(point, &shape->points, in_shape)
		if (search->uid == 0 || point->app->uid == search->uid)
			return true;
	return false;
}

static void search_shape(struct shape *shape, void *data)
{
	struct field_search *search = data;

	if (strcmp(shape->name, search->name) != 0 || !field_search_admits(search, shape))
		return;
	search->known = true;
	search->found = search->found || search->find(shape, search->field) >= 0;
	if (!search->words)
		note_words(search, shape->layout);
}

static int user_check_field(const struct user_domain *user, struct field_search *search,
			    const char *kind, struct err *err)
{
	const char *near = NULL;
	int code = 0;

	shapes_each(&user->recorder->shapes, search->name, search_shape, search);
	if (search->words)
		near = nearest_word(search->field, search->words);
	if (search->known && !search->found)
		code = err_set(err, ERR_INVALID,
			       "event '%.100s' has no %sfield '%.100s'; %s%.100s%s", search->name,
			       kind, search->field,
			       near ? "did you mean '" : "`lttctl list -u --fields` lists ",
			       near ? near : "fields", near ? "'?" : "");
	free(search->words);
	return code;
}

static int user_check_key(const struct user_domain *user, const struct session *session,
			  const struct rule_spec *spec, struct err *err)
{
	char field[RULE_MAX_BY + 1];

	for (uint32_t i = 0; rule_by_field(spec->by ? spec->by : "", i, field); i++) {
		struct field_search search = { .session = session,
					       .name = spec->pattern,
					       .field = field,
					       .find = shape_key,
					       .suits = field_is_key };

		if (user_check_field(user, &search, KEY_KINDS, err))
			return err->code;
	}
	return 0;
}

/* A known name whose events all lack a field of the filter is an error; other names may come
 * later. */
static int user_check_filter(struct user_domain *user, const struct session *session,
			     const struct rule_spec *spec, struct err *err)
{
	const struct filter_verdict *first;
	struct rule *rule = rule_new(spec);

	if (filter_never_holds(user, session, rule, &first) && !glob_is_pattern(spec->pattern))
		err_set(err, ERR_INVALID, "%s event %.100s, column %u: %s",
			first->of_key ? "--by, field of" : "filter of", spec->pattern,
			first->column, first->why);
	rule_free(rule);
	return err->code;
}

int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err)
{
	struct field_search search = { .session = session,
				       .name = spec->pattern,
				       .field = spec->location,
				       .find = shape_integer,
				       .suits = field_is_integer };

	if (!rule_chooses(spec->kind))
		return err_set(err, ERR_INVALID,
			       "probes need the kernel domain: use -k (--kernel)");
	if (spec->filter && *spec->filter &&
	    filter_check_syntax(user_filter_tracer(), spec->filter, err))
		return err->code;
	if (((spec->filter && *spec->filter) || (spec->sampling && *spec->sampling)) &&
	    user_check_filter(user_of(domain), session, spec, err))
		return err->code;
	if (user_check_key(user_of(domain), session, spec, err))
		return err->code;
	return spec->kind == RULE_HISTOGRAM ?
		       user_check_field(user_of(domain), &search, "integer ", err) :
		       0;
}

static int shape_field(const struct shape *shape, const char *name)
{
	for (uint32_t i = 0; i < shape->layout->nr_fields; i++)
		if (strcmp(shape->layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool field_is_any(const struct layout_field *field)
{
	(void)field;
	return true;
}

static bool field_has_elements(const struct layout_field *field)
{
	return field->kind == LTT_KIND_ARRAY || field->kind == LTT_KIND_SEQUENCE;
}

static int shape_elements(const struct shape *shape, const char *name)
{
	int i = shape_field(shape, name);

	return i >= 0 && field_has_elements(&shape->layout->fields[i]) ? i : -1;
}

static int user_check_captured_context(const char *name, struct err *err)
{
	if (strcmp(name, "otel_trace_id") == 0 || strcmp(name, "otel_span_id") == 0)
		return 0;
	if (strcmp(name, "ip") == 0 || strcmp(name, "otel") == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "'$ctx.%s' can't be captured: %s", name,
			       *name == 'i' ? "a trigger does not have the address of the call" :
					      "use $ctx.otel_trace_id and $ctx.otel_span_id");
	return user_check_context(name, err);
}

/* @event: NULL: fields are not checked, as it is a glob. */
static int user_check_captures(const struct user_domain *user, const char *event,
			       const char *captures, uid_t uid, struct err *err)
{
	struct capture capture;

	while (capture_next(&captures, &capture)) {
		AUTO_FREE char *name = xasprintf("%.*s", (int)capture.len, capture.name);
		bool element = capture.kind == CAPTURE_ELEMENT;
		struct field_search search = { .uid = uid,
					       .name = event,
					       .field = name,
					       .find = element ? shape_elements : shape_field,
					       .suits = element ? field_has_elements :
								  field_is_any };

		if (capture.kind == CAPTURE_CONTEXT ?
			    user_check_captured_context(name, err) :
			    event && user_check_field(user, &search,
						      element ? "array or sequence " : "", err))
			return err->code;
	}
	return 0;
}

static int user_check_pair_key(const struct user_domain *user, const char *event, const char *key,
			       uid_t uid, struct err *err)
{
	struct field_search search = {
		.uid = uid, .name = event, .field = key, .find = shape_key, .suits = field_is_key
	};

	return user_check_field(user, &search, KEY_KINDS, err);
}

/* Shapes of the rule's points, if its filter holds for none of them. */
static int user_check_trigger_filter(struct user_domain *user, const struct trigger_spec *spec,
				     uid_t uid, struct err *err)
{
	const struct rule_spec rule_spec = { .pattern = spec->pattern,
					     .loglevel_type = LOGLEVEL_ALL,
					     .filter = spec->filter };
	struct rule *rule = rule_new(&rule_spec);
	const struct user_matches *matches = user_matches_get(user, rule);
	const struct filter_verdict *first = NULL;

	for (size_t i = 0; i < matches->nr; i++) {
		const struct app_point *point = matches->points[i];
		const struct filter_verdict *verdict;

		if (uid != 0 && point->app->uid != uid)
			continue;
		verdict = user_matches_verdict(user, rule, point->shape);
		first = first ? first : verdict;
		if (!verdict || !verdict->column) {
			first = NULL;
			break;
		}
	}
	if (first)
		err_set(err, ERR_INVALID, "filter of event %.100s, column %u: %s", spec->pattern,
			first->column, first->why);
	rule_free(rule);
	return err->code;
}

int fire_check(struct domain_tracer *domain, const struct trigger_spec *spec, uid_t uid,
	       struct err *err)
{
	struct user_domain *user = user_of(domain);
	bool pair = spec->condition == CONDITION_PAIR;

	if (glob_is_pattern(spec->pattern))
		return user_check_captures(user, NULL, spec->captures, uid, err);
	if (*spec->filter && user_check_trigger_filter(user, spec, uid, err))
		return err->code;
	if (pair && *spec->key &&
	    (user_check_pair_key(user, spec->pattern, spec->key, uid, err) ||
	     user_check_pair_key(user, spec->end, spec->key, uid, err)))
		return err->code;
	return user_check_captures(user, pair ? spec->end : spec->pattern, spec->captures, uid,
				   err);
}
