/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - filters of the kernel's events (rec/filter.h), as they are sent to the module. Runs
 * on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_FILTER_H
#define DOMAIN_KERNEL_FILTER_H

#include "event.h"
#include "probe.h"
#include "sessiond/domain/rec/filter.h"

/** The contexts that filters in the module can read. */
const struct filter_tracer *kernel_filter_tracer(struct kernel_domain *kernel);

/** The filters of the enabled rules that record an event, one on each line; NULL: a rule has none,
 *  or no rule matches. To be freed. */
char *kernel_filter_of(const struct channel *channel, const struct kernel_event *event);

/** Fill in the request to the module. @filter: NULL: none. */
void kernel_filter_fill(struct ltt_kmod_filter *request, uint32_t id,
			const struct event_filter *filter);

/** Free filters that no slot uses, if there are many. Not during a walk. */
void kernel_filters_sweep(struct kernel_session *ks);

/** Number of events that a rule records, of those for which its filter never holds, and the verdict
 *  on the first of these. */
struct kernel_filter_search {
	const struct rule *rule;
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
