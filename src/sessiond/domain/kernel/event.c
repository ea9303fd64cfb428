/* SPDX-License-Identifier: GPL-2.0-only */
/* event.c - the events of the module: names, fields, and matching with rules. */
#include "event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "context.h"
#include "count.h"
#include "labels.h"
#include "probe.h"
#include "session.h"

static int read_event(struct kernel_domain *kernel, uint32_t index, struct kernel_event *ret)
{
	struct ltt_kmod_event event = { .size = sizeof(event), .index = index };
	int err = kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_EVENT, &event);
	const char *colon;

	if (err < 0)
		return err;
	event.name[sizeof(event.name) - 1] = '\0';
	*ret = (struct kernel_event){
		.name = xstrdup(event.name),
		.index = index,
		.nr_fields = event.nr_fields,
		.flags = event.flags,
	};
	colon = strchr(ret->name, ':');
	ret->bare = colon ? colon + 1 : ret->name;
	return 0;
}

/* Events appear and disappear with modules: their names remain valid. */
static int kernel_event_refresh(struct kernel_domain *kernel)
{
	for (uint32_t i = 0; i < kernel->nr_events; i++) {
		struct ltt_kmod_event event = { .size = sizeof(event), .index = i };
		int err = kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_EVENT, &event);

		if (err < 0)
			return err;
		kernel->events[i].flags = event.flags;
	}
	return 0;
}

/* Modules that come bring more: markers, providers. */
int kernel_events_read_new(struct kernel_domain *kernel)
{
	struct ltt_kmod_hello hello = { .size = sizeof(hello) };
	int err = kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_HELLO, &hello);

	if (err < 0 || hello.nr_events <= kernel->nr_events)
		return err;
	kernel->events =
		xrealloc(kernel->events, (size_t)hello.nr_events * sizeof(*kernel->events));
	while (kernel->nr_events < hello.nr_events) {
		err = read_event(kernel, kernel->nr_events, &kernel->events[kernel->nr_events]);
		if (err < 0)
			return err == -ENOENT ? 0 : err;
		kernel->nr_events++;
		loop_defer(kernel->recorder->config.loop, &kernel->events_came);
	}
	return 0;
}

int kernel_events_load(struct kernel_domain *kernel)
{
	int err;

	if (kernel->kmod->fd < 0)
		return -ENODEV;
	ksyms_follow(&kernel->ksyms, kernel->kmod->modules);
	err = kernel_event_refresh(kernel);
	return err < 0 ? err : kernel_events_read_new(kernel);
}

void kernel_events_free(struct kernel_domain *kernel)
{
	for (uint32_t i = 0; i < kernel->nr_events; i++) {
		shape_unref(&kernel->recorder->shapes, kernel->events[i].shape);
		free(kernel->events[i].name);
	}
	free(kernel->events);
	kernel->events = NULL;
	kernel->nr_events = 0;
}

/* --- fields ------------------------------------------------------------------------ */

bool kernel_add_field(struct layout *layout, const struct ltt_kmod_field *f)
{
	const struct layout_field field = {
		.name = f->name,
		.kind = f->kind,
		.size_bits = f->size_bits,
		.length_bits = f->length_bits,
		.base = f->base,
		.flags = f->flags,
		.count = f->count,
	};

	return layout_add_field(layout, &field);
}

static const struct label_set *kernel_labels_of(const struct kernel_event *event,
						const struct ltt_kmod_field *f)
{
	bool may_have = f->kind == LTT_KIND_INT || f->kind == LTT_KIND_SEQUENCE;

	return event->flags & LTT_KMOD_SYSCALL && may_have ? labels_of(event->bare, f->name) : NULL;
}

static struct layout *make_layout(const struct kernel_event *event,
				  const struct ltt_kmod_field *fields)
{
	size_t text = (size_t)event->nr_fields * LTT_KMOD_TEXT_MAX;
	const struct label_set *set;
	struct layout *layout;
	uint32_t labels = 0;

	for (uint32_t i = 0; i < event->nr_fields; i++) {
		set = kernel_labels_of(event, &fields[i]);
		labels += set ? set->nr : 0;
		text += set ? labels_text_bytes(set) : 0;
	}
	layout = layout_new(event->nr_fields, labels, text);
	for (uint32_t i = 0; layout && i < event->nr_fields; i++) {
		set = kernel_labels_of(event, &fields[i]);
		if (!kernel_add_field(layout, &fields[i]) || (set && !labels_add(layout, set)))
			layout = layout_free(layout);
	}
	return layout;
}

static struct layout *read_layout(struct kernel_domain *kernel, const struct kernel_event *event)
{
	AUTO_FREE struct ltt_kmod_field *fields =
		xalloc((event->nr_fields + 1) * sizeof(*fields));

	for (uint32_t i = 0; i < event->nr_fields; i++) {
		fields[i] = (struct ltt_kmod_field){ .size = sizeof(fields[i]),
						     .index = event->index,
						     .field = i };
		if (kmod_call(kernel->kmod, kernel->kmod->fd, LTT_KMOD_FIELD, &fields[i]) < 0)
			return NULL;
		fields[i].name[sizeof(fields[i].name) - 1] = '\0';
	}
	return make_layout(event, fields);
}

struct shape *kernel_event_shape(struct kernel_domain *kernel, struct kernel_event *event)
{
	struct shape_facts facts = {
		.name = event->bare,
		.kind = SHAPE_KERNEL,
		.loglevel = SHAPE_NO_LEVEL,
		.format = "",
	};
	const char *why = "has fields that can't be read";

	if (event->shape || event->refused)
		return event->shape;
	facts.layout = event->nr_fields > LAYOUT_MAX_FIELDS ? NULL : read_layout(kernel, event);
	if (facts.layout)
		event->shape = shape_get(&kernel->recorder->shapes, &facts, &why);
	layout_free(facts.layout);
	if (!event->shape)
		log_warn("the kernel's event %s %s; it can't be recorded", event->name, why);
	event->refused = !event->shape;
	return event->shape;
}

/* --- names ------------------------------------------------------------------------- */

/* Samples come at any time, so a pattern of all events does not mean them. */
static bool kernel_pattern_means(const char *pattern, const struct kernel_event *event)
{
	size_t system = (size_t)(event->bare - event->name);

	return !(event->flags & LTT_KMOD_SAMPLED) || strncmp(pattern, event->name, system) == 0 ||
	       strcmp(pattern, event->bare) == 0;
}

/* A pattern with a colon is matched with the whole name. Exclusions match either name. */
bool kernel_rule_names(const struct rule *rule, const struct kernel_event *event)
{
	return kernel_pattern_means(rule->pattern, event) &&
	       glob_match(rule->pattern, strchr(rule->pattern, ':') ? event->name : event->bare) &&
	       !glob_match_list(rule->exclude, event->name) &&
	       !glob_match_list(rule->exclude, event->bare);
}

bool kernel_rule_matches(const struct rule *rule, const struct kernel_event *event)
{
	return rule->kind == RULE_EVENTS && kernel_rule_names(rule, event);
}

bool kernel_wants(const struct channel *channel, const struct kernel_event *event)
{
	const struct rule *rule;

	if (!channel->enabled)
		return false;
	list_for_each(rule, &channel->rules, node)
		if (rule->enabled && kernel_rule_matches(rule, event))
			return true;
	return false;
}

struct kernel_event *kernel_event_find(const struct kernel_domain *kernel, const char *name)
{
	for (uint32_t i = 0; i < kernel->nr_events; i++)
		if (strcmp(kernel->events[i].name, name) == 0 ||
		    strcmp(kernel->events[i].bare, name) == 0)
			return &kernel->events[i];
	return NULL;
}

/* The nearest with or without its system, as in the request. */
static const char *kernel_event_nearest(const struct kernel_domain *kernel, const char *name)
{
	const char **words = xalloc((kernel->nr_events + 1) * sizeof(*words));
	const char *near;

	for (uint32_t i = 0; i < kernel->nr_events; i++)
		words[i] = strchr(name, ':') ? kernel->events[i].name : kernel->events[i].bare;
	near = nearest_word(name, words);
	free(words);
	return near;
}

/* A name that there is not is nearly always a typing error, which would record nothing without a
 * word; so that names of modules to come are patterns. */
static int kernel_event_check(struct kernel_domain *kernel, const struct rule_spec *spec,
			      struct err *err)
{
	const char *near;

	if (!rule_chooses(spec->kind))
		return kernel_check_probe(kernel, spec, err);
	if (rule_counts(spec->kind) && kernel_event_find(kernel, spec->pattern))
		return kernel_check_fields(kernel, spec, err);
	if (glob_is_pattern(spec->pattern) || kernel_event_find(kernel, spec->pattern))
		return 0;
	near = kernel_event_nearest(kernel, spec->pattern);
	return err_set(err, ERR_NO_EVENT,
		       "this kernel has no event '%.100s'; %s%.100s%s use the pattern '%.100s*' for an "
		       "event of a module that is loaded later",
		       spec->pattern, near ? "did you mean '" : "`lttctl list -k` lists them",
		       near ? near : "", near ? "'? Or" : ", or", spec->pattern);
}

/* From addresses of the kernel its place in memory can be computed. */
int kernel_check_samples(const struct kernel_domain *kernel, const struct rule_spec *spec,
			 uint32_t uid, struct err *err)
{
	for (uint32_t i = 0; uid != 0 && i < kernel->nr_events; i++)
		if (kernel->events[i].flags & LTT_KMOD_SAMPLED &&
		    kernel_pattern_means(spec->pattern, &kernel->events[i]))
			return err_set(err, ERR_DENIED,
				       "only root may take samples, which have addresses of the "
				       "kernel (%.60s): run lttctl as root (`sudo lttctl ...`)",
				       kernel->events[i].name);
	return 0;
}

int kernel_check_rule(struct domain_tracer *domain, const struct session *session,
		      const struct rule_spec *spec, struct err *err)
{
	struct kernel_domain *kernel = kernel_of(domain);
	int ret;

	if (*spec->sampling && !kmod_has(kernel->kmod, LTT_KMOD_SAMPLES))
		return err_set(err, ERR_UNSUPPORTED,
			       "the kernel module that is loaded is older than this daemon and "
			       "can't sample events: load that of this release (end the sessions "
			       "that record the kernel, `rmmod ltt`, and start ltt-sessiond "
			       "again), or omit --sample, --rate and --first");
	if (rule_counts(spec->kind) && (*spec->by || (spec->filter && *spec->filter)) &&
	    !kmod_has(kernel->kmod, LTT_KMOD_KEYS))
		return err_set(err, ERR_UNSUPPORTED,
			       "the kernel module that is loaded is older than this daemon and "
			       "counts neither by keys nor with filters: load that of this release "
			       "(end the sessions that record the kernel, `rmmod ltt`, and start "
			       "ltt-sessiond again), or omit --by and --filter");
	ret = kernel_events_load(kernel);
	if (ret < 0)
		return err_errno(err, ERR_INTERNAL, -ret, "the kernel's events can't be listed");
	if (spec->loglevel_type != LOGLEVEL_ALL)
		return err_set(err, ERR_INVALID,
			       "events of the kernel have no log level; omit --loglevel");
	if (session && kernel_check_samples(kernel, spec, session->uid, err))
		return err->code;
	if (kernel_event_check(kernel, spec, err))
		return err->code;
	return kernel_check_filter(kernel, spec, err);
}

static void kernel_filter_add_context(const struct layout_field *context, void *data)
{
	filter_tracer_add(data, context);
}

static struct layout *kernel_filter_named(const struct shape *shape)
{
	return labels_with_results(shape->name, shape->layout);
}

const struct filter_tracer *kernel_filter_tracer(struct kernel_domain *kernel)
{
	struct filter_tracer *tracer = &kernel->filter_tracer;

	tracer->mode = FILTER_INTEGERS;
	tracer->named = kernel_filter_named;
	if (!tracer->nr)
		kernel_each_own_context(kernel, kernel_filter_add_context, tracer);
	return tracer;
}

static bool kernel_filter_records(const struct rule *rule, const void *event)
{
	return rule->enabled && kernel_rule_matches(rule, event);
}

char *kernel_filter_of(const struct channel *channel, const struct kernel_event *event,
		       uint32_t starts)
{
	return channel_filter_by(channel, kernel_filter_records, event, starts);
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
		kernel_tallies_mark(kc);
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
	struct err ignored = { 0 };

	*ret = (struct kernel_filter_search){
		.rule = rule,
		.verdicts = { .tracer = kernel_filter_tracer(kernel), .expression = rule->filter },
	};
	(void)sampling_parse(rule->sampling, &ret->sampling, &ignored);
	ret->verdicts.by = ret->sampling.by;
	if (!*rule->filter && !*ret->sampling.by)
		return;
	if (!rule_chooses(rule->kind)) {
		kernel_filter_judge_probe(kernel, ret);
		return;
	}
	for (uint32_t i = 0; i < kernel->nr_events; i++)
		if (kernel_rule_matches(rule, &kernel->events[i]) ||
		    kernel_stat_matches(kernel, rule, &kernel->events[i]))
			kernel_filter_judge(ret, kernel_event_shape(kernel, &kernel->events[i]));
}

/* --- check of a request ----------------------------------------------------------------- */

/* A name whose events all lack a field of the filter is an error; events of a pattern may come
 * later. */
static int kernel_filter_check_events(struct kernel_domain *kernel, const struct rule_spec *spec,
				      struct err *err)
{
	struct rule *rule = rule_new(spec);
	struct kernel_filter_search search;

	kernel_filter_search(kernel, rule, &search);
	if (kernel_filter_never(&search) && !glob_is_pattern(spec->pattern))
		err_set(err, ERR_INVALID, "%s of event %.100s, column %u: %s",
			search.first->of_key ? "field" : "filter", spec->pattern,
			search.first->column, search.first->why);
	filter_verdicts_fini(&search.verdicts);
	rule_free(rule);
	return err->code;
}

int kernel_check_filter(struct kernel_domain *kernel, const struct rule_spec *spec, struct err *err)
{
	bool filters = spec->filter && *spec->filter;

	if (!filters && !(spec->sampling && *spec->sampling))
		return 0;
	if (filters && filter_check_syntax(kernel_filter_tracer(kernel), spec->filter, err))
		return err->code;
	return kernel_filter_check_events(kernel, spec, err);
}
