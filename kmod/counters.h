/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - a counter of perf on each CPU, created a moment after a CPU comes online: for
 * events recorded through perf, and for counter contexts. Owned by its creator. Made and freed
 * by tasks, read wherever events are recorded.
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
/** From now on no handler begins. NULL is allowed. */
void counters_free(struct counters *counters);
/** The count of this CPU, with preemption off. 0 if the CPU has no counter. */
u64 counters_read(const struct counters *counters);

int counters_init(void);
/** Waits until all counters are released. */
void counters_fini(void);

#endif
