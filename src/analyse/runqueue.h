/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runqueue.h - waits of threads for a CPU: from their wakeup, or from where they were preempted,
 * until they were switched to, by the kernel's events sched_*. Owned by one reader.
 */
#ifndef ANALYSE_RUNQUEUE_H
#define ANALYSE_RUNQUEUE_H

#include "span.h"

struct event;
struct runqueue;

/** @fn: is called with each wait. */
struct runqueue *runqueue_new(span_fn fn, void *priv);
void runqueue_free(struct runqueue *runqueue);

/** The event is the next one in time; any event may be passed. */
void runqueue_take(struct runqueue *runqueue, const struct event *event);
/** After the last event. Return: the threads that were still waiting. */
uint64_t runqueue_open(const struct runqueue *runqueue);

#endif
