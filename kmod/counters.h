/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - a counter of perf on each CPU, made a moment after one comes: of what is
 * recorded by way of perf, and of what is counted beside records. Owned by its creator.
 * Made and freed by tasks, read wherever events are recorded.
 *
 * To release the counters of a tracepoint takes the kernel a grace period each, so it is
 * done asynchronously, and not while others are created, which would have to wait.
 */
#ifndef KMOD_COUNTERS_H
#define KMOD_COUNTERS_H

#include <linux/perf_event.h>

struct counters;

/** @handler: called for each overflow, with @data in its context; NULL: none.
 *  @name: for the log. Return: ERR_PTR where there is no such counter. */
struct counters *counters_new(const struct perf_event_attr *attr, perf_overflow_handler_t handler,
			      void *data, const char *name);
/** From now on no handler begins. Takes NULL. */
void counters_free(struct counters *counters);
/** Count of this CPU; preemption is off. 0 if it has no counter. */
u64 counters_read(const struct counters *counters);

int counters_init(void);
/** Waits until all is released. */
void counters_fini(void);

#endif
