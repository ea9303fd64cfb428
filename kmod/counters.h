/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - one kernel perf event on each online CPU; a CPU that comes online later gets its
 * own from a work item. Used for tracepoints that are recorded through perf (fallback_probe.c) and
 * for counter contexts. Owned by its creator. Created and freed in process context, read in any
 * context.
 *
 * The release of a perf event of a tracepoint waits for a grace period. A work item does it, and
 * not while counters are being created, so that counters_new() need not wait for it.
 */
#ifndef KMOD_COUNTERS_H
#define KMOD_COUNTERS_H

#include <linux/perf_event.h>

struct counters;

/** @handler: called for each overflow; @data is the perf event's overflow_handler_context. NULL:
 *  none. @name: for the log, and of a context. Return: ERR_PTR: -ENOMEM, or the error of perf if
 *  the machine has no such counter. */
struct counters *counters_new(const struct perf_event_attr *attr, perf_overflow_handler_t handler,
			      void *data, const char *name);
/** Free counters; no handler is called any more. NULL is allowed. */
void counters_free(struct counters *counters);
/** The count of this CPU, with preemption off. 0 if the CPU has no counter. */
u64 counters_read(const struct counters *counters);

/** Its name, as long as it exists. */
const char *counters_name(const struct counters *counters);

int counters_init(void);
/** Waits until all counters are released. */
void counters_fini(void);

#endif
