/* SPDX-License-Identifier: GPL-2.0-only */
/* refusal.c - requested events that the module does not record, for the list that a client
 * requests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "filter.h"
#include "probe.h"
#include "session.h"
#include "stats.h"

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
	const struct domain_refusal refusal = {
		DOMAIN_KERNEL,
		probe->rule->pattern,
		slot->error ? kernel_probe_why(slot->error) : "its fields can't be read (see the log of ltt-sessiond)",
		true,
	};

	if (slot->state == SLOT_REFUSED && (!reporter->rule || reporter->rule == probe->rule))
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
		snprintf(why, sizeof(why), "its filter holds for no event that there is now: %s",
			 search.first->why);
		reporter->fn(&(struct domain_refusal){ DOMAIN_KERNEL, rule->pattern, why, true },
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
		if (rule->enabled && *rule->filter && (!reporter->rule || reporter->rule == rule))
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
