/* SPDX-License-Identifier: GPL-2.0-only */
/* session.c - waiting for a session's applications, and saving and restoring for a successor. */
#include "session.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "fire.h"
#include "base/log.h"
#include "base/mem.h"
#include "link.h"

/*
 * Waiting until a change is in force in every application that answers. Changes of a session are
 * numbered; each link has the last change that its application has confirmed. A wait takes at most
 * one second; and a stop, which is in force already and only collects events in flight, does not
 * wait for applications that were late before.
 */

#define LATE_AFTER_US 1000000u

/* A stop does not count on an application that was late when it began. */
static bool counts_on(const struct user_wait *wait, const struct user_link *link)
{
	return link->app->silence != APP_SILENCE_LATER &&
	       (!wait->stop || !link->late || wait->generation <= link->late);
}

static void user_wait_finish(struct user_wait *wait)
{
	struct user_session *us = wait->us;
	domain_done done = wait->done;
	void *data = wait->data;
	uint32_t apps = wait->apps, unconfirmed = wait->left - wait->metadata - wait->offers;

	loop_timer_cancel(&wait->timeout);
	list_remove(&wait->node);
	free(wait);
	done(data, apps, unconfirmed, us->rec.problem.code ? &us->rec.problem : NULL);
}

static void user_wait_on_timeout(struct loop_timer *timer)
{
	struct user_wait *wait = container_of(timer, struct user_wait, timeout);
	struct user_link *link;

	list_for_each(link, &wait->us->links, in_session)
		if (wait->left && link->confirmed < wait->generation && !link->late)
			link->late = wait->us->generation;
	user_wait_finish(wait);
}

static void user_wait_begin(struct user_session *us, bool stop, domain_done done, void *data)
{
	struct user_wait *wait = xalloc(sizeof(*wait));
	struct user_link *link;

	wait->us = us;
	wait->generation = us->generation;
	wait->done = done;
	wait->data = data;
	wait->stop = stop;
	list_for_each(link, &us->links, in_session)
		wait->apps += counts_on(wait, link);
	wait->metadata =
		!stop && traces_busy(&us->rec) && session_is_writable(us->rec.session, DOMAIN_USER);
	wait->offers = stop && us->rec.enough.at_ns; /* that timer bounds the wait for lost rings */
	wait->left = wait->apps + wait->metadata + wait->offers;
	loop_timer_init(&wait->timeout, us->user->recorder->config.loop, user_wait_on_timeout);
	/* nothing to wait for: answered from the loop all the same, so that `done` is never called
	 * from within this call */
	loop_timer_set(&wait->timeout, wait->left ? LATE_AFTER_US : 0);
	list_append(&us->waits, &wait->node);
}

void wait_new(struct user_session *us, domain_done done, void *data)
{
	user_wait_begin(us, false, done, data);
}

void wait_stop(struct user_session *us, domain_done done, void *data)
{
	user_wait_begin(us, true, done, data);
}

/* Generation 0 is confirmed by every application. */
void wait_metadata(struct user_session *us, domain_done done, void *data)
{
	struct user_wait *wait = xalloc(sizeof(*wait));

	wait->us = us;
	wait->done = done;
	wait->data = data;
	wait->metadata = traces_busy(&us->rec);
	wait->left = wait->metadata;
	loop_timer_init(&wait->timeout, us->user->recorder->config.loop, user_wait_on_timeout);
	loop_timer_set(&wait->timeout, wait->left ? LATE_AFTER_US : 0);
	list_append(&us->waits, &wait->node);
}

void waits_finish(struct user_session *us)
{
	struct user_wait *wait;

	while ((wait = list_first(&us->waits, struct user_wait, node)))
		user_wait_finish(wait);
}

/* Finished from the loop: the receiver may free anything. */
static void count_down(struct user_wait *wait)
{
	if (--wait->left == 0)
		loop_timer_set(&wait->timeout, 0);
}

void waits_on_metadata_written(struct user_session *us)
{
	struct user_wait *wait;

	list_for_each(wait, &us->waits, node) {
		if (!wait->metadata)
			continue;
		wait->metadata = false;
		count_down(wait);
	}
}

void waits_on_rings_offered(struct user_session *us)
{
	struct user_wait *wait;

	list_for_each(wait, &us->waits, node) {
		if (!wait->offers)
			continue;
		wait->offers = false;
		count_down(wait);
	}
}

void link_confirm(struct user_link *link, uint64_t generation)
{
	uint64_t before = link->confirmed;
	struct user_wait *wait;

	if (generation <= before)
		return;
	link->confirmed = generation;
	list_for_each(wait, &link->us->waits, node) {
		if (wait->generation <= before || wait->generation > generation || wait->left == 0)
			continue;
		if (counts_on(wait, link))
			count_down(wait);
	}
	if (generation >= link->generation)
		link->late = 0;
}

static void send_statedump(struct user_link *link)
{
	struct msg_app_statedump msg = { link->us->rec.session->id, ++link->us->user->next_serial };
	uint8_t buf[64];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_statedump, 0, 0);
	msg_app_statedump_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

void user_dump(struct domain_tracer *domain, const struct session *session,
	       struct domain_dumps *ret, domain_done done, void *data)
{
	struct user_session *us = user_session_find(user_of(domain), session);
	struct user_link *link;
	uint32_t nr = 0;

	if (us && us->rec.recording)
		list_for_each(link, &us->links, in_session) {
			link->dumped &= !link->nr_arms;
			nr += link->nr_arms != 0;
		}
	if (!nr) {
		done(data, 0, 0, NULL);
		return;
	}
	ret->applications += nr;
	us->generation++;
	links_touch(us);
	wait_new(us, done, data);
}

static void send_sync(struct user_link *link)
{
	struct msg_app_sync msg = { ++link->us->user->next_serial };
	uint8_t buf[64];
	struct encoder enc;

	link->asked = link->generation;
	link->serial = msg.serial;
	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_app_sync, 0, 0);
	msg_app_sync_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

void link_request_confirm(struct user_link *link)
{
	if (link->us->rec.recording && link->nr_arms && !link->dumped) {
		send_statedump(link);
		link->dumped = true;
		link->changed = true;
	}
	if (link->changed) {
		link->changed = false;
		send_sync(link);
	} else if (!link->serial) {
		link_confirm(link, link->generation);
	} else {
		link->asked = link->generation; /* the sync in flight covers it */
	}
}

int user_app_synced(struct user_app *app, const struct msg_app_synced *msg)
{
	struct user_link *link;

	list_for_each(link, &app->links, in_app) {
		if (!link->serial || link->serial != msg->serial)
			continue;
		link->serial = 0;
		link_confirm(link, link->asked);
		break;
	}
	fire_synced(app->user, msg->serial);
	return 0;
}

/*
 * Saving and restoring of the user domain for a successor, beyond traces and ring sets
 * (rec/state.c): which process had which.
 */

/* --- processes -------------------------------------------------------------------- */

uint64_t process_start_ticks(pid_t pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned long long ticks = 0;
	char text[1024], state = '\0';
	const char *at;
	ssize_t n;

	if (pid <= 0 || fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything */
	/* fields 3 to 22: proc(5) */
	if (at)
		sscanf(at + 1,
		       " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %llu",
		       &state, &ticks);
	return state == 'Z' || state == 'X' ? 0 : ticks;
}

#define POLL_US 1000000u

uint64_t absent_take(struct user_domain *user, pid_t pid, uint64_t start_ticks)
{
	struct absent_app *absent;
	uint64_t id;

	list_for_each(absent, &user->absent, node) {
		if (absent->pid != pid || absent->start_ticks != start_ticks || !start_ticks)
			continue;
		id = absent->id;
		list_remove(&absent->node);
		free(absent);
		return id;
	}
	return 0;
}

/* One that is stopped, or busy, comes when it can; one that is dead never. */
void absent_check(struct loop_timer *timer)
{
	struct user_domain *user = container_of(timer, struct user_domain, look);
	struct absent_app *absent, *next;

	list_for_each_safe(absent, next, &user->absent, node) {
		uint64_t ticks = process_start_ticks(absent->pid);

		if (ticks && ticks == absent->start_ticks)
			continue;
		log_debug("process %d is gone", (int)absent->pid);
		list_remove(&absent->node);
		user_close_buffers(user, absent->id);
		free(absent);
	}
	if (!list_empty(&user->absent))
		loop_timer_set(&user->look, POLL_US);
}

void absent_free(struct user_domain *user)
{
	struct absent_app *absent, *next;

	loop_timer_cancel(&user->look);
	list_for_each_safe(absent, next, &user->absent, node) {
		list_remove(&absent->node);
		free(absent);
	}
}

void absent_add(struct user_domain *user, const struct msg_state_app *msg)
{
	struct absent_app *absent;

	list_for_each(absent, &user->absent, node)
		if (absent->id == msg->id)
			return;
	absent = xalloc(sizeof(*absent));
	absent->id = msg->id;
	absent->pid = (pid_t)msg->pid;
	absent->start_ticks = msg->start_ticks;
	list_append(&user->absent, &absent->node);
	loop_timer_set(&user->look, POLL_US);
}

/* --- save -------------------------------------------------------------------------- */

/* An application without an entry has died: it will not reconnect. */
static void user_state_put_app(struct recording *rec, struct encoder *enc, uint64_t id)
{
	const struct user_domain *user = us_of(rec)->user;
	struct msg_state_app msg = { .id = id };
	const struct absent_app *absent;
	const struct user_app *app;

	list_for_each(app, &user->apps, node)
		if (app->app.id == id) {
			msg.pid = (uint32_t)app->app.pid;
			msg.start_ticks = app->start_ticks;
		}
	list_for_each(absent, &user->absent, node)
		if (absent->id == id) {
			msg.pid = (uint32_t)absent->pid;
			msg.start_ticks = absent->start_ticks;
		}
	msg_state_app_add(enc, &msg);
}

void user_save(struct domain_tracer *domain, const struct session *session,
	       struct state_space *space)
{
	struct recording *rec = recording_find(domain, session);

	if (rec)
		recording_save(rec, space, user_state_put_app);
}

void user_restore(struct domain_tracer *domain, struct session *session,
		  const struct clock_facts *clock, struct msg_state_session *msg)
{
	struct user_domain *user = user_of(domain);
	struct user_session *us = user_session_get(user, session, clock);
	struct list apps = msg->apps;
	struct msg_state_app app;

	us->generation = 1;
	us->restored_s = (uint64_t)time(NULL);
	recording_restore(&us->rec, msg);
	user_maps_restore(us);
	while (msg_state_app_next(&apps, &app))
		absent_add(user, &app);
}
