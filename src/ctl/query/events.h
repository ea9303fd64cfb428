/* SPDX-License-Identifier: GPL-2.0-only */
/* events.h - the tables of the events of a trace: of all, and of each name. */
#ifndef CTL_QUERY_EVENTS_H
#define CTL_QUERY_EVENTS_H

#include "show/pen.h"
#include "table.h"

struct event;
struct value;
struct view;

/** Add the tables that the traces of a view declare. */
void query_events_add(struct query *query, const struct view *view);

/** The cell of a column. @pen: for texts that are made; valid until it is used again. */
struct query_cell query_events_cell(struct query_column *column, const struct event *event,
				    struct pen *pen);
/** query_events_find_value() - the value that the cell of a column has; NULL: there is none. */
const struct value *query_events_find_value(struct query_column *column, const struct event *event);
/** The cell of a column with this value. @pen: as query_events_cell(). */
struct query_cell query_events_cell_of(const struct query_column *column, const struct value *value,
				       struct pen *pen);
/** The cell of a column without a value; but for times and processors, that of all events of a
 *  class. */
struct query_cell query_events_cell_without(const struct query_column *column,
					    const struct event *event);
/** The cell of a field. @number: of an enumeration, the number. */
struct query_cell query_events_value(const struct value *value, bool number, struct pen *pen);

#endif
