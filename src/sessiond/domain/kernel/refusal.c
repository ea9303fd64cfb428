/* SPDX-License-Identifier: GPL-2.0-only */
/* refusal.c - events that are wanted and that the module does not record, for the client that
 * asks. */
#include <errno.h>
#include <string.h>

#include "event.h"
#include "probe.h"
#include "session.h"
#include "stats.h"

/** The receiver. */
struct reporter {
	const struct rule *rule; /* of what it wants; NULL: of all */
	void (*fn)(const struct domain_refusal *refusal, void *data);
	void *data;
};

static void report_event_refusal(const struct reporter *reporter, const struct kernel_event *event,
				 const struct slot *slot)
{
	const struct domain_refusal refusal = {
		DOMAIN_KERNEL,
		event->name,
		slot->error == 0      ? "it can't be described" :
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
		slot->error ? kernel_probe_why(slot->error) : "it can't be described",
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
