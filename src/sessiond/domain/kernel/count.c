/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.c - events of the kernel that are counted instead of recorded, and histograms of their
 * fields. The module counts in a channel of its own for each session, which lives as long as the
 * daemon; the counts of an event that was disabled are kept here.
 */
#include "count.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "event.h"
#include "probe.h"
#include "session.h"

/*
 * Events of the kernel that are counted instead of recorded, and histograms of their
 * fields. The module counts in a channel of its own for each session, which lives as long as the
 * daemon; the counts of an event that was disabled are kept here.
 */

/* --- fields ------------------------------------------------------------------------ */

/* Of integers, which alone can be sorted by size. Return: its number, or -ENOENT. */
static int find_field(const struct kernel_domain *kernel, const struct kernel_event *event,
		      const char *name)
{
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		struct ltt_kmod_field f = { .size = sizeof(f), .index = event->index, .field = i };

		if (kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_FIELD, &f) < 0)
			return -ENOENT;
		f.name[sizeof(f.name) - 1] = '\0';
		if (f.kind == LTT_KIND_INT && strcmp(f.name, name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

bool kernel_stat_matches(struct kernel_domain *kernel, const struct rule *rule,
			 struct kernel_event *event)
{
	return rule_counts(rule->kind) && kernel_rule_names(rule, event) &&
	       (rule->kind == RULE_COUNT || find_field(kernel, event, rule->location) >= 0);
}

int kernel_check_field(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	struct kernel_event *event = kernel_event_find(kernel, spec->pattern);
	const struct shape *shape;
	const char *near = NULL;

	if (find_field(kernel, event, spec->location) >= 0)
		return 0;
	shape = kernel_event_shape(kernel, event);
	if (shape) {
		const char **words = xalloc((shape->layout->nr_fields + 1) * sizeof(*words));
		uint32_t nr = 0;

		for (uint32_t i = 0; i < shape->layout->nr_fields; i++)
			if (shape->layout->fields[i].kind == LTT_KIND_INT)
				words[nr++] = shape->layout->fields[i].name;
		near = nearest_word(spec->location, words);
		free(words);
	}
	return err_set(err, ERR_INVALID, "event '%.100s' has no integer field '%.100s'; %s%.100s%s",
		       spec->pattern, spec->location,
		       near ? "did you mean '" : "`lttctl list -k --fields` lists ",
		       near ? near : "fields", near ? "'?" : "");
}

/* --- of a session ------------------------------------------------------------------- */

/* Return: the module's channel; negative errno. */
static int open_counting(struct kernel_session *ks)
{
	const struct kmod *kmod = ks->kernel->kmod;
	int err;

	if (ks->counting >= 0)
		return ks->counting;
	ks->counting = kernel_trial(kmod, LTT_KMOD_COUNTS);
	if (ks->counting < 0)
		return ks->counting;
	err = kernel_tracker_send_all(kmod, ks->counting, ks->rec.session);
	if (err < 0)
		ks->counting = close_fd(ks->counting);
	return err < 0 ? err : ks->counting;
}

static void add_up(struct ltt_counts *to, const struct ltt_kmod_counted *more)
{
	to->count += more->count;
	to->sum += more->sum;
	to->negative += more->negative;
	to->missed += more->missed;
	for (uint32_t i = 0; i < LTT_KMOD_BUCKETS; i++)
		to->buckets[i] += more->buckets[i];
}

/* Its counts until now. */
static struct ltt_counts sums_of(const struct kernel_session *ks, const struct kernel_stat *stat)
{
	struct ltt_kmod_counted now = { .size = sizeof(now), .id = stat->id };
	struct ltt_counts all = stat->before;

	if (stat->on && kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_COUNTED, &now) == 0)
		add_up(&all, &now);
	return all;
}

static uint64_t kernel_stats_real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int kernel_stats_enable(struct kernel_session *ks, const struct rule *rule,
			       const struct kernel_event *event, uint32_t id)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg), .id = id };
	int fd = open_counting(ks);

	if (fd >= 0 && rule->kind == RULE_HISTOGRAM) {
		int field = find_field(ks->kernel, event, rule->location);

		if (field < 0)
			return field;
		msg.flags = LTT_KMOD_HISTOGRAM;
		msg.field = (uint32_t)field;
	}
	snprintf(msg.name, sizeof(msg.name), "%s", event->name);
	return fd < 0 ? fd : kmod_call(ks->kernel->kmod, fd, LTT_KMOD_ENABLE, &msg);
}

static void switch_on(struct kernel_session *ks, const struct rule *rule,
		      const struct kernel_event *event, struct kernel_stat **stat)
{
	struct kernel_stat *s = *stat = *stat ? *stat : xalloc(sizeof(**stat));
	int err;

	s->id = ++ks->last_stat;
	s->since_ns = s->since_ns ? s->since_ns : kernel_stats_real_ns();
	err = kernel_stats_enable(ks, rule, event, s->id);
	s->on = err >= 0;
	s->error = (uint16_t)(err < 0 ? -err : 0);
}

static void switch_off(struct kernel_session *ks, struct kernel_stat *stat)
{
	struct ltt_kmod_enable msg = { .size = sizeof(msg),
				       .id = stat->id,
				       .flags = LTT_KMOD_NOWAIT };

	stat->before = sums_of(ks, stat);
	stat->on = false;
	(void)!kmod_call(ks->kernel->kmod, ks->counting, LTT_KMOD_DISABLE, &msg);
}

void kernel_stat_step(struct kernel_session *ks, struct kernel_channel *kc,
		      struct kernel_tally *tally, uint32_t nr)
{
	struct kernel_event *event = &ks->kernel->events[nr];
	struct kernel_stat *stat = tally->stats[nr];
	bool on = stat && stat->on;
	bool wanted = ks->rec.recording && kc->channel->enabled && tally->rule->enabled &&
		      (on || kernel_stat_matches(ks->kernel, tally->rule, event));

	if (wanted && !on && !(stat && stat->error))
		switch_on(ks, tally->rule, event, &tally->stats[nr]);
	else if (!wanted && on)
		switch_off(ks, stat);
}

/* --- of a channel ------------------------------------------------------------------- */

static bool has_tally(const struct kernel_channel *kc, const struct rule *rule)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++)
		if (kc->tallies[i]->rule == rule)
			return true;
	return false;
}

void kernel_tallies_add(struct kernel_channel *kc)
{
	struct kernel_tally *tally;
	struct rule *rule;

	list_for_each(rule, &kc->channel->rules, node) {
		if (!rule_counts(rule->kind) || has_tally(kc, rule))
			continue;
		tally = xalloc(sizeof(*tally));
		tally->rule = rule;
		tally->stats = xalloc(((size_t)kc->nr_slots + 1) * sizeof(*tally->stats));
		kc->tallies = xrealloc(kc->tallies, (kc->nr_tallies + 1) * sizeof(*kc->tallies));
		kc->tallies[kc->nr_tallies++] = tally;
	}
}

void kernel_tallies_free(struct kernel_channel *kc)
{
	for (uint32_t i = 0; i < kc->nr_tallies; i++) {
		for (uint32_t event = 0; event < kc->nr_slots; event++)
			free(kc->tallies[i]->stats[event]);
		free(kc->tallies[i]->stats);
		free(kc->tallies[i]);
	}
	free(kc->tallies);
}

/* --- for commands ------------------------------------------------------------------- */

static void kernel_stats_report(const struct kernel_session *ks, const struct kernel_channel *kc,
				const struct kernel_tally *tally,
				const struct domain_counted_ops *ops, void *data)
{
	for (uint32_t i = 0; i < kc->nr_slots; i++) {
		const struct kernel_stat *stat = tally->stats[i];

		if (!stat || stat->error)
			continue;
		ops->counted(&(struct domain_counted){ .domain = DOMAIN_KERNEL,
						       .channel = kc->channel->name,
						       .event = ks->kernel->events[i].name,
						       .field = tally->rule->location,
						       .counting = stat->on,
						       .since_ns = stat->since_ns,
						       .at_least = tally->rule->counted_before,
						       .sums = sums_of(ks, stat) },
			     data);
	}
}

void kernel_each_counted(struct domain_tracer *domain, const struct session *session,
			 const struct domain_counted_ops *ops, void *data)
{
	struct recording *rec = recording_find(domain, session);
	const struct kernel_channel *kc;

	if (!rec)
		return;
	list_for_each(kc, &ks_of(rec)->channels, node)
		for (uint32_t i = 0; i < kc->nr_tallies; i++)
			kernel_stats_report(ks_of(rec), kc, kc->tallies[i], ops, data);
}
