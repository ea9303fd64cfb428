/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app.c - an application connects, registers points, removes some, disconnects.
 */
#include "app.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "link.h"
#include "offer.h"
#include "programs.h"
#include "ring.h"
#include "session.h"
#include "state.h"

#define PROCNAME_MAX 255u
#define SCOPES_MAX 1024u
#define REFUSED_LOGGED 10u /* of one application; the rest is only counted */

static void link_to_sessions(struct user_app *app)
{
	struct user_session *us;

	list_for_each(us, &app->user->domain.recordings, rec.node)
		if (us->rec.recording && user_eligible(us->rec.session, &app->app))
			link_touch(link_new(us, app));
}

/* An older library is taken to be in the daemon's own user namespace. */
static void user_app_note_own_ids(struct app *app, const struct msg_app_hello *hello)
{
	bool reported = hello->features & APP_FEATURE_OWN_IDS;

	app->vuid = reported ? hello->vuid : app->uid;
	app->vgid = reported ? hello->vgid : app->gid;
}

struct user_app *user_app_new(struct domain_tracer *domain, struct peer *peer,
			      const struct msg_app_hello *hello)
{
	struct user_domain *user = user_of(domain);
	struct user_app *app = xalloc(sizeof(*app));

	app->user = user;
	app->peer = peer;
	list_init(&app->links);
	app_init(&app->app, peer->uid, &user->recorder->shapes, user->recorder->config.quotas);
	app->start_ticks = process_start_ticks(peer->pid);
	app->app.id = absent_take(user, peer->pid, app->start_ticks);
	if (!app->app.id)
		app->app.id = user->recorder->next_id++;
	app->app.pid = peer->pid;
	app->app.gid = peer->gid;
	app->app.vpid = hello->pid;
	user_app_note_own_ids(&app->app, hello);
	app->app.procname = strndup(hello->procname, PROCNAME_MAX);
	if (!app->app.procname)
		app->app.procname = xstrdup("");
	app->app.scopes = strndup(hello->scopes, SCOPES_MAX);
	if (!app->app.scopes)
		app->app.scopes = xstrdup("");
	app->app.start_ns = hello->start_ns;
	app->app.exclusive = hello->producer != 0;
	app->features = hello->features;
	list_append(&user->apps, &app->node);
	link_to_sessions(app);
	(void)offers_request(app);
	return app;
}

void user_close_buffers(struct user_domain *user, uint64_t app)
{
	struct user_session *us;

	list_for_each(us, &user->domain.recordings, rec.node)
		kept_add(us, app);
}

/* Its own buffers are closed, unless they are missing: then it may come again, and
 * bring them. */
static void close_buffers(struct user_app *app)
{
	const struct msg_state_app msg = {
		.id = app->app.id,
		.pid = (uint32_t)app->app.pid,
		.start_ticks = app->start_ticks,
	};

	if (offers_expected(app->user, app->app.id))
		absent_add(app->user, &msg);
	else
		user_close_buffers(app->user, app->app.id);
}

void user_app_free(struct user_app *app)
{
	struct user_link *link, *next;

	if (app->nr_refused > REFUSED_LOGGED)
		log_warn_some("process %d (%s): %u points were refused in all", (int)app->app.pid,
			      app->app.procname, app->nr_refused);
	list_for_each_safe(link, next, &app->links, in_app) {
		unrecorded_note(link);
		link_free(link);
	}
	close_buffers(app);
	list_remove(&app->node);
	app_fini(&app->app);
	free(app);
}

static void user_app_refuse(struct user_app *app, const struct msg_app_point *point,
			    const char *why)
{
	const struct msg_app_point_refused msg = { point->id, point->name, why };
	uint8_t buf[POINT_NAME_MAX + 256]; /* a longer name is not sent */
	struct encoder enc;

	if (app->nr_refused++ >= REFUSED_LOGGED)
		return;
	log_warn_some("process %d (%s): point %u '%.100s' %s; it is refused", (int)app->app.pid,
		      app->app.procname, point->id, point->name, why);
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_point_refused, 0, 0);
	msg_app_point_refused_encode(&enc, &msg);
	if (encoder_finish(&enc) == 0)
		peer_send(app->peer, &enc);
}

/* app_ready is sent from there, also where no session records. */
static void refresh_later(struct user_app *app)
{
	loop_defer(app->user->recorder->config.loop, &app->user->refresh);
}

static void user_app_add_point(struct user_app *app, struct msg_app_point *msg)
{
	const char *why = point_add(&app->app, msg);
	struct user_link *link;

	if (why)
		user_app_refuse(app, msg, why);
	else
		list_for_each(link, &app->links, in_app)
			link_touch_point(link, msg->id);
}

int user_app_points_add(struct user_app *app, struct msg_app_points_add *msg)
{
	struct msg_app_point point;
	struct decoder record;

	while (list_next(&msg->points, &record)) {
		if (msg_app_point_decode(&record, &point) < 0)
			return -EPROTO;
		user_app_add_point(app, &point);
	}
	if (msg->complete) {
		app->announced = true;
		app->ready_due++;
	}
	refresh_later(app);
	return 0;
}

int user_app_points_remove(struct user_app *app, struct msg_app_points_remove *msg)
{
	struct msg_app_point_ref ref;
	struct user_link *link;

	while (msg_app_point_ref_next(&msg->points, &ref)) {
		if (app_remove_point(&app->app, ref.id))
			list_for_each(link, &app->links, in_app)
				link_drop_point(link, ref.id);
	}
	refresh_later(app);
	return 0;
}

int user_app_producer(struct user_app *app, const struct msg_app_producer *msg)
{
	bool exclusive = msg->producer != 0;
	struct user_link *link;

	if (app->app.exclusive == exclusive)
		return 0;
	app->app.exclusive = exclusive;
	list_for_each(link, &app->links, in_app)
		link_touch(link);
	return 0;
}
