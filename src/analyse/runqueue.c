/* SPDX-License-Identifier: GPL-2.0-only */
#include "runqueue.h"

#include <stdlib.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "read/event.h"
#include "sched.h"

#define THREADS_MOST (1u << 20)

/** A thread of a trace. @since_ns: of its wait, if @waits. */
struct runqueue_thread {
	struct idmap_node node;
	struct runqueue_thread *next;
	const struct source *source;
	uint64_t tid;
	int64_t since_ns;
	bool waits;
};

struct runqueue {
	struct idmap map;
	struct runqueue_thread *threads;
	uint32_t nr_threads;
	span_fn fn;
	void *priv;
};

struct runqueue *runqueue_new(span_fn fn, void *priv)
{
	struct runqueue *runqueue = xalloc(sizeof(*runqueue));

	idmap_init(&runqueue->map);
	runqueue->fn = fn;
	runqueue->priv = priv;
	return runqueue;
}

void runqueue_free(struct runqueue *runqueue)
{
	struct runqueue_thread *thread;

	if (!runqueue)
		return;
	idmap_fini(&runqueue->map);
	while ((thread = runqueue->threads)) {
		runqueue->threads = thread->next;
		free(thread);
	}
	free(runqueue);
}

/* Return: NULL: it is an idle thread, or there are too many. */
static struct runqueue_thread *
runqueue_thread_of(struct runqueue *runqueue, const struct source *source, const struct value *tid)
{
	struct idmap_node *node = tid ? idmap_find(&runqueue->map, tid->u) : NULL;
	struct runqueue_thread *thread;

	for (; node; node = idmap_next(&runqueue->map, node)) {
		thread = container_of(node, struct runqueue_thread, node);
		if (thread->source == source)
			return thread;
	}
	if (!tid || runqueue->nr_threads == THREADS_MOST)
		return NULL;
	runqueue->nr_threads++;
	thread = xalloc(sizeof(*thread));
	thread->source = source;
	thread->tid = tid->u;
	thread->next = runqueue->threads;
	runqueue->threads = thread;
	idmap_add(&runqueue->map, &thread->node, tid->u);
	return thread;
}

static void runqueue_wake(struct runqueue_thread *thread, const struct event *event)
{
	if (!thread || thread->waits)
		return;
	thread->waits = true;
	thread->since_ns = event->ns;
}

/* A wakeup that came while it ran has no effect. */
static void runqueue_leave(struct runqueue_thread *thread, const struct event *event,
			   bool preempted)
{
	if (!thread)
		return;
	thread->waits = preempted;
	thread->since_ns = event->ns;
}

static void runqueue_run(struct runqueue *runqueue, struct runqueue_thread *thread,
			 const struct event *event)
{
	struct span span = {
		.name = "run-queue",
		.source = event->source,
		.procname = value_member(event->fields, "next_comm"),
		.cpu = event->packet->cpu,
		.has_tid = true,
	};

	if (!thread || !thread->waits)
		return;
	thread->waits = false;
	span.tid = thread->tid;
	span.from_ns = thread->since_ns;
	span.ns = event_ns_between(thread->since_ns, event->ns);
	span.lossy = thread->since_ns < event->source->lossy_until_ns;
	runqueue->fn(runqueue->priv, &span);
}

void runqueue_take(struct runqueue *runqueue, const struct event *event)
{
	const struct sched_action action = sched_action_of(event);
	const struct source *source = event->source;
	struct runqueue_thread *next = runqueue_thread_of(runqueue, source, action.next);

	if (action.kind == SCHED_WAKE) {
		runqueue_wake(next, event);
	} else if (action.kind == SCHED_SWITCH) {
		runqueue_leave(runqueue_thread_of(runqueue, source, action.prev), event,
			       action.preempted);
		runqueue_run(runqueue, next, event);
	}
}

uint64_t runqueue_open(const struct runqueue *runqueue)
{
	uint64_t nr = 0;

	for (const struct runqueue_thread *t = runqueue->threads; t; t = t->next)
		nr += t->waits;
	return nr;
}
