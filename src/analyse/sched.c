/* SPDX-License-Identifier: GPL-2.0-only */
#include "sched.h"

#include <string.h>

#include "read/event.h"

/* Bits of prev_state; include/linux/sched.h of the kernel. */
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_ENDS (0x10u | 0x20u | 0x80u) /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define TASK_REPORT_MAX 0x100u		  /* preempted */

/* Our kernel tracer and ftrace have the first name, LTTng the other one. */
static const struct value *sched_thread(const struct event *event, const char *name,
					const char *other)
{
	const struct value *value = value_member(event->fields, name);

	value = value ? value : value_member(event->fields, other);
	return value && value->type->kind == TYPE_INT && value->u ? value : NULL;
}

/* 0 is TASK_RUNNING. */
static void sched_read_state(struct sched_action *action, const struct event *event)
{
	const struct value *state = value_member(event->fields, "prev_state");

	if (!state || (state->type->kind != TYPE_INT && state->type->kind != TYPE_ENUM))
		return;
	action->preempted = (state->u & ~(uint64_t)TASK_REPORT_MAX) == 0;
	action->dead = state->u & TASK_ENDS;
	action->uninterruptible = state->u & TASK_UNINTERRUPTIBLE;
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
		sched_read_state(&action, event);
	} else if (strncmp(event->ec->name, "sched_wak", strlen("sched_wak")) == 0) {
		action.kind = SCHED_WAKE;
		action.next = sched_thread(event, "pid", "tid");
	}
	return action;
}

const char *sched_call_of(const struct event *event)
{
	static const char entry[] = "syscall_entry_", leave[] = "syscall_exit_";
	const char *name = event->ec->name;

	name += strncmp(name, "compat_", strlen("compat_")) == 0 ? strlen("compat_") : 0;
	if (strncmp(name, entry, strlen(entry)) == 0)
		return name + strlen(entry);
	return strncmp(name, leave, strlen(leave)) == 0 ? "" : NULL;
}
