/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel.c - the kernel domain's table, and its sessions. */
#include "kernel.h"

#include <string.h>

#include "base/mem.h"
#include "btf.h"
#include "event.h"
#include "filter.h"
#include "names.h"
#include "probe.h"
#include "ring.h"
#include "session.h"
#include "stats.h"
#include "tracker.h"
#include "wait.h"
#include "walk.h"

static void kernel_ready(struct recording *rec)
{
	kernel_touch(ks_of(rec));
}

/* Changes of a buffer or of metadata: the next walk finds them. */
static const struct recording_ops recording_ops = { kernel_ready, kernel_ready, kernel_describe,
						    NULL };

static struct kernel_session *kernel_find(struct domain_tracer *domain,
					  const struct session *session)
{
	struct recording *rec = recording_find(domain, session);

	return rec ? ks_of(rec) : NULL;
}

static struct kernel_session *kernel_get(struct domain_tracer *domain, struct session *session,
					 const struct clock_facts *clock)
{
	struct kernel_domain *kernel = kernel_of(domain);
	struct kernel_session *ks = kernel_find(domain, session);

	if (ks)
		return ks;
	ks = xalloc(sizeof(*ks));
	recording_init(&ks->rec, &recording_ops, kernel->recorder, DOMAIN_KERNEL, session, clock);
	ks->kernel = kernel;
	ks->counting = -1;
	list_init(&ks->channels);
	list_init(&ks->waits);
	event_filters_init(&ks->filters, kernel_filter_tracer(kernel), &kernel->recorder->shapes,
			   ks->rec.clock);
	loop_timer_init(&ks->walk, kernel->recorder->config.loop, kernel_walk);
	list_append(&domain->recordings, &ks->rec.node);
	return ks;
}

static void kernel_start(struct domain_tracer *domain, struct session *session,
			 const struct clock_facts *clock, domain_done done, void *data)
{
	struct kernel_session *ks = kernel_get(domain, session, clock);

	recording_begin(&ks->rec);
	ks->rec.recording = true;
	rings_enable(&ks->rec, true);
	kernel_touch(ks);
	kernel_wait_new(ks, done, data);
}

/* Clearing RING_ON stops recording at once, and the consumer waits for records in flight;
 * disabling the events only saves kernel time, so it is not waited for. */
static void kernel_stop(struct domain_tracer *domain, struct session *session, domain_done done,
			void *data)
{
	struct kernel_session *ks = kernel_find(domain, session);

	if (ks) {
		ks->rec.recording = false;
		rings_enable(&ks->rec, false);
		kernel_touch(ks);
	}
	if (done && ks) {
		kernel_wait_new(ks, done, data);
		kernel_waits_finish(ks);
	} else if (done) {
		done(data, 0, 0, NULL);
	}
}

static void kernel_refresh(struct domain_tracer *domain, struct session *session, domain_done done,
			   void *data)
{
	struct kernel_session *ks = kernel_find(domain, session);

	if (ks && ks->rec.recording) {
		kernel_touch(ks);
		if (done)
			kernel_wait_new(ks, done, data);
	} else if (done) {
		done(data, 0, 0, NULL);
	}
}

static void drop_waits(struct kernel_session *ks)
{
	struct kernel_wait *wait;

	while ((wait = list_first(&ks->waits, struct kernel_wait, node)))
		wait->late.expired(&wait->late);
}

static void kernel_session_forget(struct kernel_session *ks)
{
	drop_waits(ks);
	kernel_channels_free(ks);
	event_filters_fini(&ks->filters);
	close_fd(ks->counting);
	recording_fini(&ks->rec);
	free(ks);
}

static void kernel_forget(struct domain_tracer *domain, struct session *session)
{
	struct kernel_session *ks = kernel_find(domain, session);

	if (ks)
		kernel_session_forget(ks);
}

static uint32_t count_apps(struct domain_tracer *domain, const struct session *session)
{
	(void)domain, (void)session;
	return 0;
}

static uint32_t kernel_count_points(struct domain_tracer *domain, const struct session *session,
				    const struct rule *rule, uint32_t *ret_never)
{
	struct kernel_domain *kernel = kernel_of(domain);
	struct kernel_filter_search search;
	uint32_t nr = 0;

	*ret_never = 0;
	(void)session;
	if (*rule->filter && kernel_events_load(kernel) == 0) {
		kernel_filter_search(kernel, rule, &search);
		filter_verdicts_fini(&search.verdicts);
		*ret_never = search.never;
		return search.events;
	}
	if (!rule_chooses(rule->kind))
		return kernel_probe_parts(rule->kind);
	if (kernel_events_load(kernel) < 0)
		return 0;
	for (uint32_t i = 0; i < kernel->nr_events; i++)
		nr += kernel_rule_matches(rule, &kernel->events[i]) ||
		      kernel_stat_matches(kernel, rule, &kernel->events[i]);
	return nr;
}

/* Its system, in the place of a process. */
static void show_event(struct kernel_domain *kernel, struct kernel_event *event,
		       void (*fn)(const struct domain_point *point, void *data), void *data)
{
	size_t len = (size_t)(event->bare - event->name);
	AUTO_FREE char *system = len ? strndup(event->name, len - 1) :
				       strdup(event->flags & LTT_KMOD_STATE ? "state" : "syscalls");
	const struct domain_point row = {
		.process = system ? system : "",
		.file = "",
		.active = kernel_count_active(kernel, event->index),
		.shape = kernel_event_shape(kernel, event),
	};

	if (row.shape)
		fn(&row, data);
}

static void each_point(struct domain_tracer *domain, const struct caller *caller,
		       void (*fn)(const struct domain_point *point, void *data), void *data)
{
	struct kernel_domain *kernel = kernel_of(domain);

	(void)caller;
	if (kernel_events_load(kernel) < 0)
		return;
	for (uint32_t i = 0; i < kernel->nr_events; i++)
		if (kernel->events[i].flags & LTT_KMOD_LIVE)
			show_event(kernel, &kernel->events[i], fn, data);
}

static void each_conflict(struct domain_tracer *domain, struct session *session,
			  struct channel *channel, const struct rule *rule,
			  void (*fn)(const struct domain_conflict *conflict, void *data),
			  void *data)
{
	(void)domain, (void)session, (void)channel, (void)rule, (void)fn, (void)data;
}

static void kernel_save(struct domain_tracer *domain, const struct session *session,
			struct state_space *space)
{
	struct recording *rec = recording_find(domain, session);

	if (rec)
		recording_save(rec, space, NULL);
}

static void kernel_restore(struct domain_tracer *domain, struct session *session,
			   const struct clock_facts *clock, struct msg_state_session *msg)
{
	struct kernel_session *ks = kernel_get(domain, session, clock);

	recording_restore(&ks->rec, msg);
	kernel_tracker_restore(ks);
	kernel_touch(ks);
}

static void kernel_refresh_rule(struct domain_tracer *domain, struct session *session,
				const struct rule *rule, domain_done done, void *data)
{
	(void)rule;
	kernel_refresh(domain, session, done, data);
}

static const struct filter_tracer *kernel_filters(struct domain_tracer *domain)
{
	return kernel_filter_tracer(kernel_of(domain));
}

static int kernel_available(struct domain_tracer *domain, struct err *err)
{
	const struct kmod *kmod = kernel_of(domain)->kmod;

	return kmod->fd >= 0 ? 0 : err_set(err, ERR_UNSUPPORTED, "%s", kmod->why);
}

/* Named parameters are stored as their registers and offsets. */
static int kernel_convert_rule(struct domain_tracer *domain, struct rule_spec *spec,
			       char **ret_text, struct err *err)
{
	AUTO_FREE char *function = strndup(spec->location, strcspn(spec->location, "+"));

	(void)domain;
	*ret_text = NULL;
	if ((spec->kind != RULE_PROBE && spec->kind != RULE_FUNCTION) ||
	    !kernel_names_any(spec->fetch))
		return 0;
	if (kernel_names_resolve(BTF_VMLINUX, function ? function : "", spec->fetch, ret_text, err))
		return err->code;
	spec->fetch = *ret_text;
	return 0;
}

static int kernel_check_track(struct domain_tracer *domain, enum track_kind kind, struct err *err)
{
	(void)domain, (void)kind, (void)err;
	return 0;
}

static const struct domain_ops kernel_ops = {
	.id = DOMAIN_KERNEL,
	.events = "the kernel",
	.option = 'k',
	.available = kernel_available,
	.convert_rule = kernel_convert_rule,
	.check_rule = kernel_check_rule,
	.check_rule_in = kernel_check_rule_in,
	.check_context = kernel_check_context,
	.check_contexts_of = kernel_check_contexts_of,
	.check_track = kernel_check_track,
	.start = kernel_start,
	.stop = kernel_stop,
	.refresh = kernel_refresh,
	.refresh_rule = kernel_refresh_rule,
	.forget = kernel_forget,
	.retry = recording_retry,
	.track = kernel_track,
	.dump = kernel_dump,
	.count_apps = count_apps,
	.count_points = kernel_count_points,
	.each_point = each_point,
	.each_conflict = each_conflict,
	.each_refusal = kernel_each_refusal,
	.each_counted = kernel_each_counted,
	.each_context = kernel_each_context,
	.filters = kernel_filters,
	.each_preset = kernel_each_preset,
	.is_preset_for = kernel_is_preset_for,
	.find_ring = recording_find_ring,
	.each_final = recording_each_final,
	.clock_changed = recording_clock_changed,
	.save = kernel_save,
	.restore = kernel_restore,
	.adopt = recording_adopt,
	.keep = recording_keep,
};

struct domain_tracer *kernel_domain_new(struct recorder *recorder, struct kmod *kmod)
{
	struct kernel_domain *kernel = xalloc(sizeof(*kernel));

	kernel->domain.ops = &kernel_ops;
	list_init(&kernel->domain.recordings);
	kernel->recorder = recorder;
	kernel->kmod = kmod;
	return &kernel->domain;
}

struct domain_tracer *kernel_domain_free(struct domain_tracer *domain)
{
	struct kernel_domain *kernel = domain ? kernel_of(domain) : NULL;
	struct recording *rec, *next;

	if (!kernel)
		return NULL;
	list_for_each_safe(rec, next, &domain->recordings, node)
		kernel_session_forget(ks_of(rec));
	kernel_events_free(kernel);
	layout_free(kernel->contexts);
	free(kernel);
	return NULL;
}
