/* SPDX-License-Identifier: GPL-2.0-only */
/* refusal.c - points that can't be counted: where a rule is asked for, and of applications with
 * a libltt that only records, for the client that asks; and applications that can't use their
 * buffers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "link.h"
#include "session.h"
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

static void user_refusal_report(struct user_app *app, const struct rule *rule,
				void (*fn)(const struct domain_refusal *refusal, void *data),
				void *data)
{
	struct refusal_search refusal_search = { .rule = rule };
	char why[128 + NAME_BYTES];

	app_each_point(&app->app, find_point, &refusal_search);
	if (!refusal_search.point)
		return;
	snprintf(why, sizeof(why), "process %d (%.*s) has an older libltt that can't count",
		 (int)app->app.pid, NAME_BYTES, app->app.procname);
	fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why, false }, data);
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
	list_for_each(its, &session->channels, node)
		list_for_each(each, &its->rules, node) {
			if (its->domain != DOMAIN_USER || (channel && its != channel) ||
			    (rule && each != rule) || !rule_counts(each->kind) || !each->enabled)
				continue;
			list_for_each(link, &us->links, in_session)
				if (!link->app->counts)
					user_refusal_report(link->app, each, fn, data);
		}
}

/* --- may it be asked for? ----------------------------------------------------------- */

struct field_search {
	const char *name, *field; /* of the event, and in it */
	bool known, found;
	const char **words; /* fields there are, of the event that was found first */
	uint32_t nr_words;
};

static void note_words(struct field_search *search, const struct layout *layout)
{
	search->words = xalloc((layout->nr_fields + 1) * sizeof(*search->words));
	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (field_is_integer(&layout->fields[i]))
			search->words[search->nr_words++] = layout->fields[i].name;
}

static void search_point(struct app_point *point, void *data)
{
	struct field_search *search = data;

	if (strcmp(point->shape->name, search->name) != 0)
		return;
	search->known = true;
	search->found = search->found || shape_integer(point->shape, search->field) >= 0;
	if (!search->words)
		note_words(search, point->shape->layout);
}

int user_check_rule(struct domain_tracer *domain, const struct session *session,
		    const struct rule_spec *spec, struct err *err)
{
	struct field_search search = { .name = spec->pattern, .field = spec->location };
	const char *near = NULL;
	struct user_app *app;
	int code = 0;

	if (spec->kind != RULE_HISTOGRAM)
		return 0;
	list_for_each(app, &user_of(domain)->apps, node)
		if (user_eligible(session, &app->app))
			app_each_point(&app->app, search_point, &search);
	if (search.words)
		near = nearest_word(spec->location, search.words);
	if (search.known && !search.found)
		code = err_set(err, ERR_INVALID,
			       "event '%.100s' has no integer field '%.100s'; %s%.100s%s",
			       spec->pattern, spec->location,
			       near ? "did you mean '" : "`lttctl list -u --fields` lists ",
			       near ? near : "fields", near ? "'?" : "");
	free(search.words);
	return code;
}
