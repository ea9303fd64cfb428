/* SPDX-License-Identifier: GPL-2.0-only */
#include "parts.h"

#include <string.h>

#include "read/event.h"
#include "sched.h"

void parts_begin(struct parts *parts, uint64_t tid, int64_t from_ns)
{
	*parts = (struct parts){ .tid = tid, .since_ns = from_ns, .state = PARTS_RUNNING };
}

static void parts_slept(struct parts *parts, uint64_t ns)
{
	uint32_t i = 0;

	while (i < parts->nr_calls && strcmp(parts->calls[i].name, parts->call) != 0)
		i++;
	if (i == PARTS_CALLS)
		return;
	if (i == parts->nr_calls)
		parts->calls[parts->nr_calls++].name = parts->call;
	parts->calls[i].asleep_ns += ns;
}

static void parts_change(struct parts *parts, int64_t ns, enum parts_state state)
{
	uint64_t took = event_ns_between(parts->since_ns, ns);

	parts->ns[parts->state] += took;
	if (parts->state == PARTS_ASLEEP && parts->call)
		parts_slept(parts, took);
	parts->state = state;
	parts->since_ns = ns;
}

static void parts_take_sched(struct parts *parts, const struct event *event,
			     const struct sched_action *action)
{
	if (action->kind == SCHED_SWITCH && action->prev && action->prev->u == parts->tid)
		parts_change(parts, event->ns, action->preempted ? PARTS_RUNNABLE : PARTS_ASLEEP);
	else if (!action->next || action->next->u != parts->tid)
		return;
	else if (action->kind == SCHED_SWITCH)
		parts_change(parts, event->ns, PARTS_RUNNING);
	else if (parts->state == PARTS_ASLEEP)
		parts_change(parts, event->ns, PARTS_RUNNABLE);
}

void parts_take(struct parts *parts, const struct event *event)
{
	const struct sched_action action = sched_action_of(event);
	const char *call;

	if (action.kind != SCHED_NONE)
		parts_take_sched(parts, event, &action);
	else if (event->task.tid && event->task.tid->u == parts->tid &&
		 (call = sched_call_of(event)))
		parts->call = *call ? call : NULL;
}

void parts_end(struct parts *parts, int64_t until_ns)
{
	parts_change(parts, until_ns, parts->state);
}

const struct parts_call *parts_longest(const struct parts *parts)
{
	const struct parts_call *longest = NULL;

	for (uint32_t i = 0; i < parts->nr_calls; i++)
		if (!longest || parts->calls[i].asleep_ns > longest->asleep_ns)
			longest = &parts->calls[i];
	return longest;
}
