/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where.h - the events for which an expression holds: view_select.where. The language is that of
 * event filters: it is compiled by their compiler and run by their interpreter, on a payload that
 * is made of the decoded values.
 */
#ifndef READ_WHERE_H
#define READ_WHERE_H

#include "event.h"
#include "filter/program.h"

struct where_class;

/**
 * struct where - owned by a view.
 * @classes: the programs so far, one for each class of events.
 * @payload: the fields of the current event that the expression names, as a tracer would write
 *           them; @len, @size: bytes. @contexts: its contexts.
 */
struct where {
	struct where_class *classes;
	uint8_t *payload;
	size_t len, size;
	struct ltt_filter_value contexts[LTT_FILTER_CONTEXTS_MAX];
};

void where_fini(struct where *where);

/** Whether the expression, which view_check_where() accepts, holds for an event; @ec: its class.
 *  A field or context that the event lacks makes it false. */
bool where_holds(struct where *where, const char *expression, struct ctf_event_class *ec,
		 const struct event *event);

#define WHERE_UNKNOWN 2

/** where_picked_holds() - the same for the current event of @feed, of which only the values that
 *  the expression names are decoded. Return: 1: it holds; 0: it does not, or the event can't be
 *  decoded; WHERE_UNKNOWN: all of the event has to be decoded; negative errno. */
int where_picked_holds(struct where *where, struct feed *feed) MUST_CHECK;

/** Why the expression could not hold for any event so far, with the column; NULL: it could. */
const char *where_never(const struct where *where);

#endif
