/* SPDX-License-Identifier: GPL-2.0-only */
#include "processes.h"

#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "read/event.h"
#include "read/view.h"

/** struct processes - @all: in the order in which they were seen. */
struct processes {
	struct idmap map;
	struct process *all, **last;
	uint32_t nr;
};

struct processes *processes_new(void)
{
	struct processes *processes = xalloc(sizeof(*processes));

	idmap_init(&processes->map);
	processes->last = &processes->all;
	return processes;
}

void processes_free(struct processes *processes)
{
	struct process *process;

	if (!processes)
		return;
	idmap_fini(&processes->map);
	while ((process = processes->all)) {
		processes->all = process->next;
		free(process->name);
		free(process);
	}
	free(processes);
}

static struct process *processes_find(const struct processes *processes,
				      const struct source *source, uint64_t tid)
{
	struct idmap_node *node = idmap_find(&processes->map, tid);

	for (; node; node = idmap_next(&processes->map, node)) {
		struct process *process = container_of(node, struct process, node);

		if (process->source == source && process->tid == tid && !process->gone)
			return process;
	}
	return NULL;
}

/* Return: NULL: there are too many. */
static struct process *processes_task(struct processes *processes, const struct source *source,
				      uint64_t tid)
{
	struct process *process = processes_find(processes, source, tid);

	if (process || processes->nr == PROCESSES_TASKS_MOST)
		return process;
	processes->nr++;
	process = xalloc(sizeof(*process));
	process->source = source;
	process->tid = process->pid = tid;
	*processes->last = process;
	processes->last = &process->next;
	idmap_add(&processes->map, &process->node, tid);
	return process;
}

static void process_set_name(struct process *process, const struct value *name)
{
	size_t len = 0;

	if (name && value_has_text(name))
		len = MIN(value_text_length(name), (size_t)256);
	if (!len || (process->name && strlen(process->name) == len &&
		     memcmp(process->name, name->bytes, len) == 0))
		return;
	free(process->name);
	process->name = xasprintf("%.*s", (int)len, (const char *)name->bytes);
}

static void process_set_pid(struct process *process, uint64_t pid)
{
	process->pid = pid;
	process->has_pid = true;
}

/* Return: NULL: the event has no such number. */
static const struct value *process_number(const struct event *event, const char *name,
					  const char *other)
{
	const struct value *value = value_member(event->fields, name);

	value = value ? value : value_member(event->fields, other);
	return value && value->type->kind == TYPE_INT ? value : NULL;
}

/* --- events of the kernel --------------------------------------------------------------- */

/* The fields of our tracer, and of ftrace, name threads by pid; LTTng has both. */
static void processes_take_fork(struct processes *processes, const struct event *event)
{
	const struct value *tid = process_number(event, "child_tid", "child_pid");
	const struct value *pid = process_number(event, "child_pid", "child_pid");
	const struct value *parent = process_number(event, "parent_tid", "parent_pid");
	struct process *child = tid ? processes_find(processes, event->source, tid->u) : NULL;

	if (child)
		child->gone = child->has_end;
	child = tid ? processes_task(processes, event->source, tid->u) : NULL;
	if (!child)
		return;
	if (tid != pid)
		process_set_pid(child, pid->u);
	child->begin_ns = event->ns;
	child->has_begin = true;
	child->parent = parent ? parent->u : 0;
	child->has_parent = parent;
	process_set_name(child, value_member(event->fields, "child_comm"));
}

static void processes_take_dump(struct processes *processes, const struct event *event)
{
	const struct value *tid = process_number(event, "tid", "tid");
	const struct value *pid = process_number(event, "pid", "pid");
	const struct value *parent = process_number(event, "ppid", "ppid");
	struct process *process =
		tid && pid ? processes_task(processes, event->source, tid->u) : NULL;

	if (!process)
		return;
	process_set_pid(process, pid->u);
	process_set_name(process, value_member(event->fields, "name"));
	process->has_parent |= parent != NULL;
	process->parent = parent ? parent->u : process->parent;
}

/* --- events of any name ------------------------------------------------------------------ */

static void processes_count(struct process *process, const struct event *event)
{
	if (!process->events++)
		process->first_ns = event->ns;
	process->last_ns = event->ns;
}

static bool process_is_ended_by(int signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return true;
	}
}

/* A signal without a handler. The other threads of a process that ends by itself get SIGKILL, too,
 * which no process has sent. */
static void process_take_signal(struct process *process, const struct event *event)
{
	const struct value *signal = process_number(event, "sig", "sig");
	const struct value *handler = process_number(event, "sa_handler", "sa_handler");

	if (process->has_exit_code || !signal || !handler || handler->u != (uintptr_t)SIG_DFL ||
	    !process_is_ended_by((int)signal->u) || (signal->u == SIGKILL && !process->is_killed))
		return;
	process->signal = signal->u;
	process->exit_code = 128 + signal->u;
	process->has_signal = process->has_exit_code = true;
}

static void processes_take_own(struct process *process, const struct event *event)
{
	const char *name = event->ec->name;
	const struct value *code;

	if (glob_match_list(VIEW_STATEDUMP, name)) {
		if (strstr(name, ":procname") && event->fields && event->fields->count == 1)
			process_set_name(process, event->fields + 1);
		return;
	}
	processes_count(process, event);
	if (strcmp(name, "signal_deliver") == 0) {
		process_take_signal(process, event);
	} else if (strcmp(name, "syscall_entry_exit_group") == 0) {
		code = process_number(event, "error_code", "status");
		process->has_exit_code = code;
		process->exit_code = code ? code->u & 0xff : 0;
	}
}

/* Of a trace of one process, the number is in its environment. */
static void processes_take_context(struct processes *processes, const struct event *event)
{
	const struct task *task = &event->task;
	const struct ctf_env *env = trace_class_env_find(event->source->tc, "vpid");
	struct process *process = NULL, *thread = NULL;

	if (task->pid)
		process = processes_task(processes, event->source, task->pid->u);
	else if (env && !env->text)
		process = processes_task(processes, event->source, (uint64_t)env->number);
	if (process) {
		process->has_pid = true;
		processes_take_own(process, event);
	}
	if (process && task->tid && task->tid->u != process->tid)
		thread = processes_task(processes, event->source, task->tid->u);
	if (thread)
		process_set_pid(thread, process->pid);
	else if (process)
		process_set_name(process, task->procname);
}

/* The end of its first thread is that of the process. */
static void processes_take_exit(struct processes *processes, const struct event *event)
{
	const struct value *tid = process_number(event, "tid", "pid");
	struct process *process = tid ? processes_task(processes, event->source, tid->u) : NULL;

	if (!process)
		return;
	process->end_ns = event->ns;
	process->has_end = true;
	process_set_name(process, value_member(event->fields, "comm"));
}

static void processes_take_kill(struct processes *processes, const struct event *event)
{
	const struct value *signal = process_number(event, "sig", "sig");
	const struct value *tid = process_number(event, "tid", "pid");
	struct process *process;

	if (!signal || signal->u != SIGKILL || !tid)
		return;
	process = processes_task(processes, event->source, tid->u);
	if (process && process->pid != process->tid)
		process = processes_task(processes, event->source, process->pid);
	if (process)
		process->is_killed = true;
}

void processes_take(struct processes *processes, const struct event *event)
{
	const char *name = event->ec->name;

	processes_take_context(processes, event);
	if (strcmp(name, "sched_process_fork") == 0)
		processes_take_fork(processes, event);
	else if (strcmp(name, "sched_process_exit") == 0)
		processes_take_exit(processes, event);
	else if (strcmp(name, "signal_generate") == 0)
		processes_take_kill(processes, event);
	else if (strcmp(name, "lttng_statedump_process_state") == 0)
		processes_take_dump(processes, event);
}

/* --- results ----------------------------------------------------------------------------- */

const struct process *processes_next(const struct processes *processes,
				     const struct process *process)
{
	process = process ? process->next : processes->all;
	while (process && process->pid != process->tid)
		process = process->next;
	return process;
}

bool processes_parent(const struct processes *processes, const struct process *process,
		      uint64_t *ret)
{
	const struct process *parent =
		process->has_parent ? processes_find(processes, process->source, process->parent) :
				      NULL;

	*ret = parent ? parent->pid : process->parent;
	return process->has_parent;
}
