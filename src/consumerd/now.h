/* SPDX-License-Identifier: GPL-2.0-only */
/* now.h - the clocks that the consumer reads: CLOCK_MONOTONIC for its own time
 * limits, and the rings' clock as their producers read it. Any thread. */
#ifndef CONSUMERD_NOW_H
#define CONSUMERD_NOW_H

#include <stdint.h>
#include <time.h>

#include "ltt_ring.h"
#include "trace/clock.h"

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t now_of_ring(uint32_t kind)
{
#if defined(__x86_64__)
	if (kind == LTT_CLOCK_CYCLES)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (kind == LTT_CLOCK_CYCLES) {
		uint64_t cycles;

		__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(cycles)::"memory");
		return cycles;
	}
#endif
	(void)kind;
	return clock_monotonic_ns();
}

#endif
