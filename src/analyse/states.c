/* SPDX-License-Identifier: GPL-2.0-only */
#include "states.h"

#include <stdlib.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "read/event.h"
#include "sched.h"

#define THREADS_MOST (1u << 20)

/** A thread of a trace. @since_ns: of its state. @woken_ns: while it runs, if @is_woken.
 *  @call: in which it is; NULL: none or unknown. @cpu: on which it ran last. */
struct states_thread {
	struct idmap_node node;
	struct states_thread *next;
	const struct source *source;
	uint64_t tid, pid, cpu;
	int64_t since_ns, woken_ns;
	enum states_state state;
	const char *call;
	bool has_pid, uninterruptible, is_woken;
};

struct states {
	struct idmap map;
	struct states_thread *threads;
	uint32_t nr_threads;
	states_fn fn;
	void *priv;
};

struct states *states_new(states_fn fn, void *priv)
{
	struct states *states = xalloc(sizeof(*states));

	idmap_init(&states->map);
	states->fn = fn;
	states->priv = priv;
	return states;
}

void states_free(struct states *states)
{
	struct states_thread *thread;

	if (!states)
		return;
	idmap_fini(&states->map);
	while ((thread = states->threads)) {
		states->threads = thread->next;
		free(thread);
	}
	free(states);
}

/* Return: NULL: it is an idle thread, or there are too many. */
static struct states_thread *states_thread_of(struct states *states, const struct source *source,
					      const struct value *tid)
{
	struct idmap_node *node = tid ? idmap_find(&states->map, tid->u) : NULL;
	struct states_thread *thread;

	for (; node; node = idmap_next(&states->map, node)) {
		thread = container_of(node, struct states_thread, node);
		if (thread->source == source)
			return thread;
	}
	if (!tid || states->nr_threads == THREADS_MOST)
		return NULL;
	states->nr_threads++;
	thread = xalloc(sizeof(*thread));
	thread->source = source;
	thread->tid = tid->u;
	thread->next = states->threads;
	states->threads = thread;
	idmap_add(&states->map, &thread->node, tid->u);
	return thread;
}

static void states_report(const struct states *states, const struct states_thread *thread,
			  const struct event *event, const char *comm)
{
	static const char *const names[] = { [STATES_RUNNING] = "running",
					     [STATES_RUNNABLE] = "runnable",
					     [STATES_BLOCKED] = "blocked" };
	bool blocked = thread->state == STATES_BLOCKED, waited = thread->state == STATES_RUNNABLE;
	struct states_row row = {
		.state = thread->state,
		.call = blocked ? thread->call : NULL,
		.uninterruptible = blocked && thread->uninterruptible,
		.has_waker = blocked && event->task.tid,
	};

	span_of_event(&row.span, event, names[thread->state], thread->since_ns);
	span_set_procname(&row.span, value_member(event->fields, comm));
	if (row.has_waker)
		row.waker = event->task.tid->u;
	row.span.tid = thread->tid;
	row.span.has_tid = true;
	row.span.pid = thread->pid;
	row.span.has_pid = thread->has_pid;
	row.span.cpu = waited ? event->packet->cpu : thread->cpu;
	states->fn(states->priv, &row);
}

/* @comm: the field with the thread's name. */
static void states_change(const struct states *states, struct states_thread *thread,
			  const struct event *event, enum states_state to, const char *comm)
{
	if (thread->state != STATES_UNKNOWN)
		states_report(states, thread, event, comm);
	thread->state = to;
	thread->since_ns = event->ns;
	thread->is_woken = false;
}

/* A wakeup of a thread that runs has no effect, unless the switch from it is missing. */
static void states_wake(const struct states *states, struct states_thread *thread,
			const struct event *event)
{
	if (thread && (thread->state == STATES_BLOCKED || thread->state == STATES_UNKNOWN)) {
		states_change(states, thread, event, STATES_RUNNABLE, "comm");
	} else if (thread && thread->state == STATES_RUNNING && !thread->is_woken) {
		thread->is_woken = true;
		thread->woken_ns = event->ns;
	}
}

/* The event is recorded by the thread that leaves. */
static void states_leave(const struct states *states, struct states_thread *thread,
			 const struct event *event, const struct sched_action *action)
{
	const struct task *task = &event->task;

	if (!thread)
		return;
	if (task->pid && task->tid && task->tid->u == thread->tid) {
		thread->pid = task->pid->u;
		thread->has_pid = true;
	}
	if (thread->state != STATES_RUNNING) /* an event is missing */
		thread->state = STATES_UNKNOWN;
	states_change(states, thread, event,
		      action->preempted ? STATES_RUNNABLE :
		      action->dead	? STATES_UNKNOWN :
					  STATES_BLOCKED,
		      "prev_comm");
	thread->uninterruptible = action->uninterruptible;
	thread->cpu = event->packet->cpu;
}

static void states_run(const struct states *states, struct states_thread *thread,
		       const struct event *event)
{
	if (!thread)
		return;
	if (thread->state == STATES_RUNNING) { /* an event is missing */
		thread->state = thread->is_woken ? STATES_RUNNABLE : STATES_UNKNOWN;
		thread->since_ns = thread->woken_ns;
	}
	states_change(states, thread, event, STATES_RUNNING, "next_comm");
	thread->cpu = event->packet->cpu;
}

static void states_call(struct states *states, const struct event *event)
{
	const char *call = sched_call_of(event);
	struct states_thread *thread =
		call ? states_thread_of(states, event->source, event->task.tid) : NULL;

	if (thread)
		thread->call = *call ? call : NULL;
}

void states_take(struct states *states, const struct event *event)
{
	const struct sched_action action = sched_action_of(event);
	const struct source *source = event->source;
	struct states_thread *next = states_thread_of(states, source, action.next);

	if (action.kind == SCHED_WAKE) {
		states_wake(states, next, event);
	} else if (action.kind == SCHED_SWITCH) {
		states_leave(states, states_thread_of(states, source, action.prev), event, &action);
		states_run(states, next, event);
	} else {
		states_call(states, event);
	}
}

uint64_t states_waiting(const struct states *states)
{
	uint64_t nr = 0;

	for (const struct states_thread *t = states->threads; t; t = t->next)
		nr += t->state == STATES_RUNNABLE;
	return nr;
}
