/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fired.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counts.h"
#include "link.h"
#include "ltt_fired.h"
#include "ltt_ring.h"
#include "message.h"
#include "proto/app.h"
#include "thread.h"
#include "tracer/base/env.h"
#include "tracer/base/sys.h"
#include "tracer/emit/trigger.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/context.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/ring.h"

/* A point that a trigger watches. */
struct watching {
	struct watching *next;
	uint32_t point, slot;
	enum trigger_role role;
	uint32_t round;
	uint32_t filter; /* with a reference */
	uint32_t generation;
	uint64_t threshold, program;
};

/* A mapping is replaced, not removed, as a thread that is late may write to it; and used again for
 * memory that comes later. */
struct area {
	struct area *next;
	bool used;
	unsigned int link;
	uint64_t id; /* the daemon's number of it */
	uint32_t round;
	uint64_t program;
	uint32_t clock;
	dev_t dev;
	ino_t ino;
	struct ltt_fired *fired;
	struct watching *watchings;
	struct pairing *pairs[LTT_FIRED_SLOTS]; /* by slot; NULL: none */
};

static struct area *areas;

static struct area *area_find(unsigned int link, uint64_t id)
{
	struct area *area = areas;

	while (area && (!area->used || area->link != link || area->id != id))
		area = area->next;
	return area;
}

/* --- points ----------------------------------------------------------------------- */

static void unwatch(struct area *area, struct watching **at)
{
	struct watching *w = *at;

	site_unwatch(w->point, area->fired, w->slot, w->role);
	admit_unref(w->filter);
	*at = w->next;
	free(w);
	agent_counts_unhooked();
}

static bool has_slot(const struct area *area, uint32_t slot)
{
	const struct watching *w = area->watchings;

	while (w && w->slot != slot)
		w = w->next;
	return w;
}

static void release_pairs(struct area *area)
{
	for (uint32_t slot = 0; slot < LTT_FIRED_SLOTS; slot++) {
		if (!area->pairs[slot] || has_slot(area, slot))
			continue;
		pairing_release(area->pairs[slot]);
		area->pairs[slot] = NULL;
	}
}

/* Of the slot, or of all that were not confirmed in the round. */
static void unwatch_some(struct area *area, uint32_t slot, uint32_t round)
{
	struct watching **at = &area->watchings;

	while (*at)
		if (slot < LTT_FIRED_SLOTS ? (*at)->slot == slot : (*at)->round != round)
			unwatch(area, at);
		else
			at = &(*at)->next;
	release_pairs(area);
}

/* Those of libraries that were unloaded. */
static void forget_gone(struct area *area)
{
	struct watching **at = &area->watchings;

	while (*at)
		if (site_is_known((*at)->point))
			at = &(*at)->next;
		else
			unwatch(area, at);
}

static struct watching *watching_find(const struct area *area, const struct msg_app_triggering *m)
{
	struct watching *w = area->watchings;

	while (w && (w->point != m->point || w->slot != m->slot || w->role != m->role))
		w = w->next;
	return w;
}

static void spec_add_capture(struct trigger_spec *spec, const struct msg_app_capture *m)
{
	uint32_t at = spec->nr_captures++;

	spec->captures[at] = m->field;
	spec->capture_kinds[at] = m->kind;
	spec->capture_numbers[at] = m->number;
}

static int spec_make(struct area *area, const struct msg_app_triggering *m, uint32_t filter,
		     uint32_t contexts, struct trigger_spec *ret)
{
	struct msg_app_capture capture;
	struct list captures = m->captures;

	*ret = (struct trigger_spec){
		.fired = area->fired,
		.program = area->program,
		.slot = m->slot,
		.generation = m->generation,
		.role = m->role,
		.clock = area->clock,
		.threshold = m->threshold,
		.key = m->has_key ? m->key : TRIGGER_BY_THREAD,
		.preparation = preparation(filter, 0),
		.contexts = contexts,
	};
	if (m->slot >= LTT_FIRED_SLOTS || m->role >= TRIGGER_NR_ROLES)
		return -EINVAL;
	while (ret->nr_captures < LTT_FIRED_VALUES && msg_app_capture_next(&captures, &capture))
		spec_add_capture(ret, &capture);
	if (m->role != TRIGGER_BEGIN && m->role != TRIGGER_END)
		return 0;
	if (!area->pairs[m->slot])
		area->pairs[m->slot] = pairing_new();
	ret->pairs = area->pairs[m->slot];
	return ret->pairs ? 0 : -ENOMEM;
}

static bool is_watched_so(const struct watching *w, const struct trigger_spec *spec)
{
	return w->filter == preparation_filter(spec->preparation) &&
	       w->generation == spec->generation && w->threshold == spec->threshold &&
	       w->program == spec->program;
}

static int watch(struct area *area, uint32_t round, const struct msg_app_triggering *m,
		 uint32_t filter, uint32_t contexts)
{
	struct watching *known = watching_find(area, m), *w = known;
	struct trigger_spec spec;
	int err = spec_make(area, m, filter, contexts, &spec);

	if (err || (known && is_watched_so(known, &spec))) {
		if (!err)
			known->round = round;
		return err;
	}
	if (!known)
		w = calloc(1, sizeof(*w));
	err = w ? site_watch(m->point, &spec) : -ENOMEM;
	if (err) {
		if (!known)
			free(w);
		return err;
	}
	admit_ref(filter);
	if (known) {
		admit_unref(known->filter);
		agent_counts_unhooked();
	}
	*w = (struct watching){
		.next = known ? known->next : area->watchings,
		.point = m->point,
		.slot = m->slot,
		.role = spec.role,
		.round = round,
		.filter = filter,
		.generation = spec.generation,
		.threshold = spec.threshold,
		.program = spec.program,
	};
	if (!known)
		area->watchings = w;
	return 0;
}

/* --- the memory ------------------------------------------------------------------- */

static void area_drop(struct area *area)
{
	unwatch_some(area, LTT_FIRED_SLOTS, 0); /* no round is 0 */
	(void)mmap(area->fired, sizeof(*area->fired), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	area->used = false;
}

static struct area *area_new(void)
{
	struct area *area = areas;

	while (area && area->used)
		area = area->next;
	if (area)
		return area;
	area = calloc(1, sizeof(*area));
	if (!area)
		return NULL;
	area->fired = mmap(NULL, sizeof(*area->fired), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area->fired == MAP_FAILED) {
		free(area);
		return NULL;
	}
	area->next = areas;
	areas = area;
	return area;
}

static int area_add(unsigned int link, uint32_t round, const struct msg_app_fired *m)
{
	struct area *area = area_find(link, m->fired);
	struct stat st;

	if (sys_fstat(m->memory, &st) < 0)
		return -errno;
	if (area && (area->dev != st.st_dev || area->ino != st.st_ino || area->clock != m->clock)) {
		area_drop(area);
		area = NULL;
	}
	if (area) {
		area->round = round;
		area->program = m->program;
		return 0;
	}
	if (st.st_size < (off_t)sizeof(*area->fired) ||
	    (m->clock != LTT_CLOCK_CYCLES && m->clock != LTT_CLOCK_MONOTONIC))
		return -EINVAL;
	area = area_new();
	if (!area)
		return -ENOMEM;
	if (mmap(area->fired, sizeof(*area->fired), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 m->memory, 0) == MAP_FAILED)
		return -errno;
	ring_init();
	ring_clock_find_namespace();
	area->used = true;
	area->link = link;
	area->id = m->fired;
	area->round = round;
	area->program = m->program;
	area->clock = m->clock;
	area->dev = st.st_dev;
	area->ino = st.st_ino;
	return 0;
}

void agent_fired_sweep(unsigned int link, uint32_t round)
{
	for (struct area *area = areas; area; area = area->next) {
		if (!area->used || area->link != link)
			continue;
		if (area->round != round)
			area_drop(area);
		else
			unwatch_some(area, LTT_FIRED_SLOTS, round);
	}
}

void agent_fired_forget(unsigned int link)
{
	agent_fired_sweep(link, 0); /* no round is 0 */
}

/* --- messages --------------------------------------------------------------------- */

static int on_fired(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_fired m;
	int err;

	if (msg_app_fired_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	err = area_add(link->index, link->round, &m);
	agent_unlock();
	sys_close(m.memory);
	agent_counts_reap();
	if (err)
		tracer_debug("triggers can't use memory %llu: %s", (unsigned long long)m.fired,
			     strerror(-err));
	return 0;
}

static int on_trigger(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_triggering triggering;
	struct msg_app_trigger m;
	struct area *area;
	uint32_t filter, contexts = 0;

	if (msg_app_trigger_decode(dec, &m) < 0)
		return -EBADMSG;
	if (!admit_filter(m.filter.data, m.filter.len, m.filter_contexts, &filter)) {
		tracer_debug("can't use a filter: it is invalid, or there is no memory");
		return 0;
	}
	agent_lock();
	if (!context_set(m.capture_contexts, &contexts))
		tracer_debug("contexts '%s' are not captured: one is unknown", m.capture_contexts);
	area = area_find(link->index, m.fired);
	if (area)
		forget_gone(area);
	while (area && msg_app_triggering_next(&m.points, &triggering)) {
		int err = watch(area, link->round, &triggering, filter, contexts);

		if (err < 0)
			tracer_debug("point %u is not watched by a trigger: %s", triggering.point,
				     strerror(-err));
	}
	admit_unref(filter);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

static int on_untrigger(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_untrigger m;
	struct area *area;

	if (msg_app_untrigger_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	area = area_find(link->index, m.fired);
	if (area && m.slot < LTT_FIRED_SLOTS)
		unwatch_some(area, m.slot, 0);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

static int on_fired_drop(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_fired_drop m;
	struct area *area;

	if (msg_app_fired_drop_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	area = area_find(link->index, m.fired);
	if (area)
		area_drop(area);
	agent_unlock();
	agent_counts_reap();
	return 0;
}

int agent_fired_message(struct agent_link *link, uint16_t type, struct decoder *dec)
{
	switch (type) {
	case MSG_app_fired:
		return on_fired(link, dec);
	case MSG_app_trigger:
		return on_trigger(link, dec);
	case MSG_app_untrigger:
		return on_untrigger(link, dec);
	case MSG_app_fired_drop:
		return on_fired_drop(link, dec);
	default: /* a newer daemon's */
		return 0;
	}
}
