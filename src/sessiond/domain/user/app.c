/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * app.c - an application connects, registers points, removes some, disconnects.
 */
#include "app.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "fire.h"
#include "link.h"
#include "preset.h"
#include "ltt/site.h"
#include "report.h"
#include "session.h"
#include "trace.h"

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

/* An application of an earlier daemon gets its buffers again. After exec the process has none of
 * them: it runs another program, which does not write into those. */
static uint64_t user_app_id(struct user_app *app, const struct msg_app_hello *hello)
{
	struct user_domain *user = app->user;
	uint64_t id = absent_take(user, app->peer->pid, app->start_ticks);

	if (id && !hello->recorded) {
		user_close_buffers(user, id);
		id = 0;
	}
	return id ? id : user->recorder->next_id++;
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
	app->app.id = user_app_id(app, hello);
	app->app.pid = peer->pid;
	app->app.gid = peer->gid;
	app->app.vpid = hello->pid;
	app->app.vuid = hello->vuid;
	app->app.vgid = hello->vgid;
	app->app.procname = strndup(hello->procname, PROCNAME_MAX);
	if (!app->app.procname)
		app->app.procname = xstrdup("");
	app->app.scopes = strndup(hello->scopes, SCOPES_MAX);
	if (!app->app.scopes)
		app->app.scopes = xstrdup("");
	app->app.start_ns = hello->start_ns;
	app->app.exclusive = hello->producer != 0;
	app->app.features = hello->features;
	app->recorded = hello->recorded;
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
	fire_app_gone(app);
	user_presets_drop(app);
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
	if (!why)
		fire_point_added(app, msg->id);
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
	begun_note(app);
	if (msg->complete) {
		app->announced = true;
		app->ready_due++;
		app->begun_ns = 0;
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

int user_app_begun(struct user_app *app, const struct msg_app_begun *msg)
{
	uint64_t now = loop_now_ns();

	app->begun_ns = now - MIN(msg->ago_ms, now / 1000000) * 1000000;
	app->begun_first = msg->first;
	begun_note(app); /* its points may have come before */
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

/*
 * Instrumentation points as applications announce them. Data of an application is
 * untrusted: a point that can't be recorded and described is rejected, and no other one is
 * affected.
 */

/* The wire carries the numbers of the public header; shapes have their own. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

SAME(SHAPE_TRACEPOINT, LTT_EVENT_TRACEPOINT);
SAME(SHAPE_MARKER, LTT_EVENT_MARKER);

struct size {
	uint32_t fields, labels;
	size_t text;
};

static void user_point_measure(struct list fields, struct size *size)
{
	struct msg_app_field f;
	struct msg_app_enum_entry e;

	while (msg_app_field_next(&fields, &f)) {
		size->fields++;
		size->text += strlen(f.name) + 1;
		while (msg_app_enum_entry_next(&f.entries, &e)) {
			size->labels++;
			size->text += strlen(e.label) + 1;
		}
	}
}

static void fill_field(struct layout *layout, struct msg_app_field *f)
{
	struct layout_field field = {
		.name = f->name,
		.kind = f->kind,
		.size_bits = f->size_bits,
		.length_bits = f->length_bits,
		.base = f->base,
		.flags = f->flags,
		.count = f->count,
	};
	struct msg_app_enum_entry e;

	layout_add_field(layout, &field);
	while (msg_app_enum_entry_next(&f->entries, &e))
		layout_add_label(layout, e.label, e.first, e.last);
}

static struct layout *user_point_make_layout(struct list fields, const struct size *size)
{
	struct layout *layout = layout_new(size->fields, size->labels, size->text);
	struct msg_app_field f;

	while (layout && msg_app_field_next(&fields, &f))
		fill_field(layout, &f);
	return layout;
}

const char *point_add(struct app *app, struct msg_app_point *msg)
{
	struct shape_facts facts = {
		.name = msg->name,
		.kind = (enum shape_kind)msg->kind,
		.loglevel = msg->loglevel,
		.format = msg->kind == SHAPE_MARKER ? msg->format : "",
	};
	const struct app_point *point;
	struct size size = { 0 };
	const char *why;

	user_point_measure(msg->fields, &size);
	if (size.fields > LAYOUT_MAX_FIELDS || size.labels > LAYOUT_MAX_LABELS) {
		why = "has too many fields or labels";
		app_refuse_point(app, msg->id, msg->file, msg->line, &facts, why);
		return why;
	}
	facts.layout = user_point_make_layout(msg->fields, &size);
	if (!facts.layout)
		return "can't be stored: out of memory";
	why = app_add_point(app, msg->id, msg->file, msg->line, &facts, &point);
	layout_free(facts.layout);
	return why;
}

#define MAX_SILENT 1000u /* the oldest are forgotten */
#define NAME_BYTES 64
#define CHILDREN "children of "

/* @reason: enum app_reason, from the application. */
static const char *silence_because(uint8_t silence, uint8_t reason)
{
	switch (reason) {
	case APP_REASON_FILTER:
		return "its seccomp filter would end it for a system call of libltt";
	case APP_REASON_COUNTS:
		return "libltt's thread has ended, as the program counts its threads; restart it";
	case APP_REASON_RESTRICTED:
		return "libltt's thread has ended, as it can't take on the program's restrictions; "
		       "restart it";
	case APP_REASON_LIMIT:
		return "libltt's thread has ended, as its user may have no more processes; raise "
		       "the limit, and restart it";
	case APP_REASON_OFTEN:
		return "libltt's thread has ended, as the program changes its users or "
		       "capabilities too often; restart it";
	case APP_REASON_UNSEEN:
		return "libltt's thread has ended, as the program changes its rights by system "
		       "calls without libc; restart it";
	default: /* a newer library's */
		return silence_because(silence, silence == APP_SILENCE_LATER ? APP_REASON_COUNTS :
									       APP_REASON_FILTER);
	}
}

struct silent_app {
	struct list_node node;
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	uint8_t why; /* enum app_reason */
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
	/* 0: it had ended before it was looked up */
	return silent->start_ticks && process_start_ticks(silent->pid) == silent->start_ticks;
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
	silent->why = app->silent_why;
	silent->procname = xstrdup(app->app.procname);
	silent->scopes = xstrdup(app->app.scopes);
	list_append(&app->user->silent, &silent->node);
	app->user->nr_silent++;
}

static const char *silence_of(const struct user_app *app)
{
	return silence_because(app->silence, app->silent_why);
}

/* @whose: "" or CHILDREN. @since: "" or " any more". */
static void silent_trouble(struct user_session *us, const char *whose, pid_t pid,
			   const char *procname, const char *since, const char *why)
{
	char others[32] = "", text[384];

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
			silent_trouble(us, CHILDREN, app->app.pid, app->app.procname, "",
				       silence_of(app));
		else if (app->silence == APP_SILENCE_LATER && !silent_is_armed(app, us))
			silent_trouble(us, "", app->app.pid, app->app.procname, "",
				       silence_of(app));
	list_for_each(silent, &us->user->silent, node)
		if (session_admits(us->rec.session, silent->uid, silent->scopes) &&
		    silent_is_there(silent))
			silent_trouble(us, "", silent->pid, silent->procname, "",
				       silence_because(APP_SILENCE_ALL, silent->why));
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
			silent_trouble(link->us, "", app->app.pid, app->app.procname, "",
				       silence_of(app));
}

int user_app_silent(struct user_app *app, const struct msg_app_silent *msg)
{
	const bool all = msg->silence == APP_SILENCE_ALL;
	const char *whose = all ? "" : CHILDREN, *since = all ? " any more" : "";
	const struct user_link *link;

	app->silence = msg->silence;
	app->silent_why = msg->reason;
	if (msg->silence == APP_SILENCE_NONE || msg->silence == APP_SILENCE_LATER) {
		silent_later(app);
		return 0;
	}
	if (all)
		silent_add(app);
	log_warn_some("%sprocess %d (%.*s) can't record%s: %s", whose, (int)app->app.pid,
		      NAME_BYTES, app->app.procname, since, silence_of(app));
	list_for_each(link, &app->links, in_app)
		if (silent_matters(link))
			silent_trouble(link->us, whose, app->app.pid, app->app.procname, since,
				       silence_of(app));
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
	char why[384];

	list_for_each(silent, &us->user->silent, node) {
		if (!session_admits(us->rec.session, silent->uid, silent->scopes) ||
		    !silent_is_there(silent))
			continue;
		snprintf(why, sizeof(why), "process %d (%.*s) can't record: %s", (int)silent->pid,
			 NAME_BYTES, silent->procname,
			 silence_because(APP_SILENCE_ALL, silent->why));
		silent_report(&report, us, why);
	}
	list_for_each(link, &us->links, in_session) {
		const struct app *app = &link->app->app;

		if (link->app->silence == APP_SILENCE_LATER && link->confirmed < link->generation) {
			snprintf(why, sizeof(why), "process %d (%.*s) can't record: %s",
				 (int)app->pid, NAME_BYTES, app->procname, silence_of(link->app));
			silent_report(&report, us, why);
		}
		if (link->app->silence != APP_SILENCE_CHILDREN || !link->nr_arms)
			continue;
		snprintf(why, sizeof(why), CHILDREN "process %d (%.*s) can't record: %s",
			 (int)app->pid, NAME_BYTES, app->procname, silence_of(link->app));
		silent_report(&report, us, why);
	}
}

void user_each_app(struct domain_tracer *domain,
		   void (*fn)(const struct peer *peer, const char *name, void *data), void *data)
{
	const struct user_app *app;

	list_for_each(app, &user_of(domain)->apps, node)
		fn(app->peer, app->app.procname, data);
}
