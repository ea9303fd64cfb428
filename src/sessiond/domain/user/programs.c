/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.c - the programs of a scoped session, for reports to its user: those that still record,
 * and the points that they have if the rules match none. Names are kept until the session ends, as
 * the programs end before.
 */
#include "programs.h"

#include <string.h>

#include "app.h"
#include "base/mem.h"
#include "link.h"
#include "list.h"
#include "plan.h"
#include "session.h"

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
	if (*link->us->rec.session->scope && !link->us->matched)
		link_each_point(link, note, link->us);
}

void announced_free(struct user_session *us)
{
	for (uint32_t i = 0; i < us->nr_announced; i++)
		shape_unref(&us->user->recorder->shapes, us->announced[i]);
	free(us->announced);
}

void unrecorded_note(struct user_link *link)
{
	const struct app *app = &link->app->app;
	struct session *session = link->us->rec.session;
	const char *why = session_problem(session);
	bool unable = link->unable || (link->nr_todo && !session_is_writable(session));

	if (!link->us->rec.recording || (!link->failed && (link->was_armed || !unable)))
		return;
	if (link->failed)
		why = strerror((int)link->failed_error);
	session_note_unrecorded(session, app->pid, app->procname,
				*why ? why : "its buffers could not be created");
	recording_saved(&link->us->rec);
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
