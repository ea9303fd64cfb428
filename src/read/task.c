/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "task.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "event.h"

#define TASK_NAME_BYTES 256u /* longer names are cut */

/* --- contexts ------------------------------------------------------------- */

static void task_take(struct task *task, const struct value *value)
{
	const struct ctf_type *type = value->type;
	bool is_number = type->kind == TYPE_INT;

	switch (value->field->role) {
	case ROLE_PROCNAME:
		if (value_has_text(value))
			task->procname = value;
		break;
	case ROLE_PID:
	case ROLE_VPID:
		if (is_number && (!task->pid || value->field->role == ROLE_PID))
			task->pid = value;
		break;
	case ROLE_TID:
	case ROLE_VTID:
		if (is_number && (!task->tid || value->field->role == ROLE_TID))
			task->tid = value;
		break;
	}
}

void task_find(struct task *ret, const struct value *at, const struct value *end)
{
	*ret = (struct task){ NULL, NULL, NULL };
	for (; at < end; at++)
		if (at->field && at->field->role)
			task_take(ret, at);
}

/* --- selection ------------------------------------------------------------ */

struct task_process {
	struct idmap_node node;
	struct task_process *next;
	char *name;
};

void task_names_fini(struct task_names *names)
{
	struct task_process *process;

	if (names->processes)
		idmap_fini(&names->map);
	while ((process = names->processes)) {
		names->processes = process->next;
		free(process->name);
		free(process);
	}
}

static const char *task_text(const struct value *value, char buf[TASK_NAME_BYTES])
{
	size_t len = value ? MIN(value_text_length(value), TASK_NAME_BYTES - 1u) : 0;

	if (len)
		memcpy(buf, value->bytes, len);
	buf[len] = '\0';
	return buf;
}

/* The name of the process in an event of its state dump; NULL: it is another event. */
static const struct value *task_dumped_name(const struct event *event)
{
	const struct value *value = event->fields ? event->fields + 1 : NULL;

	if ((strcmp(event->ec->name, "ltt_statedump:procname") != 0 &&
	     strcmp(event->ec->name, "lttng_ust_statedump:procname") != 0) ||
	    !value || event->fields->count != 1 ||
	    (value->type->kind != TYPE_STRING && !value_is_text(value)))
		return NULL;
	return value;
}

static struct task_process *task_process(struct task_names *names, const struct event *event)
{
	uint64_t id = (uint64_t)event->source->number << 32 | (uint32_t)event->task.pid->u;
	struct task_process *process;

	if (!names->processes)
		idmap_init(&names->map);
	process = idmap_get(&names->map, id, struct task_process, node);
	if (process)
		return process;
	process = xalloc(sizeof(*process));
	process->name = xstrdup("");
	process->next = names->processes;
	names->processes = process;
	idmap_add(&names->map, &process->node, id);
	return process;
}

/* The name of the process; @thread: of the thread, which is not the program's if it runs the state
 * dump. */
static const char *task_learn(struct task_names *names, const struct event *event,
			      const char *thread)
{
	struct task_process *process = task_process(names, event);
	const struct task *task = &event->task;
	const struct value *dumped = task_dumped_name(event);
	bool is_main = task->tid && task->tid->u == task->pid->u;
	char buf[TASK_NAME_BYTES];

	if (dumped)
		thread = task_text(dumped, buf);
	else if (!is_main && (*process->name || glob_match_list(VIEW_STATEDUMP, event->ec->name)))
		return process->name;
	if (*thread && strcmp(process->name, thread) != 0) {
		free(process->name);
		process->name = xstrdup(thread);
	}
	return process->name;
}

static bool task_matches(const char *patterns, const struct value *number, const char *name)
{
	char text[24];

	if (*name && glob_match_list(patterns, name))
		return true;
	if (!number)
		return false;
	snprintf(text, sizeof(text), "%" PRIi64, (int64_t)number->u);
	return glob_match_list(patterns, text);
}

bool task_is_selected(struct task_names *names, const struct event *event, const char *processes,
		      const char *threads)
{
	const struct task *task = &event->task;
	char buf[TASK_NAME_BYTES];
	const char *thread = task_text(task->procname, buf);
	const char *process = task->pid ? task_learn(names, event, thread) : thread;

	names->nr_unknown +=
		(processes && !task->pid && !*process) || (threads && !task->tid && !*thread);
	return (!processes || task_matches(processes, task->pid, process)) &&
	       (!threads || task_matches(threads, task->tid, thread));
}
