/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait.c - waiting until a change is in force in every application that
 * answers. Changes of a session are numbered; each link has the last change that its application
 * has confirmed. A wait takes at most one second; and a stop, which is in force already and only
 * collects events in flight, does not wait for applications that were late before.
 */
#include "wait.h"

#include "app.h"
#include "base/mem.h"
#include "link.h"
#include "session.h"

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
	wait->metadata = !stop && traces_busy(&us->rec) && session_is_writable(us->rec.session);
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
	return 0;
}
