/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "doorbell.h"
#include "tracer/base/env.h"
#include "kept.h"
#include "link.h"
#include "thread.h"
#include "traces.h"
#include "proto/app.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/populate.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/ring.h"
#include "tracer/site/site.h"

/* Without a daemon, which starts consumers, a full ring soon has no reader. The next daemon comes
 * within a second, if one does. */
#define WAIT_MS 5000u

/* A point that is recorded into a buffer. */
struct arming {
	uint32_t point;
	uint32_t event;
	uint32_t round;
	uint32_t preparation; /* with a reference to its filter */
};

struct buffer {
	struct buffer *next;
	struct ring_set *set;
	struct agent_doorbell *doorbell;
	struct agent_doorbell *old_doorbell; /* until no thread is about to use it */
	struct agent_kept kept;
	struct arming *armings; /* sorted by point */
	size_t nr_armings, cap_armings;
	uint64_t ring;	     /* the daemon's number of it */
	uint64_t session_id; /* the daemon's number of the session */
	uint32_t session;    /* this process's number of the session */
	uint32_t round;
	unsigned int link;
	bool exclusive;
	bool own;
	bool expected; /* it is shown before its first point is armed ... */
	bool filtered; /* ... with a filter */
	const char *session_name; /* behind the channel's */
	char channel[];
};

static struct buffer *buffers; /* in use */
static struct buffer *dropped; /* to be unmapped when no thread uses them any more */
static bool unhooked;	       /* something was disarmed since the last grace period */

static void buffer_free(struct buffer *b)
{
	if (!b)
		return;
	ring_set_unmap(b->set);
	agent_doorbell_unref(b->doorbell);
	agent_doorbell_unref(b->old_doorbell);
	agent_kept_drop(&b->kept);
	free(b->armings);
	free(b);
}

static struct buffer *agent_buffers_find(unsigned int link, uint64_t ring)
{
	struct buffer *b = buffers;

	while (b && (b->link != link || b->ring != ring))
		b = b->next;
	return b;
}

/* --- armings of a buffer ----------------------------------------------------- */

/* Index of the point in the sorted array, or the place to insert it. */
static size_t arming_index(const struct buffer *b, uint32_t point)
{
	size_t low = 0, high = b->nr_armings;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->armings[middle].point < point)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct arming *arming_find(const struct buffer *b, uint32_t point)
{
	size_t at = arming_index(b, point);

	return at < b->nr_armings && b->armings[at].point == point ? &b->armings[at] : NULL;
}

static int arming_reserve(struct buffer *b)
{
	size_t cap = b->cap_armings ? b->cap_armings * 2 : 16;
	struct arming *bigger;

	if (b->nr_armings < b->cap_armings)
		return 0;
	bigger = realloc(b->armings, cap * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	b->armings = bigger;
	b->cap_armings = cap;
	return 0;
}

/* There is room. */
static void arming_insert(struct buffer *b, struct arming arming)
{
	size_t at = arming_index(b, arming.point);

	memmove(&b->armings[at + 1], &b->armings[at], (b->nr_armings - at) * sizeof(arming));
	b->armings[at] = arming;
	b->nr_armings++;
}

static void arming_remove(struct buffer *b, struct arming *arming)
{
	size_t at = (size_t)(arming - b->armings);

	admit_unref(preparation_filter(arming->preparation));
	b->nr_armings--;
	memmove(arming, arming + 1, (b->nr_armings - at) * sizeof(*arming));
}

/* --- buffers ------------------------------------------------------------------ */

static uint32_t session_number(unsigned int link, uint64_t session)
{
	static uint32_t last;
	uint32_t known = agent_buffers_session(link, session);

	if (known)
		return known;
	last += last + 1 == 0 ? 2 : 1; /* 0 means none */
	return last;
}

static struct buffer *buffer_new(unsigned int link, const struct msg_app_buffer *m)
{
	size_t len = strlen(m->channel) + 1, name_len = strlen(m->session_name) + 1;
	struct buffer *b = calloc(1, sizeof(*b) + len + name_len);

	if (!b)
		return NULL;
	b->link = link;
	b->ring = m->ring;
	b->session_id = m->session;
	b->session = session_number(link, m->session);
	b->exclusive = m->exclusive;
	b->kept = AGENT_KEPT_NONE;
	memcpy(b->channel, m->channel, len);
	b->session_name = memcpy(b->channel + len, m->session_name, name_len);
	return b;
}

/* --- the traces that the program is shown ---------------------------------------------------- */

static bool has_filter(const struct buffer *b)
{
	for (size_t i = 0; i < b->nr_armings; i++)
		if (preparation_filter(b->armings[i].preparation))
			return true;
	return b->expected && b->filtered;
}

void agent_buffer_expect(unsigned int link, const struct msg_app_arming *m, uint32_t preparation)
{
	struct buffer *b = agent_buffers_find(link, m->ring);

	if (!b)
		return;
	b->filtered = (b->expected && b->filtered) || preparation_filter(preparation);
	b->expected = true;
}

void agent_buffers_show(void)
{
	struct agent_trace *traces;
	uint32_t nr = 0;

	for (const struct buffer *b = buffers; b; b = b->next)
		nr++;
	traces = nr ? malloc(nr * sizeof(*traces)) : NULL;
	nr = 0;
	for (const struct buffer *b = buffers; traces && b; b = b->next)
		if (b->nr_armings || b->expected)
			traces[nr++] = (struct agent_trace){
				.set = b->set,
				.session = b->session_name,
				.channel = b->channel,
				.session_id = b->session_id,
				.ring = b->ring,
				.events = (uint32_t)b->nr_armings,
				.filtered = has_filter(b),
				.is_private = b->own || b->exclusive,
			};
	unhooked |= agent_traces_replace(traces, nr);
	free(traces);
}

/* --- confirmed and new ones ---------------------------------------------------------- */

/* The ring set may now belong to a consumer that sleeps on another word. agent_buffers_reap() waits
 * for threads that have read the old word, then wakes the new one. */
static void move_doorbell(struct buffer *b, int fd)
{
	struct agent_doorbell *doorbell = agent_doorbell_ref(fd);

	if (!doorbell || doorbell == b->doorbell || b->old_doorbell) {
		agent_doorbell_unref(doorbell);
		return;
	}
	b->old_doorbell = b->doorbell;
	b->doorbell = doorbell;
	ring_set_doorbell(b->set, agent_doorbell_word(doorbell));
	unhooked = true;
}

static void set_own(struct buffer *b, bool own)
{
	b->own = own;
	if (own)
		agent_expect_children();
}

static void confirm(struct buffer *b, uint32_t round, struct msg_app_buffer *m)
{
	b->round = round;
	ring_set_wait_until(b->set, 0);
	set_own(b, m->own);
	move_doorbell(b, m->doorbell);
	agent_keep(&b->kept, m); /* after a fork, for example */
}

int agent_buffer_add(unsigned int link, uint32_t round, struct msg_app_buffer *m)
{
	struct buffer *b = agent_buffers_find(link, m->ring);
	int err;

	if (b) {
		confirm(b, round, m);
		return 0;
	}
	if (m->data < 0 || m->ctl < 0 || m->doorbell < 0)
		return -EMFILE; /* the kernel drops descriptors of a message that do not fit */
	b = buffer_new(link, m);
	if (!b)
		return -ENOMEM;
	b->round = round;
	errno = EINVAL;
	b->doorbell = agent_doorbell_ref(m->doorbell);
	err = b->doorbell ? ring_set_map(m->data, m->ctl, agent_doorbell_word(b->doorbell),
					 m->exclusive, &b->set) :
			    -errno;
	if (err) {
		buffer_free(b);
		return err;
	}
	agent_keep(&b->kept, m);
	set_own(b, m->own);
	b->next = buffers;
	buffers = b;
	return 0;
}

void agent_buffer_offer(unsigned int link, struct msg_app_buffer_offer *m)
{
	const struct buffer *b = agent_buffers_find(link, m->ring);

	m->data = b ? b->kept.data : -1;
	m->ctl = b ? b->kept.ctl : -1;
}

/*
 * The buffer that a point is recorded into and that @b takes over from: a process has one for each
 * channel of a session, except while a new one replaces the old one (a child gets its own; rseq was
 * disabled).
 */
static struct buffer *predecessor(const struct buffer *b, uint32_t point)
{
	for (struct buffer *old = buffers; old; old = old->next)
		if (old != b && old->session == b->session && arming_find(old, point) &&
		    strcmp(old->channel, b->channel) == 0)
			return old;
	return NULL;
}

void agent_buffer_arm(unsigned int link, uint32_t round, const struct msg_app_arming *m,
		      uint32_t preparation)
{
	struct buffer *b = agent_buffers_find(link, m->ring);
	struct arming *known = b ? arming_find(b, m->point) : NULL;
	struct buffer *old;
	int err;

	if (!b)
		return;
	b->expected = false;
	if (known && known->event == m->event && known->preparation == preparation) {
		known->round = round;
		return;
	}
	old = predecessor(b, m->point);
	err = known ? 0 : arming_reserve(b);
	if (!err)
		err = site_arm(m->point, b->set, b->session, m->event, preparation,
			       old ? old->set : NULL);
	if (err < 0) {
		tracer_debug("point %u is not armed: %s", m->point, strerror(-err));
		return;
	}
	admit_ref(preparation_filter(preparation));
	if (known)
		arming_remove(b, known);
	arming_insert(b, (struct arming){ m->point, m->event, round, preparation });
	if (old)
		arming_remove(old, arming_find(old, m->point));
	unhooked = unhooked || old || known;
}

void agent_buffer_disarm(unsigned int link, const struct msg_app_arming *m)
{
	struct buffer *b = agent_buffers_find(link, m->ring);
	struct arming *arming = b ? arming_find(b, m->point) : NULL;

	if (!arming)
		return;
	site_disarm(m->point, b->set);
	arming_remove(b, arming);
	unhooked = true;
}

/* @at points to the link of a buffer in the list. */
static void agent_buffers_drop(struct buffer **at)
{
	struct buffer *b = *at;

	site_disarm_all(b->set);
	while (b->nr_armings)
		arming_remove(b, &b->armings[b->nr_armings - 1]);
	*at = b->next;
	b->next = dropped;
	dropped = b;
	unhooked = true;
}

void agent_buffer_drop(unsigned int link, uint64_t ring)
{
	for (struct buffer **at = &buffers; *at; at = &(*at)->next) {
		if ((*at)->link == link && (*at)->ring == ring) {
			agent_buffers_drop(at);
			agent_buffers_show();
			return;
		}
	}
}

static void sweep_armings(struct buffer *b, uint32_t round)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->nr_armings; i++) {
		if (b->armings[i].round == round) {
			b->armings[kept++] = b->armings[i];
			continue;
		}
		site_disarm(b->armings[i].point, b->set);
		admit_unref(preparation_filter(b->armings[i].preparation));
		unhooked = true;
	}
	b->nr_armings = kept;
}

void agent_buffers_sweep(unsigned int link, uint32_t round)
{
	struct buffer **at = &buffers;

	while (*at) {
		struct buffer *b = *at;

		if (b->link == link && b->round != round) {
			agent_buffers_drop(at);
			continue;
		}
		if (b->link == link)
			sweep_armings(b, round);
		at = &b->next;
	}
	agent_buffers_show();
}

void agent_buffers_forget(unsigned int link)
{
	agent_buffers_sweep(link, 0); /* no round is 0 */
}

void agent_buffers_leave(unsigned int link)
{
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->link == link)
			ring_set_wait_until(b->set, ((uint64_t)agent_now_ms() + WAIT_MS) * 1000000);
}

static void ring_new_doorbells(void)
{
	for (struct buffer *b = buffers; b; b = b->next) {
		if (!b->old_doorbell)
			continue;
		ring_set_ring(b->set);
		agent_doorbell_unref(b->old_doorbell);
		b->old_doorbell = NULL;
	}
}

void agent_buffers_reap(void)
{
	struct agent_trace_list *traces;
	struct admission *filters;
	struct buffer *b;

	if (!unhooked)
		return;
	unhooked = false;
	filters = admit_retired();
	traces = agent_traces_retired();
	if (!reader_synchronize_soon()) {
		admit_retire(filters);
		agent_traces_retire(traces);
		unhooked = true;
		return;
	}
	agent_lock();
	admit_free(filters);
	agent_traces_free(traces);
	while ((b = dropped)) {
		dropped = b->next;
		buffer_free(b);
	}
	ring_new_doorbells();
	agent_unlock();
}

void agent_buffers_populate(void)
{
	if (!populate_is_requested())
		return;
	for (struct buffer *b = buffers; b; b = b->next)
		populate_set(b->set);
}

uint32_t agent_buffers_session(unsigned int link, uint64_t session)
{
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->link == link && b->session_id == session)
			return b->session;
	return 0;
}

bool agent_buffers_any(unsigned int link)
{
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->link == link)
			return true;
	return false;
}

bool agent_buffers_exclusive(void)
{
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->exclusive)
			return true;
	return false;
}

bool agent_buffers_own(void)
{
	for (struct buffer *b = buffers; b; b = b->next)
		if (b->own)
			return true;
	return false;
}

void agent_buffers_disown(void)
{
	for (struct buffer *b = buffers; b; b = b->next) {
		if (!b->own)
			continue;
		ring_set_disown(b->set);
		site_stop_set(b->set);
	}
}

void agent_buffers_after_fork_child(void)
{
	unhooked = unhooked || dropped; /* the parent's helper may have been about to reap */
	for (struct buffer *b = buffers; b; b = b->next) {
		unhooked = unhooked || b->old_doorbell;
		if (b->exclusive)
			ring_set_disown(b->set);
		populate_after_fork_child(b->set);
	}
}
