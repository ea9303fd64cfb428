/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.c - the user domain's table, its sessions, and the one place where links
 * are refreshed.
 */
#include "user.h"

#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "count.h"
#include "fire.h"
#include "link.h"
#include "map.h"
#include "preset.h"
#include "report.h"
#include "session.h"
#include "trace.h"

bool user_eligible(const struct session *session, const struct app *app)
{
	const struct tracker *trackers = session->trackers[DOMAIN_USER];

	return session_admits(session, app->uid, app->scopes) &&
	       tracker_admits(&trackers[TRACK_PID], (uint32_t)app->pid) &&
	       tracker_admits(&trackers[TRACK_VPID], app->vpid) &&
	       tracker_admits(&trackers[TRACK_UID], app->uid) &&
	       tracker_admits(&trackers[TRACK_GID], app->gid) &&
	       tracker_admits(&trackers[TRACK_VUID], app->vuid) &&
	       tracker_admits(&trackers[TRACK_VGID], app->vgid);
}

struct user_session *user_session_find(struct user_domain *user, const struct session *session)
{
	struct recording *rec = recording_find(&user->domain, session);

	return rec ? us_of(rec) : NULL;
}

/* --- refreshing -------------------------------------------------------------- */

enum readiness {
	READY_LATER,
	READY_TO_BEGIN, /* it is armed later, where a session can't be written */
	READY_IN_FULL,
};

static enum readiness app_readiness(const struct user_app *app)
{
	enum readiness readiness = READY_IN_FULL;
	const struct user_link *link;

	if (app->wanted)
		return READY_LATER;
	list_for_each(link, &app->links, in_app) {
		if (!list_empty(&link->dirty))
			return READY_LATER;
		if (!link->nr_todo)
			continue;
		if (session_is_writable(link->us->rec.session, DOMAIN_USER))
			return READY_LATER;
		readiness = READY_TO_BEGIN;
	}
	return readiness;
}

static void send_ready(struct user_app *app, enum app_ready_part part)
{
	struct msg_app_ready msg = { .part = (uint8_t)part };
	struct encoder enc;
	uint8_t buf[16];

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_ready, 0, 0);
	msg_app_ready_encode(&enc, &msg);
	peer_send(app->peer, &enc);
	app->sweep_due = part == APP_READY_BEGIN;
}

/* An application does not wait for a session that can't be written, nor does it drop its buffers of
 * that. */
static void answer_app(struct user_app *app)
{
	enum readiness readiness = app_readiness(app);
	struct user_link *link;

	if (readiness == READY_LATER)
		return;
	for (; app->ready_due; app->ready_due--) {
		list_for_each(link, &app->links, in_app)
			unarmed_note(link);
		send_ready(app, readiness == READY_TO_BEGIN ? APP_READY_BEGIN : APP_READY_ALL);
	}
	if (app->sweep_due && readiness == READY_IN_FULL)
		send_ready(app, APP_READY_SWEEP);
}

static void await_turn(struct user_domain *user, uint64_t now)
{
	uint64_t wait_ns = user->turn_ns > now ? user->turn_ns - now : 0;

	if (!user->turn.at_ns)
		loop_timer_set(&user->turn, wait_ns / 1000 + 1);
}

/* Points that come one by one to an application that has many make each refresh long: it
 * leaves as much time to all others as it took. Return: is it not our turn yet? */
static bool out_of_turn(struct user_domain *user)
{
	uint64_t now = loop_now_ns();

	if (now >= user->turn_ns)
		return false;
	await_turn(user, now);
	return true;
}

/* No more than a slice: very many points that come at once must not hold the loop either.
 * Links that have more to do stand behind the others. */
static void refresh_dirty(struct user_domain *user)
{
	size_t left = user->recorder->slice;
	struct user_link *link;
	struct user_app *app;

	while (left && (link = list_first(&user->dirty, struct user_link, dirty)))
		left -= MIN(left, link_refresh(link));
	list_for_each(app, &user->apps, node) {
		fire_refresh(app);
		answer_app(app);
	}
}

static void refresh_all(struct loop_work *work)
{
	struct user_domain *user = container_of(work, struct user_domain, refresh);
	uint64_t begin_ns = loop_now_ns();

	if (out_of_turn(user))
		return;
	refresh_dirty(user);
	user->turn_ns = recorder_next_turn(user->recorder, begin_ns);
	if (!list_empty(&user->dirty)) /* in a round of its own: deferred work is of this one */
		await_turn(user, loop_now_ns());
}

static void refresh_in_turn(struct loop_timer *timer)
{
	refresh_all(&container_of(timer, struct user_domain, turn)->refresh);
}

/* --- sessions ------------------------------------------------------------------ */

static void user_ready(struct recording *rec)
{
	links_touch_pending(us_of(rec));
}

/* Applications that waited for a session whose output has a problem wait no more. */
static void metadata_done(struct recording *rec)
{
	waits_on_metadata_written(us_of(rec));
	loop_defer(rec->recorder->config.loop, &us_of(rec)->user->refresh);
}

static void wanted_done(struct recording *rec)
{
	waits_on_rings_offered(us_of(rec));
	offers_done(us_of(rec)->user);
}

static const struct recording_ops recording_ops = { user_ready, metadata_done, trace_describe,
						    wanted_done };

struct user_session *user_session_get(struct user_domain *user, struct session *session,
				      const struct clock_facts *clock)
{
	struct user_session *us = user_session_find(user, session);

	if (us)
		return us;
	us = xalloc(sizeof(*us));
	recording_init(&us->rec, &recording_ops, user->recorder, DOMAIN_USER, session, clock);
	us->user = user;
	list_init(&us->links);
	list_init(&us->waits);
	list_init(&us->conflicts);
	list_init(&us->tallies);
	idmap_init(&us->tallies_by_rule);
	list_init(&us->counts);
	user_maps_init(&us->maps);
	event_filters_init(&us->filters, user_filter_tracer(), &user->recorder->shapes,
			   us->rec.clock);
	loop_timer_init(&us->apart, user->recorder->config.loop, damaged_close);
	list_append(&user->domain.recordings, &us->rec.node);
	return us;
}

static bool has_link(const struct user_session *us, const struct user_app *app)
{
	const struct user_link *link;

	list_for_each(link, &app->links, in_app)
		if (link->us == us)
			return true;
	return false;
}

/* Applications that may record into the session, and have not so far. */
static void user_link_all(struct user_session *us)
{
	struct user_app *app;

	list_for_each(app, &us->user->apps, node)
		if (user_eligible(us->rec.session, &app->app) && !has_link(us, app))
			link_new(us, app);
}

static void user_start(struct domain_tracer *domain, struct session *session,
		       const struct clock_facts *clock, domain_done done, void *data)
{
	struct user_domain *user = user_of(domain);
	struct user_session *us = user_session_get(user, session, clock);
	struct user_link *link;

	recording_begin(&us->rec);
	silent_start(us);
	tallies_retry(us);
	user_link_all(us);
	us->rec.recording = true;
	us->generation++;
	list_for_each(link, &us->links, in_session)
		link->dumped = false;
	rings_enable(&us->rec, true);
	trace_prepare(us);
	links_touch(us);
	wait_new(us, done, data);
}

static void user_stop(struct domain_tracer *domain, struct session *session, domain_done done,
		      void *data)
{
	struct user_session *us = user_session_find(user_of(domain), session);
	struct user_link *link;

	if (!us) {
		if (done)
			done(data, 0, 0, NULL);
		return;
	}
	if (done) /* else a start has failed, which reports the reason itself */
		list_for_each(link, &us->links, in_session)
			unrecorded_note(link);
	us->rec.recording = false;
	us->generation++;
	rings_enable(&us->rec, false);
	links_touch(us);
	if (done)
		wait_stop(us, done, data);
}

/* @rule: NULL: all have changed. */
static void refresh_points(struct domain_tracer *domain, struct session *session,
			   const struct rule *rule, domain_done done, void *data)
{
	struct user_session *us = user_session_find(user_of(domain), session);

	if (!us || !us->rec.recording) {
		if (done)
			done(data, 0, 0, NULL);
		return;
	}
	us->generation++;
	user_link_all(us);
	if (rule)
		links_touch_rule(us, rule);
	else
		links_touch(us);
	if (done)
		wait_new(us, done, data);
}

static void user_refresh(struct domain_tracer *domain, struct session *session, domain_done done,
			 void *data)
{
	refresh_points(domain, session, NULL, done, data);
}

static void user_write_not_sampled(struct domain_tracer *domain, struct session *session,
				   const struct msg_con_stream *streams, size_t nr,
				   domain_done done, void *data)
{
	struct user_session *us = user_session_find(user_of(domain), session);

	if (us)
		rings_note_not_sampled(&us->rec, streams, nr);
	/* also for those that ring sets have noted that were closed just now */
	if (us && traces_busy(&us->rec) && session_is_writable(session, DOMAIN_USER))
		wait_metadata(us, done, data);
	else
		done(data, 0, 0, NULL);
}

static void user_session_forget(struct user_session *us)
{
	struct user_link *link, *next_link;

	waits_finish(us);
	list_for_each_safe(link, next_link, &us->links, in_session) {
		link_drop_buffers(link, true);
		link_drop_counts(link);
		link_free(link);
	}
	loop_timer_cancel(&us->apart);
	conflicts_free(us);
	announced_free(us);
	paths_used_free(us);
	user_maps_free(us);
	tallies_free(us);
	event_filters_fini(&us->filters);
	recording_fini(&us->rec);
	offers_done(us->user);
	free(us);
}

static void user_forget(struct domain_tracer *domain, struct session *session)
{
	struct user_session *us = user_session_find(user_of(domain), session);

	if (us)
		user_session_forget(us);
}

/* --- checks and listings --------------------------------------------------------- */

static int user_available(struct domain_tracer *domain, struct err *err)
{
	(void)domain, (void)err;
	return 0;
}

static int user_convert_rule(struct domain_tracer *domain, struct rule_spec *spec, char **ret_text,
			     struct err *err)
{
	(void)domain, (void)spec, (void)err;
	*ret_text = NULL;
	return 0;
}

static int user_check_rule_in(struct domain_tracer *domain, const struct channel *channel,
			      const struct rule_spec *spec, struct err *err)
{
	(void)domain, (void)channel, (void)spec, (void)err;
	return 0;
}

static int user_check_context_of(struct domain_tracer *domain, const char *type, struct err *err)
{
	(void)domain;
	return user_check_context(type, err);
}

/* Each event gets a new class. */
static int user_check_contexts_of(struct domain_tracer *domain, const struct session *session,
				  const struct channel *channel, const char *types,
				  struct err *err)
{
	(void)domain, (void)session, (void)channel, (void)types, (void)err;
	return 0;
}

/* The daemon knows an application's process, not its threads. */
static int user_check_track(struct domain_tracer *domain, enum track_kind kind, struct err *err)
{
	(void)domain;
	if (kind == TRACK_FOLLOW || kind == TRACK_CGROUP)
		return err_set(err, ERR_INVALID,
			       "--follow and --cgroup are for events of the kernel (-k); of applications, `lttctl "
			       "record -- PROGRAM` records those that a program starts");
	if (kind != TRACK_TID && kind != TRACK_VTID)
		return 0;
	return err_set(err, ERR_INVALID,
		       "applications are tracked as a whole, not by tid or vtid; for threads use "
		       "a filter, such as --filter '$ctx.vtid == 17'");
}

static int user_list_contexts(struct domain_tracer *domain,
			      void (*fn)(const struct layout_field *context, void *data),
			      void *data, struct err *err)
{
	const struct layout_field provided = { .name = "$app.PROVIDER:NAME",
					       .kind = LAYOUT_KIND_DYNAMIC };

	(void)domain, (void)err;
	user_each_context(fn, data);
	fn(&provided, data);
	return 0;
}

static void user_keep(struct domain_tracer *domain, struct session *session)
{
	const struct user_session *us = user_session_find(user_of(domain), session);

	recording_keep(domain, session);
	if (us)
		user_maps_keep(us);
}

static const struct filter_tracer *user_filters(struct domain_tracer *domain)
{
	(void)domain;
	return user_filter_tracer();
}

static const struct domain_ops user_ops = {
	.id = DOMAIN_USER,
	.events = "applications",
	.option = 'u',
	.triggers = &fire_ops,
	.maps = &user_map_ops,
	.available = user_available,
	.convert_rule = user_convert_rule,
	.check_rule = user_check_rule,
	.check_rule_in = user_check_rule_in,
	.check_context = user_check_context_of,
	.check_contexts_of = user_check_contexts_of,
	.check_track = user_check_track,
	.start = user_start,
	.stop = user_stop,
	.refresh = user_refresh,
	.refresh_rule = refresh_points,
	.forget = user_forget,
	.retry = recording_retry,
	.dump = user_dump,
	.count_apps = user_count_apps,
	.count_points = user_count_points,
	.nearest_point = user_nearest_point,
	.each_point = user_each_point,
	.each_conflict = user_each_conflict,
	.each_refusal = user_each_refusal,
	.each_counted = user_each_counted,
	.each_context = user_list_contexts,
	.filters = user_filters,
	.each_preset = user_each_preset,
	.is_preset_for = user_is_preset_for,
	.preset_obstacle = user_preset_obstacle,
	.programs = user_programs,
	.find_ring = recording_find_ring,
	.each_final = recording_each_final,
	.write_not_sampled = user_write_not_sampled,
	.clock_remark = recording_clock_remark,
	.save = user_save,
	.await_offers = user_await_offers,
	.restore = user_restore,
	.adopt = recording_adopt,
	.damaged = user_damaged,
	.keep = user_keep,
};

struct domain_tracer *user_domain_new(struct recorder *recorder)
{
	struct user_domain *user = xalloc(sizeof(*user));

	user->domain.ops = &user_ops;
	user->recorder = recorder;
	list_init(&user->domain.recordings);
	list_init(&user->apps);
	list_init(&user->presets);
	list_init(&user->dirty);
	list_init(&user->absent);
	list_init(&user->silent);
	loop_timer_init(&user->look, recorder->config.loop, absent_check);
	loop_work_init(&user->refresh, refresh_all);
	loop_timer_init(&user->turn, recorder->config.loop, refresh_in_turn);
	list_init(&user->awaits);
	loop_work_init(&user->settled, awaits_finish);
	return &user->domain;
}

struct domain_tracer *user_domain_free(struct domain_tracer *domain)
{
	struct user_domain *user = domain ? user_of(domain) : NULL;
	struct recording *rec, *next;
	struct user_app *app, *next_app;

	if (!user)
		return NULL;
	list_for_each_safe(rec, next, &domain->recordings, node)
		user_session_forget(us_of(rec));
	list_for_each_safe(app, next_app, &user->apps, node)
		user_app_free(app);
	fire_free(user);
	loop_work_cancel(&user->refresh);
	loop_timer_cancel(&user->turn);
	loop_work_cancel(&user->settled);
	awaits_finish(&user->settled);
	absent_free(user);
	silent_free(user);
	user_matches_fini(&user->matches);
	free(user);
	return NULL;
}
