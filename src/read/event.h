/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event.h - iterates over the events of a view, for printers and tests; users of a
 * view need only view.h.
 */
#ifndef READ_EVENT_H
#define READ_EVENT_H

#include "base/macros.h"
#include "pairs.h"
#include "source.h"
#include "task.h"
#include "view.h"

/**
 * struct event - one decoded event; valid until the next one is read.
 * @stream_context, @context, @fields: a struct's value, behind which its members
 *      lie in order, compounds before their members; NULL: there is none.
 * @took: the duration that it ends (view_select.pairs); NULL: it ends none.
 * @task: the members of both contexts that identify the thread.
 * @bases: of event_locate(), in place of all values; NULL: it has them.
 */
struct event {
	const struct source *source;
	struct ctf_event_class *ec;
	struct packet *packet;
	int64_t ns;
	const struct value *stream_context;
	const struct value *context;
	const struct value *fields;
	const struct took *took;
	struct task task;
	const uint8_t *const *bases;
};

/** Without values. */
static inline void event_init(struct event *event, const struct source *source,
			      struct ctf_event_class *ec, struct packet *packet, int64_t ns)
{
	event->source = source;
	event->ec = ec;
	event->packet = packet;
	event->ns = ns;
	event->stream_context = event->context = event->fields = NULL;
	event->took = NULL;
	event->bases = NULL;
	event->task.procname = event->task.pid = event->task.tid = NULL;
}

/** Seconds and nanoseconds of a time that may be negative. */
static inline int64_t seconds_of(int64_t ns)
{
	return ns / 1000000000 - (ns % 1000000000 < 0);
}

static inline uint32_t nanos_of(int64_t ns)
{
	return (uint32_t)(ns - seconds_of(ns) * 1000000000);
}

/** The time between two events; 0: they are not in this order, or the clock went back. */
static inline uint64_t event_ns_between(int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/** view_each_class() - call @fn with each event class that the traces of a view declare. */
void view_each_class(const struct view *view,
		     void (*fn)(void *priv, const struct ctf_event_class *ec), void *priv);

/** Whether events that a trace of the view declares have a context of this name. */
bool view_has_context(const struct view *view, const char *name);

/**
 * event_next() - the next selected event of all streams.
 * @event: result; NULL: the event is only counted.
 * Return: 1; 0: there are no more events; negative errno: no memory.
 */
int event_next(struct view *view, const struct view_select *select, struct event *event) MUST_CHECK;

/** event_decode() - decode the event that event_next() returned or counted last.
 *  Return: 1; 0: it can't be decoded after all; negative errno. */
int event_decode(struct view *view, const struct view_select *select, struct event *event)
	MUST_CHECK;

/** event_task_bytes() - the bytes of the event that event_next() returned last from the first value
 *  of struct task to the last one, valid until it is decoded. Equal bytes of events with the same
 *  ec->task_layout are equal values. Return: NULL: their places differ from event to event. */
const uint8_t *event_task_bytes(const struct view *view, size_t *ret_len);

#define EVENT_UNPLANNED 2

/** event_pick_new() - a pick of some values of @event, which is decoded, for event_pick() with
 *  other events of its class. @wanted: the values, in their order. Return: to be freed with free();
 *  NULL: these events can't be decoded in part. */
struct plan_pick *event_pick_new(const struct event *event, const struct value *const *wanted,
				 uint32_t nr);

/** event_pick() - decode these values of the event that event_next() returned last, with
 *  view_select.brief. Return: as event_decode(); EVENT_UNPLANNED: all of it has to be decoded. */
int event_pick(struct view *view, const struct plan_pick *pick, struct value *values) MUST_CHECK;

/** event_locate() - find the values of the event that event_next() returned last, for
 *  plan_place(). @skipped: of its class, or of one that is alike. @bases: PLAN_BASES addresses.
 *  Return: as event_pick(). */
int event_locate(struct view *view, const struct plan_pick *skipped, const uint8_t **bases)
	MUST_CHECK;

/** event_position() - a number of the event that event_next() returned last: the same in each
 *  reading of the same files, whatever is selected. 0: it returned none. */
uint64_t event_position(const struct view *view);

#endif
