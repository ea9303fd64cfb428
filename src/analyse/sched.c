/* SPDX-License-Identifier: GPL-2.0-only */
#include "sched.h"

#include <string.h>

#include "read/event.h"

#define TASK_REPORT_MAX 0x100u /* in prev_state: preempted; include/linux/sched.h of the kernel */

/* Our kernel tracer and ftrace have the first name, LTTng the other one. */
static const struct value *sched_thread(const struct event *event, const char *name,
					const char *other)
{
	const struct value *value = value_member(event->fields, name);

	value = value ? value : value_member(event->fields, other);
	return value && value->type->kind == TYPE_INT && value->u ? value : NULL;
}

/* 0 is TASK_RUNNING. */
static bool sched_is_preempted(const struct event *event)
{
	const struct value *state = value_member(event->fields, "prev_state");

	return state && (state->type->kind == TYPE_INT || state->type->kind == TYPE_ENUM) &&
	       (state->u & ~(uint64_t)TASK_REPORT_MAX) == 0;
}

struct sched_action sched_action_of(const struct event *event)
{
	struct sched_action action = { .kind = SCHED_NONE };

	if (strncmp(event->ec->name, "sched_", strlen("sched_")) != 0)
		return action;
	if (strcmp(event->ec->name, "sched_switch") == 0) {
		action.kind = SCHED_SWITCH;
		action.prev = sched_thread(event, "prev_pid", "prev_tid");
		action.next = sched_thread(event, "next_pid", "next_tid");
		action.preempted = sched_is_preempted(event);
	} else if (strncmp(event->ec->name, "sched_wak", strlen("sched_wak")) == 0) {
		action.kind = SCHED_WAKE;
		action.next = sched_thread(event, "pid", "tid");
	}
	return action;
}
