/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter.h - compiles the expression of an event filter for one event's layout.
 *
 * The language is that of LTTng's filters (bitwise operators bind tighter than relations, `*` in
 * a text is a pattern, $ctx.NAME, $app.PROVIDER:NAME, a[N]) and besides: + - * / %, in (1, "x"),
 * order of texts, =~ for a part of a text, units (5ms, 64k), len(x), labels of enumerations.
 * Keeps no state; the result belongs to its caller. The programs are those of abi/ltt_filter.h.
 */
#ifndef EXPRESSION_FILTER_H
#define EXPRESSION_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/program.h"
#include "trace/layout.h"

#define FILTER_DURATION "duration" /* a context that only readers of traces have: $duration */
#define FILTER_MAX_BYTES 4096u /* of an expression */

/** FILTER_INTEGERS may be added: the interpreter has no floating point. */
enum filter_mode {
	FILTER_LENIENT = 0, /* an expression that cannot hold for this layout is no error */
	FILTER_STRICT = 1,
	FILTER_INTEGERS = 2
};

enum filter_status {
	FILTER_COMPILED,
	FILTER_NEVER,  /* lenient mode: a field, context, label or element is absent */
	FILTER_INVALID /* the expression is wrong for every layout, or for this one */
};

/**
 * struct filter_context - a value that the tracer supplies at a run.
 * @name: "ctx.vpid" for $ctx.vpid, "app.P:N" for $app.P:N, FILTER_DURATION.
 * @kind: LTT_FILTER_ABSENT: the type is known only when the program runs; the program expects the
 *        type of the other operand, and a text as a key.
 * @number: its index among the values that a run receives.
 */
struct filter_context {
	const char *name;
	enum ltt_filter_kind kind;
	uint16_t number; /* less than LTT_FILTER_CONTEXTS_MAX */
};

/**
 * struct filter_ending - sampling of the events for which the expression holds.
 * @one_in: one event of this many is recorded; 0: all.
 * @by: field or context whose value decides; NULL: a count of the events decides.
 * @number: identifies that count; programs with the same number share it.
 * @interval: ticks of @clock for each event that is recorded; 0: no limit of the rate.
 * @burst: events that may be recorded at once within that rate.
 * @first: events that are recorded after each start of the session; 0: no limit.
 * @start: counts the starts of the session.
 * @word: index of the shared word that @interval uses; @first uses the next one.
 */
struct filter_ending {
	uint32_t one_in;
	const char *by;
	uint16_t number;
	uint16_t word;
	uint64_t interval;
	uint32_t burst;
	uint8_t clock;
	uint64_t first;
	uint32_t start;
};

/** struct filter_result - @column counts bytes from 1; @text is the reason, without the column. */
struct filter_result {
	enum filter_status status;
	struct ltt_filter *program; /* NULL unless FILTER_COMPILED with a layout */
	size_t bytes;
	bool in_ending; /* @column is one of ending->by, not of the expression */
	uint32_t column;
	char text[400];
};

/**
 * filter_compile() - compile for an event.
 * @layout: the fields in payload order; NULL: fields may have any type; check the syntax, constants
 *	and operators, and make no program; @ret_result->bytes is an estimate from above.
 * @contexts: @nr_contexts of them; may be NULL if that is 0.
 *
 * Return: @ret_result->status. The program is valid to ltt_filter_verify().
 */
enum filter_status filter_compile(const char *expression, const struct layout *layout,
				  const struct filter_context *contexts, size_t nr_contexts,
				  enum filter_mode mode, struct filter_result *ret_result);

/** filter_compile() with sampling. @ending: NULL: none. @expression: "" holds for all events. */
enum filter_status filter_compile_ending(const char *expression, const struct filter_ending *ending,
					 const struct layout *layout,
					 const struct filter_context *contexts, size_t nr_contexts,
					 enum filter_mode mode, struct filter_result *ret_result);

void filter_result_fini(struct filter_result *result);

/** "column 5: REASON", the expression, and a line with a caret below that column. */
void filter_explain(const char *expression, const struct filter_result *result, char *buf,
		    size_t len);

#endif
