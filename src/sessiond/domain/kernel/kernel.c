/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel.c - the kernel domain's table, and its sessions. */
#include "kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "btf.h"
#include "count.h"
#include "event.h"
#include "fetch_names.h"
#include "fire.h"
#include "probe.h"
#include "session.h"
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

	kernel_waits_finish(ks);
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
	if ((*rule->filter || strstr(rule->sampling, " by ")) && kernel_events_load(kernel) == 0) {
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

static void kernel_find_files(struct domain_tracer *domain, const struct session *session,
			      const struct rule *rule, struct domain_files *ret)
{
	const struct kernel_session *ks = kernel_find(domain, session);
	const struct kernel_channel *kc;

	*ret = (struct domain_files){ rule->places, "" };
	if (!ks)
		return;
	list_for_each(kc, &ks->channels, node)
		for (uint32_t i = 0; i < kc->nr_probes; i++) {
			const struct probe_file *file = &kc->probes[i]->file;

			if (kc->probes[i]->rule == rule && file->places)
				ret->places = file->places;
			if (kc->probes[i]->rule == rule && file->earlier)
				ret->earlier = file->earlier;
		}
}

static enum domain_way way_of(uint32_t flags)
{
	return flags & LTT_KMOD_BY_PERF ? WAY_PERF :
	       flags & LTT_KMOD_SYSCALL ? WAY_SYSCALL :
	       flags & LTT_KMOD_STATE	? WAY_STATE :
					  WAY_NATIVE;
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
		.way = (uint8_t)way_of(event->flags),
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
	kernel_want_names(ks);
	kernel_touch(ks);
}

static void kernel_write_not_sampled(struct domain_tracer *domain, struct session *session,
				     const struct msg_con_stream *streams, size_t nr,
				     domain_done done, void *data)
{
	struct kernel_session *ks = kernel_find(domain, session);

	if (!ks) {
		done(data, 0, 0, NULL);
		return;
	}
	rings_note_not_sampled(&ks->rec, streams, nr);
	kernel_wait_new(ks, done, data);
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
	uint32_t needed = kind == TRACK_FOLLOW ? LTT_KMOD_FAMILIES :
			  kind == TRACK_CGROUP ? LTT_KMOD_CGROUPS :
						 0;

	if (!needed || kmod_has(kernel_of(domain)->kmod, needed))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "the kernel module is older than this daemon, and can't %s: install both "
		       "from the same release",
		       kind == TRACK_FOLLOW ? "follow processes" : "select by cgroups");
}

static const struct domain_ops kernel_ops = {
	.id = DOMAIN_KERNEL,
	.events = "the kernel",
	.option = 'k',
	.triggers = &kernel_fire_ops,
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
	.find_files = kernel_find_files,
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
	.clock_remark = recording_clock_remark,
	.save = kernel_save,
	.restore = kernel_restore,
	.adopt = recording_adopt,
	.keep = recording_keep,
	.write_not_sampled = kernel_write_not_sampled,
};

static void kernel_module_came(struct ksyms *ksyms)
{
	struct kernel_domain *kernel = container_of(ksyms, struct kernel_domain, ksyms);
	int ret = kernel_events_read_new(kernel);

	if (ret < 0)
		log_warn_some("the events of a module that has come can't be listed: %s",
			      strerror(-ret));
}

/* Rules and triggers choose among them. */
static void kernel_events_came(struct loop_work *work)
{
	struct kernel_domain *kernel = container_of(work, struct kernel_domain, events_came);
	struct kernel_session *ks;

	list_for_each(ks, &kernel->domain.recordings, rec.node)
		kernel_touch(ks);
	kernel_fire_again(kernel);
}

struct domain_tracer *kernel_domain_new(struct recorder *recorder, struct kmod *kmod)
{
	struct kernel_domain *kernel = xalloc(sizeof(*kernel));

	kernel->domain.ops = &kernel_ops;
	list_init(&kernel->domain.recordings);
	kernel->recorder = recorder;
	kernel->kmod = kmod;
	replaced_init(&kernel->replaced, recorder->config.loop);
	ksyms_init(&kernel->ksyms, recorder->config.loop, kernel_store_names,
		   kernel_module_came);
	loop_work_init(&kernel->events_came, kernel_events_came);
	kernel_fire_init(kernel);
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
	kernel_fire_fini(kernel);
	loop_work_cancel(&kernel->events_came);
	replaced_fini(&kernel->replaced);
	ksyms_fini(&kernel->ksyms);
	kernel_events_free(kernel);
	layout_free(kernel->contexts);
	free(kernel);
	return NULL;
}

/* Channels that modules of the kernel have registered for their events. */

static bool read_preset(const struct kernel_domain *kernel, uint32_t index,
			struct ltt_kmod_preset *ret)
{
	*ret = (struct ltt_kmod_preset){ .size = sizeof(*ret), .index = index };
	if (kernel->kmod->fd < 0 ||
	    kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_PRESET, ret) < 0)
		return false;
	ret->name[sizeof(ret->name) - 1] = '\0';
	ret->events[sizeof(ret->events) - 1] = '\0';
	return true;
}

void kernel_each_preset(struct domain_tracer *domain, uid_t uid,
			void (*fn)(const struct domain_preset *preset, void *data), void *data)
{
	struct ltt_kmod_preset preset;

	(void)uid;
	for (uint32_t i = 0; read_preset(kernel_of(domain), i, &preset); i++) {
		const struct domain_preset found = {
			.name = preset.name,
			.events = preset.events,
			.subbuf_size = preset.subbuf_size,
			.num_subbuf = preset.num_subbuf,
			.unused = "",
		};

		fn(&found, data);
	}
}

/* The pattern is matched as text: only a `*` matches its `*`, so a match means that @events covers
 * all events of the pattern. A name without its system may be that of several events. */
static bool covers(const struct kernel_domain *kernel, const char *events, const char *pattern)
{
	bool any = false;

	if (strchr(pattern, ':') || glob_is_pattern(pattern))
		return glob_match(events, pattern);
	for (uint32_t i = 0; i < kernel->nr_events; i++) {
		if (strcmp(kernel->events[i].bare, pattern) != 0)
			continue;
		if (!glob_match(events, kernel->events[i].name))
			return false;
		any = true;
	}
	return any;
}

bool kernel_is_preset_for(struct domain_tracer *domain, const struct domain_preset *preset,
			  const char *pattern)
{
	return covers(kernel_of(domain), preset->events, pattern);
}

/*
 * Requested events that the module does not record, for the list that a client
 * requests.
 */

/** The callback, and the refusals that it receives. */
struct reporter {
	const struct rule *rule; /* those of this rule; NULL: all */
	void (*fn)(const struct domain_refusal *refusal, void *data);
	void *data;
};

static void report_event_refusal(const struct reporter *reporter, const struct kernel_event *event,
				 const struct slot *slot)
{
	const struct domain_refusal refusal = {
		DOMAIN_KERNEL,
		event->name,
		slot->error == 0      ? "its fields can't be read (see the log of ltt-sessiond)" :
		slot->error == ENOENT ? "the module has no probe for it on this kernel" :
					strerror(slot->error),
		true,
	};

	if (slot->state == SLOT_REFUSED &&
	    (!reporter->rule || kernel_rule_matches(reporter->rule, event)))
		reporter->fn(&refusal, reporter->data);
}

static void kernel_refusal_report_probe(const struct reporter *reporter,
					const struct kernel_probe *probe, const struct slot *slot)
{
	struct domain_refusal refusal = {
		DOMAIN_KERNEL,
		probe->rule->pattern,
		slot->error ? kernel_probe_why(slot->error) :
			      "its fields can't be read (see the log of ltt-sessiond)",
		true,
	};
	const char *unfollowed = slot == probe->slots ? probe->file.why : NULL;
	bool waits = slot->state == SLOT_ON && slot == probe->slots && *probe->module &&
		     !kernel_module_is_loaded(probe->module);
	AUTO_FREE char *why =
		waits ? xasprintf("module %s is not loaded; it is recorded from when it is",
				  probe->module) :
			NULL;

	if (waits || unfollowed)
		refusal.why = waits ? why : unfollowed;
	if ((waits || unfollowed || slot->state == SLOT_REFUSED) &&
	    (!reporter->rule || reporter->rule == probe->rule))
		reporter->fn(&refusal, reporter->data);
}

static void report_tally(const struct reporter *reporter, const struct kernel_tally *tally,
			 const struct kernel_event *event)
{
	const struct kernel_stat *stat = tally->stats[event->index];
	const struct domain_refusal refusal = { DOMAIN_KERNEL, event->name,
						stat ? strerror(stat->error) : "", false };

	if (stat && stat->error && (!reporter->rule || reporter->rule == tally->rule))
		reporter->fn(&refusal, reporter->data);
}

static void kernel_refusal_report_never(struct kernel_domain *kernel,
					const struct reporter *reporter, const struct rule *rule)
{
	struct kernel_filter_search search;
	char why[512];

	kernel_filter_search(kernel, rule, &search);
	if (kernel_filter_never(&search)) {
		snprintf(why, sizeof(why), "its %s no event that there is now: %s",
			 search.first->of_key ? "field of --by is in" : "filter holds for",
			 search.first->why);
		reporter->fn(&(struct domain_refusal){ DOMAIN_KERNEL, rule->pattern, why,
						       !rule_counts(rule->kind) },
			     reporter->data);
	}
	filter_verdicts_fini(&search.verdicts);
}

static void kernel_refusal_report_filters(struct kernel_domain *kernel,
					  const struct reporter *reporter,
					  const struct channel *channel)
{
	const struct rule *rule;

	list_for_each(rule, &channel->rules, node)
		if (rule->enabled && (*rule->filter || *rule->sampling) &&
		    (!reporter->rule || reporter->rule == rule))
			kernel_refusal_report_never(kernel, reporter, rule);
}

void kernel_each_refusal(struct domain_tracer *domain, const struct session *session,
			 const struct channel *channel, const struct rule *rule,
			 void (*fn)(const struct domain_refusal *refusal, void *data), void *data)
{
	const struct reporter reporter = { rule, fn, data };
	struct recording *rec = recording_find(domain, session);
	const struct kernel_channel *kc;

	if (!rec || !rec->recording)
		return;
	list_for_each(kc, &ks_of(rec)->channels, node) {
		if (channel && kc->channel != channel)
			continue;
		kernel_refusal_report_filters(ks_of(rec)->kernel, &reporter, kc->channel);
		for (uint32_t i = 0; i < kc->nr_slots; i++)
			report_event_refusal(&reporter, &ks_of(rec)->kernel->events[i],
					     &kc->slots[i]);
		for (uint32_t i = 0; i < kc->nr_probes * PROBE_PARTS; i++)
			kernel_refusal_report_probe(
				&reporter, kc->probes[i / PROBE_PARTS],
				&kc->probes[i / PROBE_PARTS]->slots[i % PROBE_PARTS]);
		for (uint32_t i = 0; i < kc->nr_tallies * kc->nr_slots; i++)
			report_tally(&reporter, kc->tallies[i / kc->nr_slots],
				     &ks_of(rec)->kernel->events[i % kc->nr_slots]);
	}
}
