/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event.h - the events that the kernel module lists, their shapes, and the filters of the rules
 * that record them (rec/filter.h), as they are sent to the module. Owned by the domain. Runs on
 * the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_EVENT_H
#define DOMAIN_KERNEL_EVENT_H

#include "kmod.h"
#include "sessiond/domain/rec/recording.h"
#include "probe.h"
#include "sessiond/core/sampling.h"
#include "sessiond/domain/rec/filter.h"

struct kernel_domain;

/** An event of the module's list. */
struct kernel_event {
	char *name;	  /* from the module: "system:name", or the name of a system call's event */
	const char *bare; /* without the system: the name in traces */
	uint32_t index;	  /* in the module's list */
	uint32_t nr_fields;
	uint32_t flags;
	struct shape *shape; /* created on demand */
	bool refused;	     /* its fields can't be described; logged once */
};

/** Read the list of events. Return: 0 or negative errno. */
int kernel_events_load(struct kernel_domain *kernel);
/** Only those that are new in it. */
int kernel_events_read_new(struct kernel_domain *kernel);
void kernel_events_free(struct kernel_domain *kernel);
/** Append a field as described by the module. Return: false where there is no room. */
bool kernel_add_field(struct layout *layout, const struct ltt_kmod_field *f);
/** Return: the event's shape, borrowed; NULL: it can't be described. */
struct shape *kernel_event_shape(struct kernel_domain *kernel, struct kernel_event *event);
/** Whether a rule matches this event. */
bool kernel_rule_matches(const struct rule *rule, const struct kernel_event *event);
/** The same, regardless of the rule's kind. */
bool kernel_rule_names(const struct rule *rule, const struct kernel_event *event);
/** Whether the user may have the samples that the rule means. */
int kernel_check_samples(const struct kernel_domain *kernel, const struct rule_spec *spec,
			 uint32_t uid, struct err *err) MUST_CHECK;
bool kernel_wants(const struct channel *channel, const struct kernel_event *event);
/** An event of this name, with or without its system; NULL. */
struct kernel_event *kernel_event_find(const struct kernel_domain *kernel, const char *name);

/*
 * Filters of the kernel's events (rec/filter.h), as they are sent to the module. Runs
 * on the daemon's loop.
 */

/** The contexts that filters in the module can read. */
const struct filter_tracer *kernel_filter_tracer(struct kernel_domain *kernel);

/** The filters of the enabled rules that record an event, as channel_filter() returns them. */
char *kernel_filter_of(const struct channel *channel, const struct kernel_event *event,
		       uint32_t starts);

/** Fill in the request to the module. @filter: NULL: none. */
void kernel_filter_fill(struct ltt_kmod_filter *request, uint32_t id,
			const struct event_filter *filter);

/** Free filters that no slot uses, if there are many. Not during a walk. */
void kernel_filters_sweep(struct kernel_session *ks);

/** Number of events that a rule records, of those for which its filter never holds, and the verdict
 *  on the first of these. */
struct kernel_filter_search {
	const struct rule *rule;
	struct sampling sampling; /* of @rule */
	uint32_t events, never;
	struct filter_verdicts verdicts;
	const struct filter_verdict *first;
};

/** Search; release it by filter_verdicts_fini(). */
void kernel_filter_search(struct kernel_domain *kernel, const struct rule *rule,
			  struct kernel_filter_search *ret);
/** Whether there are events of the rule, but its filter holds for none of them. */
static inline bool kernel_filter_never(const struct kernel_filter_search *search)
{
	return search->events && search->never == search->events;
}

/** Check that the module supports filters, and that this one can hold. Return: 0 or the code set in
 *  @err. */
int kernel_check_filter(struct kernel_domain *kernel, const struct rule_spec *spec,
			struct err *err) MUST_CHECK;

#endif
