/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "recording.h"
#include "sessiond/core/channel.h"
#include "sessiond/core/class.h"
#include "sessiond/core/sampling.h"
#include "trace/clock.h"

#define FILTER_PROVIDED "$app."
#define SWEEP_AT 1024u	 /* filters; then at twice those in use */
#define MAX_BYTES 32768u /* of programs: one message has them, and armings besides */

_Static_assert(FILTER_MAX_CONTEXTS == LTT_FILTER_CONTEXTS_MAX, "a bit of 64 for each");

static enum ltt_filter_kind filter_kind(const struct layout_field *context)
{
	if (context->kind == LTT_KIND_STRING || context->flags & LTT_FIELD_TEXT)
		return LTT_FILTER_TEXT;
	return context->kind == LTT_KIND_INT ? LTT_FILTER_INTEGER : LTT_FILTER_ABSENT;
}

static void filter_tracer_append(struct filter_tracer *tracer, const char *name,
				 enum ltt_filter_kind kind)
{
	char *own = tracer->names[tracer->nr];

	if (tracer->nr == FILTER_MAX_CONTEXTS || strlen(name) >= FILTER_CONTEXT_BYTES)
		return;
	memcpy(own, name, strlen(name) + 1);
	tracer->contexts[tracer->nr] = (struct filter_context){
		.name = own,
		.kind = kind,
		.number = tracer->nr,
	};
	tracer->nr++;
}

void filter_tracer_add(struct filter_tracer *tracer, const struct layout_field *context)
{
	char *name AUTO_FREE = xasprintf("ctx.%s", context->name);

	if (filter_kind(context) != LTT_FILTER_ABSENT)
		filter_tracer_append(tracer, name, filter_kind(context));
}

/* --- contexts that applications provide -------------------------------------------- */

static bool filter_tracer_has(const struct filter_tracer *tracer, const char *name)
{
	for (uint16_t i = 0; i < tracer->nr; i++)
		if (strcmp(tracer->names[i], name) == 0)
			return true;
	return false;
}

/* @name: $app.PROVIDER:NAME; its type is known to the application alone. */
static void filter_tracer_add_provided(struct filter_tracer *tracer, const char *name, size_t len)
{
	char *own AUTO_FREE = xasprintf("%.*s", (int)len - 1, name + 1);

	if (tracer->provided(name, len) && !filter_tracer_has(tracer, own))
		filter_tracer_append(tracer, own, LTT_FILTER_ABSENT);
}

/* Those that @text names. */
static void filter_tracer_provide(struct filter_tracer *tracer, const char *text)
{
	if (!tracer->provided)
		return;
	while ((text = strstr(text, FILTER_PROVIDED))) {
		size_t len = strlen(FILTER_PROVIDED);

		len += strspn(text + len, FILTER_WORD);
		if (text[len] == ':')
			len += 1 + strspn(text + len + 1, FILTER_WORD);
		filter_tracer_add_provided(tracer, text, len);
		text += len;
	}
}

/* A tracer for @text alone; memory of the caller. The names of other contexts are in @tracer. */
static struct filter_tracer *filter_tracer_for(const struct filter_tracer *tracer, const char *text)
{
	struct filter_tracer *own = xalloc(sizeof(*own));

	*own = *tracer;
	filter_tracer_provide(own, text);
	return own;
}

/* --- compilation ------------------------------------------------------------------- */

static enum filter_status domain_filter_compile(const struct filter_tracer *tracer,
						const char *expression,
						const struct filter_ending *ending,
						const struct layout *layout, unsigned int mode,
						struct filter_result *ret)
{
	return filter_compile_ending(expression, ending, layout, tracer->contexts, tracer->nr,
				     (enum filter_mode)(mode | tracer->mode), ret);
}

static enum filter_status filter_compile_shape(const struct filter_tracer *tracer,
					       const char *expression,
					       const struct filter_ending *ending,
					       const struct shape *shape, unsigned int mode,
					       struct filter_result *ret)
{
	struct layout *named = tracer->named ? tracer->named(shape) : NULL;
	enum filter_status status =
		domain_filter_compile(tracer, expression, ending, named ? named : shape->layout,
				      mode, ret);

	layout_free(named);
	return status;
}

int filter_check_syntax(const struct filter_tracer *tracer, const char *expression, struct err *err)
{
	struct filter_result result;
	int code = 0;

	if (domain_filter_compile(tracer, expression, NULL, NULL, FILTER_STRICT, &result) !=
	    FILTER_COMPILED)
		code = err_set(err, ERR_INVALID, "filter, column %u: %s", result.column,
			       result.text);
	filter_result_fini(&result);
	return code;
}

/* A program for some layout, estimated from above. */
static size_t filter_estimate_rule(const struct filter_tracer *tracer, const char *expression)
{
	struct filter_result result;
	size_t bytes;

	(void)domain_filter_compile(tracer, *expression ? expression : "1", NULL, NULL,
				    FILTER_LENIENT, &result);
	bytes = result.bytes;
	filter_result_fini(&result);
	return bytes;
}

static bool filter_joins(const struct rule *rule, const struct rule_spec *spec)
{
	return !rule_counts(rule->kind) && (*rule->filter || *rule->sampling) &&
	       !rule_is(rule, spec) && rule_patterns_meet(rule->pattern, spec->pattern);
}

/* Add the rule to @bytes, if it is for the same events. */
static int filter_add_rule(const struct filter_tracer *tracer, const struct channel *channel,
			   const struct rule *rule, const struct rule_spec *spec, size_t *bytes,
			   struct err *err)
{
	if (!filter_joins(rule, spec))
		return 0;
	*bytes += filter_estimate_rule(tracer, rule->filter);
	return *bytes <= MAX_BYTES ?
		       0 :
		       err_set(err, ERR_LIMIT,
			       "the filters of all rules for events '%.100s' in channel '%s' would "
			       "be longer than %u bytes together: join them in one rule, or use "
			       "another channel (--channel)",
			       spec->pattern, channel->name, MAX_BYTES);
}

int filter_check_room(const struct filter_tracer *tracer, const struct channel *channel,
		      const struct rule_spec *spec, struct err *err)
{
	const char *filter = spec->filter ? spec->filter : "";
	const struct rule *rule;
	struct rule_walk walk;
	size_t bytes;

	if (rule_counts(spec->kind) || (!*filter && !(spec->sampling && *spec->sampling)))
		return 0;
	bytes = filter_estimate_rule(tracer, filter);
	if (strpbrk(spec->pattern, "*\\")) {
		list_for_each(rule, &channel->rules, node)
			if (filter_add_rule(tracer, channel, rule, spec, &bytes, err))
				return err->code;
		return 0;
	}
	rule_walk_begin(&walk, channel, spec->pattern);
	while ((rule = rule_walk_next(&walk)))
		if (filter_add_rule(tracer, channel, rule, spec, &bytes, err))
			return err->code;
	return 0;
}

/* --- sampling ---------------------------------------------------------------------- */

/* A part of one line of channel_filter(). Return: the text behind its tab, or "". */
static char *event_filter_cut(char *at)
{
	at += strcspn(at, "\t");
	if (*at)
		*at++ = '\0';
	return at;
}

/* FNV-1a: events of equal names are sampled together. */
static uint16_t event_filter_number(const char *name)
{
	uint32_t hash = 0x811c9dc5u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x01000193u;
	return (uint16_t)(hash >> 16 ^ hash);
}

/* As many at once as come in a second, so that a program below the rate is recorded whole. */
static void event_filter_set_rate(struct filter_ending *ending, uint32_t rate,
				  const struct clock_facts *clock)
{
	uint64_t hz = clock->kind == LTT_CLOCK_CYCLES ? clock->freq_hz : 1000000000u;

	ending->interval = rate ? MAX((hz + rate - 1) / rate, 1u) : 0;
	ending->burst = MIN(rate, (1u << 20) - 1);
	ending->clock = (uint8_t)clock->kind;
}

static struct filter_ending event_filter_ending(const struct event_filters *filters,
						const struct shape *shape,
						const struct sampling *sampling,
						const char *numbers)
{
	struct filter_ending ending = {
		.one_in = sampling->one_in,
		.by = *sampling->by ? sampling->by : NULL,
		.number = event_filter_number(shape->name),
		.first = sampling->first,
	};
	char *rest;

	ending.word = (uint16_t)(2 * strtoul(numbers, &rest, 10));
	ending.start = (uint32_t)strtoul(rest, NULL, 10) & 0xffffffu;
	event_filter_set_rate(&ending, sampling->rate, filters->clock);
	return ending;
}

/* --- verdicts ---------------------------------------------------------------------- */

static int filter_verdict_compare(const void *a, const void *b)
{
	const struct filter_verdict *x = a, *y = b;

	return (x->shape > y->shape) - (x->shape < y->shape);
}

static struct filter_verdict *filter_verdict_make(const struct filter_verdicts *verdicts,
						  const struct shape *shape)
{
	const char *by = verdicts->by && *verdicts->by ? verdicts->by : NULL;
	struct filter_tracer *tracer AUTO_FREE =
		filter_tracer_for(verdicts->tracer, verdicts->expression);
	const struct filter_ending ending = { .one_in = !!by, .by = by };
	struct filter_verdict *verdict = xalloc(sizeof(*verdict));
	struct filter_result result;

	if (by)
		filter_tracer_provide(tracer, by);
	verdict->shape = shape;
	if (filter_compile_shape(tracer, verdicts->expression, &ending, shape, FILTER_STRICT,
				 &result) != FILTER_COMPILED) {
		verdict->column = result.column;
		verdict->why = xstrdup(result.text);
		verdict->of_key = result.in_ending;
	}
	filter_result_fini(&result);
	return verdict;
}

const struct filter_verdict *filter_verdict_get(struct filter_verdicts *verdicts,
						const struct shape *shape, bool *ret_first)
{
	const struct filter_verdict key = { .shape = shape };
	struct filter_verdict **found = tfind(&key, &verdicts->by_shape, filter_verdict_compare);
	struct filter_verdict *made;

	if (ret_first)
		*ret_first = !found;
	if (found)
		return *found;
	made = filter_verdict_make(verdicts, shape);
	if (!tsearch(made, &verdicts->by_shape, filter_verdict_compare))
		abort(); /* no memory, as xalloc() */
	return made;
}

static void filter_verdict_free(void *verdict)
{
	free(((struct filter_verdict *)verdict)->why);
	free(verdict);
}

void filter_verdicts_fini(struct filter_verdicts *verdicts)
{
	tdestroy(verdicts->by_shape, filter_verdict_free);
	verdicts->by_shape = NULL;
}

/* --- programs ---------------------------------------------------------------------- */

static bool event_filter_reads_context(const struct ltt_filter_insn *in)
{
	bool text = in->op == LTT_FILTER_TEST_TEXT || in->op == LTT_FILTER_TEST_HELD ||
		    in->op == LTT_FILTER_HOLD || in->op == LTT_FILTER_LENGTH;

	return in->op == LTT_FILTER_CONTEXT || (text && in->type == LTT_FILTER_TEXT_CONTEXT);
}

/* Contexts that a program uses: bits by their numbers. */
static uint64_t event_filter_used(const struct ltt_filter *program)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < program->head.nr_insns; i++)
		if (event_filter_reads_context(&program->insns[i]))
			used |= 1ull << program->insns[i].offset;
	return used;
}

/* The tracer reads only contexts that are used. */
static void event_filter_renumber(struct ltt_filter *program, uint64_t used)
{
	for (uint32_t i = 0; i < program->head.nr_insns; i++) {
		struct ltt_filter_insn *in = &program->insns[i];

		if (event_filter_reads_context(in))
			in->offset =
				(uint16_t)__builtin_popcountll(used & ((1ull << in->offset) - 1));
	}
	program->head.nr_contexts = (uint16_t)__builtin_popcountll(used);
}

static char *event_filter_context_names(const struct filter_tracer *tracer, uint64_t used)
{
	char *names = xstrdup("");

	for (uint32_t i = 0; i < tracer->nr; i++) {
		AUTO_FREE char *before = names;
		bool is_provided = tracer->contexts[i].kind == LTT_FILTER_ABSENT;

		names = used >> i & 1 ?
				xasprintf("%s%s%s%s", before, *before ? "," : "",
					  is_provided ? "$" : "",
					  tracer->names[i] + (is_provided ? 0 : strlen("ctx."))) :
				xstrdup(before);
	}
	return names;
}

static void event_filter_append(struct event_filter *f, const struct filter_result *result)
{
	size_t padded = ltt_filter_padded(result->program);

	f->programs = xrealloc(f->programs, f->len + padded);
	memset(f->programs + f->len, 0, padded);
	memcpy(f->programs + f->len, result->program, result->bytes);
	f->len += padded;
}

static void event_filter_renumber_all(struct event_filter *f, uint64_t used)
{
	for (size_t at = 0; at < f->len;) {
		struct ltt_filter *program = (void *)(f->programs + at);

		event_filter_renumber(program, used);
		at += ltt_filter_padded(program);
	}
}

static void event_filter_unlabel(struct event_filter *f)
{
	free(f->label);
	f->label = NULL;
	f->samples = false;
}

/* A reader can scale the number of events only where one rule alone records them. */
static void event_filter_label(struct event_filter *f, const char *sampling)
{
	bool others = f->len;

	f->samples = f->samples || *sampling;
	if (!f->samples || (f->label && !others))
		return;
	free(f->label);
	f->label = xstrdup(others ? "by several rules" : sampling);
}

/* One line. */
static enum filter_status event_filter_compile(const struct event_filters *filters,
					       const struct filter_tracer *tracer,
					       struct event_filter *f, char *line,
					       struct filter_result *ret)
{
	char *text = event_filter_cut(line), *numbers = event_filter_cut(text);
	struct err ignored = { 0 };
	struct filter_ending ending;
	struct sampling sampling;
	enum filter_status status;

	(void)sampling_parse(text, &sampling, &ignored);
	ending = event_filter_ending(filters, f->shape, &sampling, numbers);
	status = filter_compile_shape(tracer, line, &ending, f->shape, FILTER_LENIENT, ret);
	if (status == FILTER_COMPILED)
		event_filter_label(f, text);
	return status;
}

static void event_filter_make(const struct event_filters *filters, struct event_filter *f)
{
	char *expressions AUTO_FREE = xstrdup(f->expressions);
	struct filter_tracer *tracer AUTO_FREE = filter_tracer_for(filters->tracer, expressions);
	uint64_t used = 0;
	char *rest;

	for (char *one = strtok_r(expressions, "\n", &rest); one;
	     one = strtok_r(NULL, "\n", &rest)) {
		struct filter_result result;

		if (event_filter_compile(filters, tracer, f, one, &result) == FILTER_COMPILED) {
			used |= event_filter_used(result.program);
			event_filter_append(f, &result);
		}
		filter_result_fini(&result);
	}
	f->never = !f->len;
	if (f->len > MAX_BYTES) {
		event_filter_unlabel(f);
		log_warn_some(
			"the filters of all rules for event '%s' are longer than %u bytes: each "
			"event is recorded",
			f->shape->name, MAX_BYTES);
		f->len = 0;
	}
	event_filter_renumber_all(f, used);
	f->contexts = event_filter_context_names(tracer, used);
}

/* --- filters of a session ------------------------------------------------------------ */

static int event_filter_compare(const void *a, const void *b)
{
	const struct event_filter *x = a, *y = b;

	if (x->shape != y->shape)
		return x->shape < y->shape ? -1 : 1;
	return strcmp(x->expressions, y->expressions);
}

static void event_filter_free(struct event_filters *filters, struct event_filter *f)
{
	tdelete(f, &filters->by_key, event_filter_compare);
	list_remove(&f->node);
	filters->nr--;
	shape_unref(filters->shapes, f->shape);
	free(f->expressions);
	free(f->programs);
	free(f->contexts);
	free(f->label);
	free(f);
}

void event_filters_init(struct event_filters *filters, const struct filter_tracer *tracer,
			struct shapes *shapes, const struct clock_facts *clock)
{
	*filters = (struct event_filters){ .tracer = tracer, .shapes = shapes, .clock = clock };
	list_init(&filters->all);
}

void event_filters_fini(struct event_filters *filters)
{
	struct event_filter *f, *tmp;

	list_for_each_safe(f, tmp, &filters->all, node)
		event_filter_free(filters, f);
}

struct event_filter *event_filter_get(struct event_filters *filters, struct shape *shape,
				      const char *expressions)
{
	struct event_filter *f = xalloc(sizeof(*f));
	struct event_filter **found;

	f->shape = shape;
	f->expressions = xstrdup(expressions);
	found = tsearch(f, &filters->by_key, event_filter_compare);
	if (!found)
		abort(); /* no memory, as xalloc() */
	if (*found != f) {
		free(f->expressions);
		free(f);
		return *found;
	}
	shape_ref(shape);
	event_filter_make(filters, f);
	list_append(&filters->all, &f->node);
	filters->nr++;
	return f;
}

char *event_filter_remark(enum metadata_form form, const struct event_filter *filter)
{
	const char *label = filter ? filter->label : NULL;
	char *note = label ? metadata_event_note(form, label) : NULL;

	return note ? note : xstrdup("");
}

char *event_filter_describe(const struct trace_channel *channel, const struct event_class *class,
			    const struct event_filter *filter)
{
	enum metadata_form form = recording_form(channel->trace->rec);
	uint32_t number = channel->channel->number;
	char *event AUTO_FREE = metadata_event(form, number, class->id, class->shape->body);
	char *remark AUTO_FREE = NULL;

	if (filter && filter->label)
		remark = metadata_remark(form, metadata_sampled(number, class->id, filter->label));
	return xasprintf("%s%s", event ? event : "", remark ? remark : "");
}

bool event_filters_sweep_due(struct event_filters *filters)
{
	struct event_filter *f;

	if (filters->nr < MAX(filters->sweep_at, SWEEP_AT))
		return false;
	list_for_each(f, &filters->all, node)
		f->used = false;
	return true;
}

void event_filters_sweep(struct event_filters *filters)
{
	struct event_filter *f, *tmp;

	list_for_each_safe(f, tmp, &filters->all, node)
		if (!f->used)
			event_filter_free(filters, f);
	filters->sweep_at = 2 * filters->nr;
}
