/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refusal.c - reports the points that can't be counted or filtered as a rule requests, also
 * because an application has an older libltt, and the applications that can't use their buffers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "filter.h"
#include "link.h"
#include "session.h"
#include "silent.h"
#include "sessiond/core/sampling.h"
#include "stats.h"

#define NAME_BYTES 64

/** The receiver. */
struct refusal_search {
	const struct rule *rule;
	const struct app_point *point; /* one that the rule takes */
};

static void find_point(struct app_point *point, void *data)
{
	struct refusal_search *refusal_search = data;

	if (!refusal_search->point && user_rule_takes(refusal_search->rule, point->shape))
		refusal_search->point = point;
}

static void user_refusal_report(struct user_app *app, const struct rule *rule, const char *unable,
				void (*fn)(const struct domain_refusal *refusal, void *data),
				void *data)
{
	struct refusal_search refusal_search = { .rule = rule };
	char why[128 + NAME_BYTES];

	app_each_point(&app->app, find_point, &refusal_search);
	if (!refusal_search.point)
		return;
	snprintf(why, sizeof(why), "process %d (%.*s) has an older libltt that can't %s",
		 (int)app->app.pid, NAME_BYTES, app->app.procname, unable);
	fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why, !rule_counts(rule->kind) },
	   data);
}

/* The ability that an application's libltt lacks for a rule, or NULL. */
static const char *unable(const struct user_app *app, const struct rule *rule)
{
	uint64_t lacked = user_filter_needs(rule) & ~app->features;

	if (lacked & APP_FEATURE_COUNT)
		return "count";
	if (lacked & APP_FEATURE_KEYS)
		return *rule->by ? "count by keys" : "filter what it counts";
	if (lacked & APP_FEATURE_SAMPLE)
		return "sample";
	if (lacked & APP_FEATURE_FILTER)
		return "filter";
	return lacked ? "filter by its contexts" : NULL;
}

/* --- filters that never hold ---------------------------------------------------------- */

struct filter_search {
	const struct rule *rule;
	struct sampling sampling;
	uint32_t points, never;
	struct filter_verdicts verdicts;
	const struct filter_verdict *first; /* for which it never holds */
};

static void search_filter(struct app_point *point, void *data)
{
	struct filter_search *search = data;
	const struct filter_verdict *verdict;

	if (!user_rule_takes(search->rule, point->shape))
		return;
	search->points++;
	verdict = filter_verdict_get(&search->verdicts, point->shape, NULL);
	if (verdict->column && !search->never++)
		search->first = verdict;
}

/* Return: whether there are points of the rule, but its filter holds for none of them. @ret ends
 * with filter_verdicts_fini(). */
static bool filter_never_holds(const struct user_domain *user, const struct session *session,
			       const struct rule *rule, struct filter_search *ret)
{
	struct err ignored = { 0 };
	struct user_app *app;

	*ret = (struct filter_search){
		.rule = rule,
		.verdicts = { .tracer = user_filter_tracer(), .expression = rule->filter },
	};
	(void)sampling_parse(rule->sampling, &ret->sampling, &ignored);
	ret->verdicts.by = ret->sampling.by;
	if (!*rule->filter && !*ret->sampling.by)
		return false;
	list_for_each(app, &user->apps, node)
		if (user_eligible(session, &app->app))
			app_each_point(&app->app, search_filter, ret);
	return ret->points && ret->never == ret->points;
}

static void report_never(const struct user_session *us, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	struct filter_search search;
	char why[512];

	if (filter_never_holds(us->user, us->rec.session, rule, &search)) {
		snprintf(why, sizeof(why), "its %s no event that there is now: %s",
			 search.first->of_key ? "field of --by is in" : "filter holds for",
			 search.first->why);
		fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why,
					     !rule_counts(rule->kind) },
		   data);
	}
	filter_verdicts_fini(&search.verdicts);
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
				      app->app.procname, strerror((int)msg->error));
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

	snprintf(why, sizeof(why), "process %d (%.*s) can't map its buffers: %.60s%s",
		 (int)app->pid, NAME_BYTES, app->procname, strerror((int)link->failed_error),
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
	const struct user_link *link;
	const struct rule *each;

	if (!us || !us->rec.recording)
		return;
	each_failed(us, channel, rule, fn, data);
	silent_each(us, channel, rule, fn, data);
	list_for_each(its, &session->channels, node)
		list_for_each(each, &its->rules, node) {
			if (its->domain != DOMAIN_USER || (channel && its != channel) ||
			    (rule && each != rule) || !each->enabled)
				continue;
			list_for_each(link, &us->links, in_session)
				if (unable(link->app, each))
					user_refusal_report(link->app, each,
							    unable(link->app, each), fn, data);
			report_never(us, each, fn, data);
		}
}

/* --- check of a request ------------------------------------------------------------- */

struct field_search {
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

static void search_point(struct app_point *point, void *data)
{
	struct field_search *search = data;

	if (strcmp(point->shape->name, search->name) != 0)
		return;
	search->known = true;
	search->found = search->found || search->find(point->shape, search->field) >= 0;
	if (!search->words)
		note_words(search, point->shape->layout);
}

static int user_check_field(const struct user_domain *user, const struct session *session,
			    struct field_search *search, const char *kind, struct err *err)
{
	const char *near = NULL;
	struct user_app *app;
	int code = 0;

	list_for_each(app, &user->apps, node)
		if (user_eligible(session, &app->app))
			app_each_point(&app->app, search_point, search);
	if (search->words)
		near = nearest_word(search->field, search->words);
	if (search->known && !search->found)
		code = err_set(err, ERR_INVALID,
			       "event '%.100s' has no %s field '%.100s'; %s%.100s%s", search->name,
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
		struct field_search search = { .name = spec->pattern,
					       .field = field,
					       .find = shape_key,
					       .suits = field_is_key };

		if (user_check_field(user, session, &search, "integer, enumeration or text", err))
			return err->code;
	}
	return 0;
}

/* A known name whose events all lack a field of the filter is an error; other names may come
 * later. */
static int user_check_filter(const struct user_domain *user, const struct session *session,
			     const struct rule_spec *spec, struct err *err)
{
	struct rule *rule = rule_new(spec);
	struct filter_search search;

	if (filter_never_holds(user, session, rule, &search) && !glob_is_pattern(spec->pattern))
		err_set(err, ERR_INVALID, "%s event %.100s, column %u: %s",
			search.first->of_key ? "--by, field of" : "filter of", spec->pattern,
			search.first->column, search.first->why);
	filter_verdicts_fini(&search.verdicts);
	rule_free(rule);
	return err->code;
}

int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err)
{
	struct field_search search = { .name = spec->pattern,
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
		       user_check_field(user_of(domain), session, &search, "integer", err) :
		       0;
}
