/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.c - compares the wanted with the actual state of each event in each channel of a session,
 * and sends the difference to the module. An event is enabled only when its description is on
 * disk and its buffer is on.
 */
#include "walk.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "context.h"
#include "count.h"
#include "event.h"
#include "probe.h"
#include "session.h"
#include "trace/metadata.h"

#define SLICE_NS 4000000u /* of a walk, then the loop serves others */

/* --- one event -------------------------------------------------------------------- */

/** The subject of a slot: an event of the module's list, or a part of a probe. */
struct target {
	struct kernel_event *event;
	struct kernel_probe *probe; /* not NULL: no event */
	uint32_t part;
	struct event_filter *filter; /* NULL: none */
};

static struct shape *shape_of(struct kernel_session *ks, const struct target *target)
{
	return target->probe ? kernel_probe_shape(ks->kernel, target->probe, target->part) :
			       kernel_event_shape(ks->kernel, target->event);
}

static int kernel_walk_send_probe(struct kernel_session *ks, const struct ring *ring,
				  const struct target *target, uint32_t id,
				  const struct ltt_kmod_filter *filter)
{
	struct kernel_place place = kernel_place_of(target->probe->rule);
	struct ltt_kmod_description *description AUTO_FREE =
		kernel_probe_describe(shape_of(ks, target));
	struct kernel_probe_answer answer;
	struct err ignored = { 0 };
	int ret;

	if (target->probe->file.places)
		place.places = target->probe->file.places;
	place.filter = filter;
	place.description = description;
	ret = kernel_probe_send(ks->kernel->kmod, ring->module, id, &place, target->part, &answer,
				&ignored);
	if (ret == 0)
		memcpy(target->probe->module, answer.module, sizeof(answer.module));
	return ret;
}

static int kernel_walk_enable_event(struct kernel_session *ks, const struct ring *ring,
				    const struct target *target, uint32_t id, uint32_t flags)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg), .id = id, .flags = flags };
	struct ltt_kmod_filter filter;

	kernel_filter_fill(&filter, id, target->filter);
	if (target->probe)
		return kernel_walk_send_probe(ks, ring, target, id,
					      target->filter ? &filter : NULL);
	msg.filter = target->filter ? (uint64_t)(uintptr_t)&filter : 0;
	snprintf(msg.name, sizeof(msg.name), "%s", target->event->name);
	return kmod_call(ks->kernel->kmod, ring->module, LTT_KMOD_ENABLE, &msg);
}

static void disable_event(struct kernel_session *ks, const struct ring *ring, uint32_t id)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg), .id = id, .flags = LTT_KMOD_NOWAIT };

	(void)!kmod_call(ks->kernel->kmod, ring->module, LTT_KMOD_DISABLE, &msg);
}

/* A module without filters has none to remove. */
static int kernel_walk_refilter(struct kernel_session *ks, const struct ring *ring, uint32_t id,
				const struct event_filter *filter)
{
	struct ltt_kmod_filter msg;
	int err;

	kernel_filter_fill(&msg, id, filter);
	err = kmod_call(ks->kernel->kmod, ring->module, LTT_KMOD_FILTER, &msg);
	return err == -ENOTTY && !filter ? 0 : err;
}

static void kernel_walk_refuse(struct kernel_session *ks, struct slot *slot,
			       const struct target *target, int error)
{
	slot->state = SLOT_REFUSED;
	slot->error = (uint16_t)error;
	log_warn("session '%s': the kernel's event %s can't be recorded: %s", ks->rec.session->name,
		 target->probe ? target->probe->rule->pattern : target->event->name,
		 error ? strerror(error) :
			 "its fields can't be read (see the log of ltt-sessiond)");
}

/** The classes of a shape, one for each sampling and set of contexts; all but @id's are
 *  disabled. */
struct class_walk {
	struct kernel_session *ks;
	const struct ring *ring;
	struct shape *shape;
	uint32_t id;
};

static void kernel_walk_visit_class(const void *node, VISIT visit, void *data)
{
	const struct event_class *class = *(struct event_class *const *)node;
	const struct class_walk *walk = data;
	const char *body = shape_body(walk->shape, recording_form(&walk->ks->rec));

	if ((visit == postorder || visit == leaf) && class->id != walk->id &&
	    strcmp(class->shape->name, walk->shape->name) == 0 &&
	    strncmp(class->shape->body, body, strlen(body)) == 0)
		disable_event(walk->ks, walk->ring, class->id);
}

/* An earlier daemon may have enabled it, by the id of a restored class. @id: not of this one. */
static void disarm_unknown(struct kernel_session *ks, const struct ring *ring,
			   const struct target *target, uint32_t id)
{
	struct class_walk walk = { ks, ring, shape_of(ks, target), id };

	if (walk.shape)
		twalk_r(ring->trace_channel->classes.by_body, kernel_walk_visit_class, &walk);
}

/* Its id is another one where an earlier daemon, or another class, had enabled it. The module
 * exchanges an event of its list without a gap. Return: flags to enable it. */
static uint32_t kernel_walk_release(struct kernel_session *ks, const struct ring *ring,
				    const struct slot *slot, const struct target *target,
				    uint32_t id)
{
	if (!target->probe)
		return slot->state != SLOT_OFF && kmod_has(ks->kernel->kmod, LTT_KMOD_SAMPLES) ?
			       LTT_KMOD_INSTEAD :
			       0;
	if (slot->state == SLOT_ON && slot->id != id) {
		disable_event(ks, ring, slot->id);
		replaced_reset(&target->probe->file);
	} else if (slot->state == SLOT_UNKNOWN) {
		disarm_unknown(ks, ring, target, id);
	}
	if (target->probe->file.rewritten)
		disable_event(ks, ring, id);
	target->probe->file.rewritten = false;
	return 0;
}

/* Another file is there, and is searched for the place. */
static bool kernel_walk_follows(struct kernel_session *ks, const struct target *target, int err)
{
	return err == -ESTALE && target->probe && !target->probe->file.why &&
	       kmod_has(ks->kernel->kmod, LTT_KMOD_FILES);
}

/* One that was enabled by an earlier daemon has its id, too, and some filter. */
static void kernel_walk_enable(struct kernel_session *ks, struct kernel_channel *kc,
			       struct slot *slot, const struct target *target, uint32_t id)
{
	struct ring *ring = kernel_ring_find(ks, kc->channel);
	int err = kernel_contexts_send(ks->kernel->kmod, ring);
	uint32_t flags = err ? 0 : kernel_walk_release(ks, ring, slot, target, id);
	uint32_t before = slot->state == SLOT_ON ? slot->id : id;
	bool is_new, joins;

	if (!err)
		err = kernel_walk_enable_event(ks, ring, target, id, flags);
	is_new = err == 0 && slot->state != SLOT_ON;
	joins = err == 0 && slot->state == SLOT_UNKNOWN && target->probe;
	if (kernel_walk_follows(ks, target, err)) {
		slot->state = SLOT_UNKNOWN;
		kc->nr_waits++;
		replaced_touch(&ks->kernel->replaced);
		return;
	}
	slot->id = id;
	slot->state = SLOT_ON;
	slot->nr_contexts = (uint8_t)channel_nr_contexts(kc->channel);
	slot->filter = target->filter;
	if (err == -EEXIST || joins)
		err = kernel_walk_refilter(ks, ring, id, target->filter);
	if (err < 0 && before != id)
		disable_event(ks, ring, before);
	if (err < 0)
		kernel_walk_refuse(ks, slot, target, -err);
	if (is_new && target->probe && target->probe->rule->kind == RULE_USER &&
	    kmod_has(ks->kernel->kmod, LTT_KMOD_FILES))
		replaced_touch(&ks->kernel->replaced);
	if (is_new && target->event && target->event->flags & LTT_KMOD_STATE)
		kc->dump_due = true;
}

/* Each sampling and set of contexts has a class of its own: so each record shows its sampling, and
 * can be read, also during a change. */
static struct event_class *get_class(struct kernel_session *ks, struct trace_channel *trace_channel,
				     struct shape *bare, const struct event_filter *filter)
{
	enum metadata_form form = recording_form(&ks->rec);
	char *remark AUTO_FREE = event_filter_remark(form, filter);
	char *contexts AUTO_FREE = kernel_contexts_added(ks->kernel, trace_channel);
	char *text AUTO_FREE = xasprintf("%s%s", contexts ? contexts : "", remark);
	struct shape *shape = shape_extended(trace_channel->classes.shapes, bare, form, text);
	struct event_class *class = NULL;
	enum class_outcome outcome = class_get(&trace_channel->classes, shape, &class);

	shape_unref(trace_channel->classes.shapes, shape);
	if (outcome == CLASS_NEW)
		class->batch = trace_append(
			trace_channel->trace,
			event_filter_describe(trace_channel, class, filter));
	return outcome == CLASS_NEW || outcome == CLASS_KNOWN ? class : NULL;
}

/* One that is on with another class stays on until it can be enabled with this one. */
static void kernel_walk_arm(struct kernel_session *ks, struct kernel_channel *kc, struct slot *slot,
			    const struct target *target)
{
	struct shape *shape = shape_of(ks, target);
	struct ring *ring = kernel_ring_get(ks, kc->channel);
	struct trace *trace = ring->trace_channel->trace;
	struct event_class *class =
		shape ? get_class(ks, ring->trace_channel, shape, target->filter) : NULL;
	bool is_known = slot->state != SLOT_UNKNOWN;

	if (!class && slot->state == SLOT_ON)
		disable_event(ks, ring, slot->id);
	if (!class || (slot->state != SLOT_ON && is_known)) {
		slot->state = SLOT_OFF;
		slot->filter = target->filter;
	}
	if (!class)
		kernel_walk_refuse(ks, slot, target, 0);
	if (!class || ring->state == RING_FAILED || trace->state == TRACE_FAILED ||
	    class->batch == 0)
		return;
	if (ring_is_on(ring) && class->batch <= trace->saved) {
		kernel_walk_enable(ks, kc, slot, target, class->id);
		return;
	}
	if (slot->state == SLOT_OFF)
		slot->state = SLOT_WAITS;
	kc->nr_waits++;
}

static void kernel_walk_disarm(struct kernel_session *ks, struct kernel_channel *kc,
			       struct slot *slot, const struct target *target)
{
	const struct ring *ring = kernel_ring_find(ks, kc->channel);

	if (ring && ring->module >= 0 && slot->state == SLOT_ON)
		disable_event(ks, ring, slot->id);
	else if (ring && ring->module >= 0 && (slot->state != SLOT_REFUSED || target->probe))
		disarm_unknown(ks, ring, target, UINT32_MAX);
	slot->state = SLOT_OFF;
	slot->filter = NULL;
	if (target->probe)
		replaced_reset(&target->probe->file);
}

/* Each event is recorded by the earlier filter or by the new one. Where the module rejects the new
 * one, the event is off. */
static void kernel_walk_change_filter(struct kernel_session *ks, struct kernel_channel *kc,
				      struct slot *slot, const struct target *target)
{
	const struct ring *ring = kernel_ring_find(ks, kc->channel);
	int err = kernel_walk_refilter(ks, ring, slot->id, target->filter);

	slot->filter = target->filter;
	if (err == 0)
		return;
	disable_event(ks, ring, slot->id);
	kernel_walk_refuse(ks, slot, target, -err);
}

/* Whether both have one class. */
static bool kernel_walk_is_same_class(const struct event_filter *a, const struct event_filter *b)
{
	const char *label_a = a && a->label ? a->label : "";
	const char *label_b = b && b->label ? b->label : "";

	return strcmp(label_a, label_b) == 0;
}

static void kernel_walk_update_slot(struct kernel_session *ks, struct kernel_channel *kc,
				    struct slot *slot, const struct target *target, bool wanted)
{
	bool refiltered = wanted && slot->filter != target->filter;
	bool is_on = slot->state == SLOT_ON;
	bool lacks = is_on && slot->nr_contexts != channel_nr_contexts(kc->channel);

	if (refiltered && is_on && !lacks &&
	    kernel_walk_is_same_class(slot->filter, target->filter))
		kernel_walk_change_filter(ks, kc, slot, target);
	else if (wanted && (refiltered || lacks || (!is_on && slot->state != SLOT_REFUSED)))
		kernel_walk_arm(ks, kc, slot, target);
	else if (!wanted && slot->state != SLOT_OFF)
		kernel_walk_disarm(ks, kc, slot, target);
}

/* Return: whether an event can be recorded; sets @target->filter. @expressions: may be NULL. */
static bool kernel_walk_filter(struct kernel_session *ks, struct target *target,
			       const char *expressions)
{
	struct shape *shape = expressions ? shape_of(ks, target) : NULL;

	target->filter = shape ? event_filter_get(&ks->filters, shape, expressions) : NULL;
	return !target->filter || !target->filter->never;
}

static void step_event(struct kernel_session *ks, struct kernel_channel *kc, uint32_t nr)
{
	struct target target = { .event = &ks->kernel->events[nr] };
	bool wanted = ks->rec.recording && kernel_wants(kc->channel, target.event);
	char *expressions AUTO_FREE =
		wanted ? kernel_filter_of(kc->channel, target.event, ks->rec.session->starts) :
			 NULL;

	wanted = wanted && kernel_walk_filter(ks, &target, expressions);
	kernel_walk_update_slot(ks, kc, &kc->slots[nr], &target, wanted);
}

/* Those that are not wanted go first: another one may have the same name, and so the same
 * class and id, instead. That one's event stays, where a daemon before us enabled it. */
static void step_probe(struct kernel_session *ks, struct kernel_channel *kc,
		       struct kernel_probe *probe, bool arming)
{
	const struct rule *rule = probe->rule;
	bool wanted = ks->rec.recording && kc->channel->enabled && rule->enabled;
	char *expressions AUTO_FREE = channel_filter_of_rule(rule, ks->rec.session->starts);

	for (uint32_t i = 0; i < kernel_probe_parts(rule->kind) && wanted == arming; i++) {
		struct target target = { .probe = probe, .part = i };
		struct slot *slot = &probe->slots[i];
		bool holds = !wanted || kernel_walk_filter(ks, &target, expressions);

		if (!wanted && (slot->state == SLOT_UNKNOWN || slot->state == SLOT_REFUSED) &&
		    kernel_probe_shared(ks->kernel, kc, probe, i))
			slot->state = SLOT_OFF;
		kernel_walk_update_slot(ks, kc, slot, &target, wanted && holds);
	}
}

/* Events, removed probes, new probes, counters. */
static uint32_t nr_steps(const struct kernel_channel *kc)
{
	return kc->nr_slots + 2 * kc->nr_probes + kc->nr_tallies * kc->nr_slots;
}

static void kernel_walk_step(struct kernel_session *ks, struct kernel_channel *kc, uint32_t nr)
{
	uint32_t probe = nr - kc->nr_slots, stat = probe - 2 * kc->nr_probes;

	if (nr < kc->nr_slots)
		step_event(ks, kc, nr);
	else if (probe >= 2 * kc->nr_probes)
		kernel_stat_step(ks, kc, kc->tallies[stat / kc->nr_slots], stat % kc->nr_slots);
	else
		step_probe(ks, kc, kc->probes[probe % kc->nr_probes], probe >= kc->nr_probes);
}

/* --- all of them ------------------------------------------------------------------- */

static struct kernel_channel *find_channel(struct kernel_session *ks, const struct channel *channel)
{
	struct kernel_channel *kc;

	list_for_each(kc, &ks->channels, node)
		if (kc->channel == channel)
			return kc;
	return NULL;
}

/* The recorded events of an existing buffer are unknown. */
static void add_channel(struct kernel_session *ks, struct channel *channel)
{
	struct kernel_channel *kc = xalloc(sizeof(*kc));
	bool taken_over = kernel_ring_find(ks, channel);

	kc->channel = channel;
	kc->nr_slots = ks->kernel->nr_events;
	kc->slots = xalloc(((size_t)kc->nr_slots + 1) * sizeof(*kc->slots));
	for (uint32_t i = 0; i < kc->nr_slots; i++)
		kc->slots[i].state = taken_over ? SLOT_UNKNOWN : SLOT_OFF;
	kernel_probes_add(kc, taken_over ? SLOT_UNKNOWN : SLOT_OFF);
	kernel_tallies_add(kc);
	list_append(&ks->channels, &kc->node);
}

void kernel_channels_free(struct kernel_session *ks)
{
	struct kernel_channel *kc, *next;

	loop_timer_cancel(&ks->walk);
	list_for_each_safe(kc, next, &ks->channels, node) {
		list_remove(&kc->node);
		kernel_probes_free(ks->kernel, kc);
		kernel_tallies_free(ks, kc);
		free(kc->slots);
		free(kc);
	}
}

static bool has_kernel_channel(const struct session *session)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (channel->domain == DOMAIN_KERNEL)
			return true;
	return false;
}

/* Events of modules that were loaded since; none is enabled. */
static void add_slots(struct kernel_session *ks, struct kernel_channel *kc)
{
	uint32_t nr = ks->kernel->nr_events, before = kc->nr_slots;

	if (nr <= before)
		return;
	kc->slots = xrealloc(kc->slots, nr * sizeof(*kc->slots));
	while (kc->nr_slots < nr)
		kc->slots[kc->nr_slots++] = (struct slot){ .state = SLOT_OFF };
	kernel_tallies_grow(kc, before);
}

static void begin_walk(struct kernel_session *ks)
{
	struct kernel_channel *kc;

	ks->walking = true;
	ks->again = false;
	kernel_filters_sweep(ks);
	list_for_each(kc, &ks->channels, node) {
		add_slots(ks, kc);
		kc->next = kc->nr_waits = 0;
	}
	loop_timer_set(&ks->walk, 0);
}

/* Each batch of metadata that is written requests a walk, and hundreds of events make many:
 * were each to begin at the first event, the last one would never be reached. */
void kernel_touch(struct kernel_session *ks)
{
	struct kernel_channel *kc;
	struct channel *channel;

	if (has_kernel_channel(ks->rec.session) && !ks->kernel->nr_events &&
	    kernel_events_load(ks->kernel) < 0)
		log_debug("there are no events of the kernel: %s", ks->kernel->kmod->why);
	list_for_each(channel, &ks->rec.session->channels, node)
		if (channel->domain == DOMAIN_KERNEL && !find_channel(ks, channel))
			add_channel(ks, channel);
	list_for_each(kc, &ks->channels, node) {
		kernel_probes_add(kc, SLOT_OFF);
		kernel_tallies_add(kc);
	}
	ks->again = true;
	if (!ks->walking)
		begin_walk(ks);
}

static bool has_waits(const struct kernel_session *ks)
{
	const struct kernel_channel *kc;

	list_for_each(kc, &ks->channels, node)
		if (kc->nr_waits)
			return true;
	return false;
}

/* Whether an answer in flight will cause another walk. A full disk, for one, is not waited for. */
static bool awaits_more(const struct kernel_session *ks)
{
	return session_is_writable(ks->rec.session, DOMAIN_KERNEL) &&
	       (traces_busy(&ks->rec) || (ks->rec.recording && has_waits(ks)));
}

/* Whether only snapshots take from the channel, which makes no room in it. */
static bool is_unread(const struct kernel_session *ks, const struct channel *channel)
{
	return channel->remember || ks->rec.session->snapshots;
}

/* Whether the channel has its first events for snapshots. */
static bool keeps_first(const struct kernel_session *ks, const struct channel *channel)
{
	return is_unread(ks, channel) && !channel->overwrite;
}

/* The module does it by and by; the state is recorded like any other event. */
static bool kernel_walk_dump(struct kernel_session *ks, struct kernel_channel *kc)
{
	const struct ring *ring = kernel_ring_find(ks, kc->channel);
	struct ltt_kmod_dump msg = { .size = sizeof(msg) };
	int ret;

	kc->dump_due = false;
	if (!ring || ring->module < 0)
		return false;
	if (is_unread(ks, kc->channel))
		msg.flags = LTT_KMOD_DUMP_UNREAD;
	ret = kmod_call(ks->kernel->kmod, ring->module, LTT_KMOD_DUMP, &msg);
	if (ret != -EINVAL || !msg.flags)
		return ret == 0;
	msg.flags = 0; /* an older module, which waits for a reader */
	return kmod_call(ks->kernel->kmod, ring->module, LTT_KMOD_DUMP, &msg) == 0;
}

static bool tells_state(const struct kernel_domain *kernel, const struct kernel_channel *kc)
{
	for (uint32_t i = 0; i < kc->nr_slots; i++)
		if (kc->slots[i].state == SLOT_ON && kernel->events[i].flags & LTT_KMOD_STATE)
			return true;
	return false;
}

void kernel_dump(struct domain_tracer *domain, const struct session *session,
		 struct domain_dumps *ret, domain_done done, void *data)
{
	struct recording *rec = recording_find(domain, session);
	struct kernel_channel *kc;

	if (rec && rec->recording)
		list_for_each(kc, &ks_of(rec)->channels, node)
			if (tells_state(kernel_of(domain), kc) &&
			    !(ret->for_snapshot && keeps_first(ks_of(rec), kc->channel)))
				ret->channels += kernel_walk_dump(ks_of(rec), kc);
	done(data, 0, 0, NULL);
}

void kernel_walk(struct loop_timer *timer)
{
	struct kernel_session *ks = container_of(timer, struct kernel_session, walk);
	uint64_t end = loop_now_ns() + SLICE_NS;
	struct kernel_channel *kc;

	list_for_each(kc, &ks->channels, node)
		while (kc->next < nr_steps(kc)) {
			kernel_walk_step(ks, kc, kc->next++);
			if (loop_now_ns() < end)
				continue;
			loop_timer_set(&ks->walk, 0);
			kernel_waits_extend(ks);
			return;
		}
	ks->walking = false;
	if (ks->again) {
		begin_walk(ks);
		kernel_waits_extend(ks);
		return;
	}
	list_for_each(kc, &ks->channels, node)
		if (kc->dump_due && !kc->nr_waits)
			kernel_walk_dump(ks, kc);
	if (!has_waits(ks))
		kernel_late_solve(ks);
	if (awaits_more(ks))
		kernel_waits_extend(ks);
	else
		kernel_waits_finish(ks);
}

uint32_t kernel_count_active(const struct kernel_domain *kernel, uint32_t event)
{
	const struct kernel_channel *kc;
	struct kernel_session *ks;
	uint32_t nr = 0;

	list_for_each(ks, &kernel->domain.recordings, rec.node) {
		bool on = false;

		list_for_each(kc, &ks->channels, node)
			on |= event < kc->nr_slots && kc->slots[event].state == SLOT_ON;
		nr += on;
	}
	return nr;
}
