/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "context.h"
#include "session.h"

static void kernel_filter_add_context(const struct layout_field *context, void *data)
{
	filter_tracer_add(data, context, 0);
}

const struct filter_tracer *kernel_filter_tracer(struct kernel_domain *kernel)
{
	struct filter_tracer *tracer = &kernel->filter_tracer;

	tracer->mode = FILTER_INTEGERS;
	if (!tracer->nr)
		kernel_each_own_context(kernel, kernel_filter_add_context, tracer);
	return tracer;
}

static bool kernel_filter_records(const struct rule *rule, const void *event)
{
	return rule->enabled && kernel_rule_matches(rule, event);
}

char *kernel_filter_of(const struct channel *channel, const struct kernel_event *event)
{
	return channel_filter_by(channel, kernel_filter_records, event, 0);
}

void kernel_filter_fill(struct ltt_kmod_filter *request, uint32_t id,
			const struct event_filter *filter)
{
	memset(request, 0, sizeof(*request));
	request->size = sizeof(*request);
	request->id = id;
	if (!filter || !filter->len)
		return;
	request->programs = (uint64_t)(uintptr_t)filter->programs;
	request->bytes = (uint32_t)filter->len;
	snprintf(request->contexts, sizeof(request->contexts), "%s", filter->contexts);
}

static void kernel_filter_mark(const struct slot *slots, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (slots[i].filter)
			slots[i].filter->used = true;
}

void kernel_filters_sweep(struct kernel_session *ks)
{
	const struct kernel_channel *kc;

	if (!event_filters_sweep_due(&ks->filters))
		return;
	list_for_each(kc, &ks->channels, node) {
		kernel_filter_mark(kc->slots, kc->nr_slots);
		for (uint32_t i = 0; i < kc->nr_probes; i++)
			kernel_filter_mark(kc->probes[i]->slots, PROBE_PARTS);
	}
	event_filters_sweep(&ks->filters);
}

/* --- filters that never hold ----------------------------------------------------------- */

static void kernel_filter_judge(struct kernel_filter_search *search, const struct shape *shape)
{
	const struct filter_verdict *verdict;

	search->events++;
	if (!shape)
		return;
	verdict = filter_verdict_get(&search->verdicts, shape, NULL);
	if (verdict->column && !search->never++)
		search->first = verdict;
}

/* The shapes belong to the recorder beyond this, as long as a verdict refers to one. */
static void kernel_filter_judge_probe(struct kernel_domain *kernel,
				      struct kernel_filter_search *search)
{
	struct kernel_probe probe = { .rule = (struct rule *)search->rule };

	for (uint32_t i = 0; i < kernel_probe_parts(search->rule->kind); i++)
		kernel_filter_judge(search, kernel_probe_shape(kernel, &probe, i));
	for (uint32_t i = 0; i < PROBE_PARTS; i++)
		shape_unref(&kernel->recorder->shapes, probe.shapes[i]);
}

void kernel_filter_search(struct kernel_domain *kernel, const struct rule *rule,
			  struct kernel_filter_search *ret)
{
	*ret = (struct kernel_filter_search){
		.rule = rule,
		.verdicts = { .tracer = kernel_filter_tracer(kernel), .expression = rule->filter },
	};
	if (!*rule->filter)
		return;
	if (!rule_chooses(rule->kind)) {
		kernel_filter_judge_probe(kernel, ret);
		return;
	}
	for (uint32_t i = 0; i < kernel->nr_events; i++)
		if (kernel_rule_matches(rule, &kernel->events[i]))
			kernel_filter_judge(ret, kernel_event_shape(kernel, &kernel->events[i]));
}

/* --- check of a request ----------------------------------------------------------------- */

static int kernel_filter_check_module(const struct kmod *kmod, struct err *err)
{
	struct ltt_kmod_hello hello = { .size = sizeof(hello) };

	if (kmod_call(kmod, kmod->fd, LTT_KMOD_HELLO, &hello) == 0 &&
	    hello.features & LTT_KMOD_FILTERS)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "the kernel module that is loaded is older and has no filters: install the "
		       "one of this release, then `rmmod ltt` and start the daemon again");
}

/* A name whose events all lack a field of the filter is an error; events of a pattern may come
 * later. */
static int kernel_filter_check_events(struct kernel_domain *kernel, const struct rule_spec *spec,
				      struct err *err)
{
	struct rule *rule = rule_new(spec);
	struct kernel_filter_search search;

	kernel_filter_search(kernel, rule, &search);
	if (kernel_filter_never(&search) && !glob_is_pattern(spec->pattern))
		err_set(err, ERR_INVALID, "filter of event %.100s, column %u: %s", spec->pattern,
			search.first->column, search.first->why);
	filter_verdicts_fini(&search.verdicts);
	rule_free(rule);
	return err->code;
}

int kernel_check_filter(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	if (!spec->filter || !*spec->filter)
		return 0;
	if (rule_counts(spec->kind))
		return err_set(err, ERR_UNSUPPORTED,
			       "events of the kernel that are counted can't be filtered yet; omit "
			       "--filter, or choose by name and lttctl track");
	if (filter_check_syntax(kernel_filter_tracer(kernel), spec->filter, err) ||
	    kernel_filter_check_module(kernel->kmod, err))
		return err->code;
	return kernel_filter_check_events(kernel, spec, err);
}
