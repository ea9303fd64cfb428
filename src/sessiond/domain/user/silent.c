/* SPDX-License-Identifier: GPL-2.0-only */
#include "silent.h"

#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "link.h"
#include "session.h"
#include "state.h"

#define MAX_SILENT 1000u /* the oldest are forgotten */
#define NAME_BYTES 64
#define CHILDREN "children of "
#define BECAUSE "its seccomp filter would end it for a system call of libltt"
#define COUNTS "libltt's thread has ended, as the program counts its threads; restart it"

struct silent_app {
	struct list_node node;
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	char *procname, *scopes;
};

static void silent_forget(struct user_domain *user, struct silent_app *silent)
{
	user->nr_silent--;
	list_remove(&silent->node);
	free(silent->procname);
	free(silent->scopes);
	free(silent);
}

void silent_free(struct user_domain *user)
{
	struct silent_app *silent, *next;

	list_for_each_safe(silent, next, &user->silent, node)
		silent_forget(user, silent);
}

static bool silent_is_there(const struct silent_app *silent)
{
	return process_start_ticks(silent->pid) == silent->start_ticks;
}

static void silent_add(const struct user_app *app)
{
	struct silent_app *silent, *next;

	list_for_each_safe(silent, next, &app->user->silent, node)
		if (app->user->nr_silent == MAX_SILENT || !silent_is_there(silent))
			silent_forget(app->user, silent);
	silent = xalloc(sizeof(*silent));
	silent->pid = app->app.pid;
	silent->start_ticks = app->start_ticks;
	silent->uid = app->app.uid;
	silent->procname = xstrdup(app->app.procname);
	silent->scopes = xstrdup(app->app.scopes);
	list_append(&app->user->silent, &silent->node);
	app->user->nr_silent++;
}

/* @whose: "" or CHILDREN. @since: "" or " any more". */
static void silent_trouble(struct user_session *us, const char *whose, pid_t pid,
			   const char *procname, const char *since, const char *why)
{
	char others[32] = "", text[256];

	if (us->nr_silent++)
		snprintf(others, sizeof(others), " and %u more", us->nr_silent - 1);
	snprintf(text, sizeof(text),
		 "%sprocess %d (%.*s)%s can't record%s: %s"
		 "; the number of events that are missing is unknown",
		 whose, (int)pid, NAME_BYTES, procname, others, since, why);
	us->rec.recorder->config.trouble(us->rec.session, TROUBLE_APPS, text);
}

/* Whether the session recorded it before: then it continues. */
static bool silent_is_armed(const struct user_app *app, const struct user_session *us)
{
	const struct user_link *link;

	list_for_each(link, &app->links, in_app)
		if (link->us == us && link->nr_arms && link->confirmed)
			return true;
	return false;
}

void silent_start(struct user_session *us)
{
	const struct silent_app *silent;
	const struct user_app *app;

	list_for_each(app, &us->user->apps, node)
		if (!user_eligible(us->rec.session, &app->app))
			continue;
		else if (app->silence == APP_SILENCE_CHILDREN)
			silent_trouble(us, CHILDREN, app->app.pid, app->app.procname, "", BECAUSE);
		else if (app->silence == APP_SILENCE_LATER && !silent_is_armed(app, us))
			silent_trouble(us, "", app->app.pid, app->app.procname, "", COUNTS);
	list_for_each(silent, &us->user->silent, node)
		if (session_admits(us->rec.session, silent->uid, silent->scopes) &&
		    silent_is_there(silent))
			silent_trouble(us, "", silent->pid, silent->procname, "", BECAUSE);
}

/* Whether the session records it, or may, as its points are not known yet. */
static bool silent_matters(const struct user_link *link)
{
	return link->us->rec.recording &&
	       (link->nr_arms || link->nr_todo || link->all || !link->app->announced);
}

/* It records for the rules that are in force; others miss its events. */
static void silent_later(struct user_app *app)
{
	const struct user_link *link;

	if (app->silence != APP_SILENCE_LATER)
		return;
	list_for_each(link, &app->links, in_app)
		if (silent_matters(link) && link->confirmed < link->generation)
			silent_trouble(link->us, "", app->app.pid, app->app.procname, "", COUNTS);
}

int user_app_silent(struct user_app *app, const struct msg_app_silent *msg)
{
	const bool all = msg->silence == APP_SILENCE_ALL;
	const char *whose = all ? "" : CHILDREN, *since = all ? " any more" : "";
	const struct user_link *link;

	app->silence = msg->silence;
	if (msg->silence == APP_SILENCE_NONE || msg->silence == APP_SILENCE_LATER) {
		silent_later(app);
		return 0;
	}
	if (all)
		silent_add(app);
	log_warn_some("%sprocess %d (%.*s) can't record%s: " BECAUSE, whose, (int)app->app.pid,
		      NAME_BYTES, app->app.procname, since);
	list_for_each(link, &app->links, in_app)
		if (silent_matters(link))
			silent_trouble(link->us, whose, app->app.pid, app->app.procname, since,
				       BECAUSE);
	return 0;
}

/* --- refusals ------------------------------------------------------------------------- */

struct silent_report {
	const struct channel *channel;
	const struct rule *rule;
	void (*fn)(const struct domain_refusal *refusal, void *data);
	void *data;
};

/* The first rule of each channel stands for all. */
static void silent_report(const struct silent_report *report, const struct user_session *us,
			  const char *why)
{
	const struct channel *channel;
	const struct rule *rule;

	list_for_each(channel, &us->rec.session->channels, node) {
		if (channel->domain != DOMAIN_USER ||
		    (report->channel && channel != report->channel))
			continue;
		list_for_each(rule, &channel->rules, node) {
			if ((report->rule && rule != report->rule) || !rule->enabled)
				continue;
			report->fn(&(struct domain_refusal){ DOMAIN_USER, rule->pattern, why,
							     !rule_counts(rule->kind) },
				   report->data);
			break;
		}
	}
}

void silent_each(const struct user_session *us, const struct channel *channel,
		 const struct rule *rule,
		 void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct silent_report report = { channel, rule, fn, data };
	const struct silent_app *silent;
	const struct user_link *link;
	char why[256];

	list_for_each(silent, &us->user->silent, node) {
		if (!session_admits(us->rec.session, silent->uid, silent->scopes) ||
		    !silent_is_there(silent))
			continue;
		snprintf(why, sizeof(why), "process %d (%.*s) can't record: " BECAUSE,
			 (int)silent->pid, NAME_BYTES, silent->procname);
		silent_report(&report, us, why);
	}
	list_for_each(link, &us->links, in_session) {
		const struct app *app = &link->app->app;

		if (link->app->silence == APP_SILENCE_LATER && link->confirmed < link->generation) {
			snprintf(why, sizeof(why), "process %d (%.*s) can't record: " COUNTS,
				 (int)app->pid, NAME_BYTES, app->procname);
			silent_report(&report, us, why);
		}
		if (link->app->silence != APP_SILENCE_CHILDREN || !link->nr_arms)
			continue;
		snprintf(why, sizeof(why), CHILDREN "process %d (%.*s) can't record: " BECAUSE,
			 (int)app->pid, NAME_BYTES, app->procname);
		silent_report(&report, us, why);
	}
}
