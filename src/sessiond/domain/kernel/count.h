/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - the counters of kernel events that are counted and not recorded. Owned by the channel.
 */
#ifndef DOMAIN_KERNEL_COUNT_H
#define DOMAIN_KERNEL_COUNT_H

#include "session.h"
#include "sessiond/domain/rec/keyed.h"

struct kernel_event;

/* The counters of kernel events that are counted and not recorded. Owned by the channel. */

/** An event that is counted, or was. */
struct kernel_stat {
	uint32_t id; /* in the module's channel */
	bool on;
	uint16_t error; /* errno, if the module rejected it */
	struct event_filter *filter; /* while it is on */
	uint64_t since_ns;
	/* Counts up to the time at which it was last disabled. */
	struct ltt_counts before;
	struct keyed_list before_keys;
	uint64_t paid_bytes; /* for its table of keys, of the session's owner */
};

/** A rule whose events are counted. */
struct kernel_tally {
	struct rule *rule;
	struct kernel_stat **stats; /* one for each event, once it is to be counted */
};

/** Whether a rule counts this event. */
bool kernel_stat_matches(struct kernel_domain *kernel, const struct rule *rule,
			 struct kernel_event *event);
/** The error that an event has no integer field, or no field of a key, of this name. Return: the
 *  code set in @err. */
int kernel_stats_no_field(const struct shape *shape, const char *event, const char *field,
			  bool of_key, struct err *err);
/** Check that the named event has the fields of a rule that counts. Return: 0 or the code set in
 *  @err. */
int kernel_check_fields(struct kernel_domain *kernel, const struct rule_spec *spec,
			struct err *err) MUST_CHECK;
/** Add a struct kernel_tally for each rule of the channel that counts and has none. */
void kernel_tallies_add(struct kernel_channel *kc);
/** Provide for the events that @kc->nr_slots has grown by, from @before. */
void kernel_tallies_grow(struct kernel_channel *kc, uint32_t before);
/** Mark the filters that are in use. */
void kernel_tallies_mark(const struct kernel_channel *kc);
void kernel_tallies_free(struct kernel_session *ks, struct kernel_channel *kc);
/** Count an event, or stop counting it. */
void kernel_stat_step(struct kernel_session *ks, struct kernel_channel *kc,
		      struct kernel_tally *tally, uint32_t event);

#endif
