/* SPDX-License-Identifier: GPL-2.0-only */
/* filter_event.h - the event and the contexts that all tests of filters use. */
#ifndef TESTS_FILTER_EVENT_H
#define TESTS_FILTER_EVENT_H

#include <string.h>

#include "../check.h"
#include "expression/filter.h"

/** An event's fields as libltt lays them out. */
struct filter_event {
	struct layout *layout;
	uint8_t bytes[512];
	size_t length;
};

/** Make an event with a field of every kind. */
void filter_event_make(struct filter_event *event);

/** The contexts that expressions may name, and their values. */
extern const struct filter_context filter_event_contexts[5];
extern const struct ltt_filter_value filter_event_values[5];

/** filter_compile() for the event and the contexts that all tests share. */
enum filter_status filter_event_compile(const struct filter_event *event, const char *expression,
					enum filter_mode mode, struct filter_result *ret_result);

/** Call @fn for each line of data/filter.cases: a result (see filter_cases.c), and an expression
 *  for the event of filter_event_make(). Return: the number of lines. */
uint32_t filter_event_cases(void (*fn)(const char *expected, const char *expression));

/** Run a compiled program on a payload in memory of exactly its size. Return: its verdict. */
bool filter_event_run(const struct filter_result *result, const uint8_t *bytes, size_t length);

#endif
