/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <string.h>

#include "context.h"
#include "count.h"
#include "link.h"
#include "ltt/context.h"
#include "session.h"

_Static_assert(sizeof("$app.") + LTT_CONTEXT_NAME_MAX <= FILTER_CONTEXT_BYTES, "each fits");

static void user_filter_add_context(const struct layout_field *context, void *data)
{
	const char *name = context->name;

	filter_tracer_add(data, context, user_context_features(name, strlen(name)));
}

const struct filter_tracer *user_filter_tracer(void)
{
	/* parts of the context `otel`, which is no value itself; texts here */
	static const struct layout_field trace = { .name = "otel_trace_id",
						   .kind = LTT_KIND_STRING };
	static const struct layout_field span = { .name = "otel_span_id", .kind = LTT_KIND_STRING };
	static struct filter_tracer tracer = { .provided = user_context_features };

	if (!tracer.nr) {
		user_each_context(user_filter_add_context, &tracer);
		user_filter_add_context(&trace, &tracer);
		user_filter_add_context(&span, &tracer);
	}
	return &tracer;
}

bool user_filter_fits(const struct event_filter *filter, uint64_t features)
{
	uint64_t needs = APP_FEATURE_FILTER | filter->needs;

	if (filter->samples)
		needs |= APP_FEATURE_SAMPLE;
	return !filter->never && !(needs & ~features);
}

/* Features for the contexts that an expression or a sampling reads. */
static uint64_t user_filter_context_needs(const char *expression)
{
	uint64_t needs = 0;

	for (const char *at = expression; (at = strstr(at, "$ctx."));) {
		at += strlen("$ctx.");
		needs |= user_context_features(at, strspn(at, FILTER_WORD));
	}
	if (strstr(expression, "$app."))
		needs |= APP_FEATURE_PROVIDER;
	return needs;
}

static uint64_t user_filter_rule_needs(const struct rule *rule)
{
	bool samples = *rule->sampling;

	if (rule_counts(rule->kind))
		return APP_FEATURE_COUNT | (*rule->filter || *rule->by ? APP_FEATURE_KEYS : 0);
	return (*rule->filter || samples ? APP_FEATURE_FILTER : 0) |
	       (samples ? APP_FEATURE_SAMPLE : 0);
}

uint64_t user_filter_needs(const struct rule *rule)
{
	return user_filter_rule_needs(rule) | user_filter_context_needs(rule->filter) |
	       user_filter_context_needs(rule->sampling);
}

static void user_filters_mark(const struct user_link *link)
{
	for (size_t i = 0; i < link->nr_arms; i++)
		if (link->arms[i].filter)
			link->arms[i].filter->used = true;
	for (size_t i = 0; i < link->nr_countings; i++)
		if (link->countings[i].filter)
			link->countings[i].filter->used = true;
}

void user_filters_sweep(struct user_session *us)
{
	const struct user_link *link;

	if (!event_filters_sweep_due(&us->filters))
		return;
	list_for_each(link, &us->links, in_session)
		user_filters_mark(link);
	event_filters_sweep(&us->filters);
}
