/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - filters of events, for all tracers: the expressions of the rules that match an event,
 * compiled for its fields. An event is recorded if one of them holds, and the sampling of that rule
 * selects it.
 *
 * A session keeps a filter as long as it is used, since many events have the same shape. Runs on
 * the daemon's loop.
 */
#ifndef DOMAIN_REC_FILTER_H
#define DOMAIN_REC_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sessiond/core/shape.h"
#include "expression/filter.h"
#include "trace/metadata.h"

struct channel;
struct clock_facts;
struct event_class;
struct rule_spec;
struct trace_channel;

#define FILTER_MAX_CONTEXTS 64u /* LTT_FILTER_CONTEXTS_MAX */
#define FILTER_CONTEXT_BYTES 112u

/** The characters of a name in an expression. */
#define FILTER_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/** The abilities of a tracer's interpreter. @mode: FILTER_INTEGERS or 0. @provided: whether a name
 *  is a valid $app.PROVIDER:NAME; NULL: there are no such contexts. @named: the layout of a shape,
 *  allocated, with labels that values have in filters alone; NULL, also its result: none. */
struct filter_tracer {
	struct filter_context contexts[FILTER_MAX_CONTEXTS];
	char names[FILTER_MAX_CONTEXTS][FILTER_CONTEXT_BYTES];
	uint16_t nr;
	unsigned int mode;
	bool (*provided)(const char *name, size_t len);
	struct layout *(*named)(const struct shape *shape);
};

/** Add a context; it is ignored if it is neither an integer nor a text. */
void filter_tracer_add(struct filter_tracer *tracer, const struct layout_field *context);

/** Return: 0 or the code set in @err, with the column. */
int filter_check_syntax(const struct filter_tracer *tracer, const char *expression,
			struct err *err);

/** Whether a rule's filter fits into a channel beside those of other rules for the same events: one
 *  event's filters have a limit. Not exact, since layouts are not known yet, but large enough.
 *  Return: 0 or the code set in @err. */
int filter_check_room(const struct filter_tracer *tracer, const struct channel *channel,
		      const struct rule_spec *spec, struct err *err);

struct event_filter {
	struct list_node node;
	struct shape *shape;
	char *expressions; /* as channel_filter() returns them */
	bool never;	   /* none of them can hold for this shape: its events are not recorded */
	bool used;	   /* set by the owner; see event_filters_sweep() */
	uint8_t *programs; /* in sequence, each padded to 8 bytes */
	size_t len;
	char *contexts; /* contexts that the programs use; comma-separated */
	bool samples;
	char *label; /* description of the sampling for the metadata; NULL: none */
};

/** The filters of a session. */
struct event_filters {
	const struct filter_tracer *tracer;
	struct shapes *shapes;
	const struct clock_facts *clock; /* of the session, for rates */
	void *by_key;			 /* tsearch: struct event_filter */
	struct list_node all;		 /* struct event_filter */
	uint32_t nr, sweep_at;		 /* a sweep is due when @nr reaches @sweep_at */
};

void event_filters_init(struct event_filters *filters, const struct filter_tracer *tracer,
			struct shapes *shapes, const struct clock_facts *clock);
void event_filters_fini(struct event_filters *filters);

/** @expressions: as channel_filter() returns them, not empty. The filter belongs to @filters. */
struct event_filter *event_filter_get(struct event_filters *filters, struct shape *shape,
				      const char *expressions);
/** How its events are sampled, behind the fields of their class; "": not at all. To be freed. */
char *event_filter_remark(enum metadata_form form, const struct event_filter *filter);
/** The metadata of a new class of such events. @filter: NULL: none. */
char *event_filter_describe(const struct trace_channel *channel, const struct event_class *class,
			    const struct event_filter *filter);
/** Return: whether there are so many filters that a sweep is due; the `used` marks are then
 *  cleared. */
bool event_filters_sweep_due(struct event_filters *filters);
/** Free filters that are not marked as used. */
void event_filters_sweep(struct event_filters *filters);

/** Whether an expression can hold for events of shapes; each shape is examined once, as many
 *  events share one. Set the first two, and release it by filter_verdicts_fini(). */
struct filter_verdicts {
	const struct filter_tracer *tracer;
	const char *expression;
	const char *by; /* field of "1/N by FIELD"; NULL or empty: none */
	void *by_shape; /* tsearch; struct filter_verdict */
};

struct filter_verdict {
	const struct shape *shape;
	uint32_t column; /* from 1; 0: it can hold */
	char *why;	 /* the reason why it can't hold */
	bool of_key;	 /* the column is in @by, not in the expression */
};

/** @ret_first: whether the shape was not requested before; may be NULL. */
const struct filter_verdict *filter_verdict_get(struct filter_verdicts *verdicts,
						const struct shape *shape, bool *ret_first);
void filter_verdicts_fini(struct filter_verdicts *verdicts);

#endif
