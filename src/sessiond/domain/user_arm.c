/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_arm.c - links of applications to sessions: what was said of them has
 * changed, so a plan is made (user_plan.c), compared with what the application
 * was told, and the difference sent.
 */
#include <string.h>

#include "base/mem.h"
#include "user_priv.h"

/* Armings in one message: each takes 20 bytes. */
#define ARMINGS_PER_MESSAGE 2000u

/* --- the links themselves ---------------------------------------------------- */

struct user_link *link_new(struct user_session *us, struct user_app *app)
{
	struct user_link *link = xalloc(sizeof(*link));

	link->us = us;
	link->app = app;
	link->confirmed = us->generation; /* waits that there are don't wait for it */
	list_init(&link->dirty);
	list_append(&app->links, &link->in_app);
	list_append(&us->links, &link->in_session);
	return link;
}

void link_free(struct user_link *link)
{
	link_confirm(link, UINT64_MAX);
	list_remove(&link->dirty);
	list_remove(&link->in_app);
	list_remove(&link->in_session);
	free(link->arms);
	free(link->todo);
	free(link->told);
	link_counts_free(link);
	free(link);
}

static void mark_dirty(struct user_link *link)
{
	struct user_domain *user = link->us->user;

	link->generation = link->us->generation;
	if (list_empty(&link->dirty))
		list_append(&user->dirty, &link->dirty);
	loop_defer(user->recorder->config.loop, &user->refresh);
}

void link_touch(struct user_link *link)
{
	link->all = true;
	mark_dirty(link);
}

void link_touch_point(struct user_link *link, uint32_t point)
{
	if (!link->all) {
		if (link->nr_todo == link->cap_todo) {
			link->cap_todo = MAX(2 * link->cap_todo, (size_t)16);
			link->todo = xrealloc(link->todo, link->cap_todo * sizeof(*link->todo));
		}
		link->todo[link->nr_todo++] = point;
	}
	mark_dirty(link);
}

void links_touch(struct user_session *us)
{
	struct user_link *link;

	list_for_each(link, &us->links, in_session)
		link_touch(link);
}

void links_touch_pending(struct user_session *us)
{
	struct user_link *link;

	list_for_each(link, &us->links, in_session)
		if (link->nr_todo)
			mark_dirty(link);
}

/* --- telling the difference -------------------------------------------------- */

static void begin(struct encoder *enc, uint16_t type)
{
	static uint8_t buf[MSG_MAX_BYTES]; /* one loop: one message at a time */

	encoder_init(enc, buf, sizeof(buf));
	encode_header(enc, type, 0, 0);
}

static void tell_buffer(struct user_link *link, const struct ring *ring)
{
	const struct msg_app_buffer msg = {
		.ring = ring->id,
		.session = link->us->rec.session->id,
		.data = ring->data,
		.ctl = ring->ctl,
		.doorbell = ring->doorbell,
		.exclusive = ring->exclusive,
		.channel = ring->lane->channel->name,
		.own = ring->app != 0,
	};
	struct encoder enc;

	begin(&enc, MSG_app_buffer);
	msg_app_buffer_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

static void need_buffer(struct user_link *link, struct ring *ring)
{
	for (uint32_t i = 0; i < link->nr_told; i++)
		if (link->told[i] == ring)
			return;
	tell_buffer(link, ring);
	link->told = xrealloc(link->told, (link->nr_told + 1) * sizeof(struct ring *));
	link->told[link->nr_told++] = ring;
}

/* Armings gathered for one message. */
struct outbox {
	struct user_link *link;
	uint16_t type; /* MSG_app_arm or MSG_app_disarm: the same fields */
	uint8_t *buf;
	struct encoder list;
};

#define OUTBOX_BYTES (ARMINGS_PER_MESSAGE * 20u + 64u)

static void outbox_flush(struct outbox *box)
{
	struct msg_app_arm msg = { encoder_list(&box->list) };
	struct encoder enc;

	if (!box->list.nr_records)
		return;
	begin(&enc, box->type);
	msg_app_arm_encode(&enc, &msg);
	peer_send(box->link->app->peer, &enc);
	encoder_init(&box->list, box->buf, OUTBOX_BYTES);
}

static void outbox_add(struct outbox *box, const struct arm *arm)
{
	struct msg_app_arming arming = { arm->point, arm->ring->id, arm->event };

	msg_app_arming_add(&box->list, &arming);
	box->link->changed = true;
	if (box->list.nr_records == ARMINGS_PER_MESSAGE)
		outbox_flush(box);
}

/* Call @fn for what is in @a but not in @b; both are sorted. */
static void each_missing(const struct arm *a, size_t nr_a, const struct arm *b, size_t nr_b,
			 void (*fn)(struct outbox *, const struct arm *), struct outbox *box)
{
	size_t j = 0;

	for (size_t i = 0; i < nr_a; i++) {
		while (j < nr_b && arm_compare(&b[j], &a[i]) < 0)
			j++;
		if (j == nr_b || arm_compare(&b[j], &a[i]) != 0)
			fn(box, &a[i]);
	}
}

static void arm_one(struct outbox *box, const struct arm *arm)
{
	need_buffer(box->link, arm->ring);
	outbox_add(box, arm);
}

/* New armings first: then an arming that replaces another leaves no gap. */
static void tell(struct user_link *link, const struct plan *plan)
{
	AUTO_FREE uint8_t *buf = xalloc(OUTBOX_BYTES);
	struct outbox box = { .link = link, .type = MSG_app_arm, .buf = buf };

	encoder_init(&box.list, buf, OUTBOX_BYTES);
	each_missing(plan->arms, plan->nr, link->arms, link->nr_arms, arm_one, &box);
	outbox_flush(&box);
	box.type = MSG_app_disarm;
	each_missing(link->arms, link->nr_arms, plan->arms, plan->nr, outbox_add, &box);
	outbox_flush(&box);
}

static void tell_drop(struct user_link *link, const struct ring *ring)
{
	struct msg_app_buffer_drop msg = { ring->id };
	struct encoder enc;

	begin(&enc, MSG_app_buffer_drop);
	msg_app_buffer_drop_encode(&enc, &msg);
	peer_send(link->app->peer, &enc);
}

void link_drop_buffers(struct user_link *link, bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < link->nr_told; i++) {
		struct ring *ring = link->told[i];

		if (all || ring->exclusive != link->app->app.exclusive)
			tell_drop(link, ring);
		else
			link->told[kept++] = ring;
	}
	link->nr_told = kept;
}

void link_refresh(struct user_link *link)
{
	struct plan plan = { .link = link };

	list_remove(&link->dirty);
	if (link->app->wanted)
		return; /* it is touched when the application has answered */
	plan_make(&plan);
	if (plan.nr || link->nr_arms)
		tell(link, &plan);
	link_count(link);
	free(link->arms);
	link->arms = plan.arms;
	link->nr_arms = plan.nr;
	free(link->todo);
	link->todo = plan.todo;
	link->nr_todo = plan.nr_todo;
	link->cap_todo = plan.cap_todo;
	link->all = false;
	if (link->nr_todo)
		return;
	link_drop_buffers(link, false);
	link_settle(link);
}

void link_drop_point(struct user_link *link, uint32_t point)
{
	size_t kept = 0;

	for (size_t i = 0; i < link->nr_arms; i++)
		if (link->arms[i].point != point)
			link->arms[kept++] = link->arms[i];
	link->nr_arms = kept;
}
