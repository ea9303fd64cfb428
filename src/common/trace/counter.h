/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counter.h - whether the CPUs' cycle counter can be the clock of traces, and its frequency.
 *
 * x86-64: the time stamp counter, if the processor calls it invariant and the kernel relies on it,
 * under whatever name the kernel keeps its own time (a guest's clocksource may be kvm-clock).
 * arm64: the architected timer, if it is the kernel's clocksource.
 */
#ifndef TRACE_COUNTER_H
#define TRACE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/** The counter of a CPU as a thread on it reads it; tests simulate one. */
typedef uint64_t counter_read(unsigned int cpu);

/** This machine's; 0: it has none. Ordered after the loads, before the stores around it. */
uint64_t counter_here(unsigned int cpu);

/**
 * counter_relied_on() - decide by the kernel's own statements.
 * @flags: of one CPU, as /proc/cpuinfo shows them; @current, @available: names of clocksources.
 * @why: receives the reason, in either case.
 */
bool counter_relied_on(const char *flags, const char *current, const char *available, char *why,
		       size_t len);

/** Counters of CPUs, compared with that of the first one. */
struct counter_spread {
	unsigned int cpus;     /* that this thread may run on */
	unsigned int compared; /* of the others, within the time */
	unsigned int farthest; /* number of the CPU whose counter differs most */
	uint64_t least;	       /* cycles by which it differs at least: less the error */
	uint64_t error;	       /* cycles, of the comparison with that CPU */
};

/**
 * counter_compare() - have threads on two CPUs exchange readings, for each CPU that the caller may
 * run on. Begins no comparison after @ns. The caller's affinity is as before at the end.
 */
void counter_compare(counter_read *read, uint64_t ns, struct counter_spread *ret);

/** Whether two samples contradict a frequency by more than 0.1 % and their own errors. */
bool counter_contradicts(uint64_t hz, const struct clock_sample *from,
			 const struct clock_sample *to);

/** Most by which the counters of two CPUs may differ. */
#define COUNTER_APART_NS 200

/**
 * counter_refused() - whether measurements rule the counter out as a clock.
 * @stated_hz: 0: unknown; @by: its origin. @from, @to: samples, the latter the later one.
 * @why: receives the figures if so.
 */
bool counter_refused(uint64_t stated_hz, const char *by, const struct clock_sample *from,
		     const struct clock_sample *to, const struct counter_spread *spread, char *why,
		     size_t len);

/** The frequency as the kernel, the hypervisor or the processor states it. @source: receives its
 *  origin. Return: Hz; 0: none of them does. */
uint64_t counter_stated_hz(char *source, size_t len);

#endif
