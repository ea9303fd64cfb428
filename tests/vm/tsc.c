/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tsc - how fast this processor's time stamp counter is, in kHz.
 *
 * An emulated kernel sees the host's counter, and measures it against timers that a busy host
 * emulates late: it was once off by a factor of 23, and so was all its time. So the rate is given.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SPAN_US 100000
#define NEAR_NS 1000 /* between two readings of the clock that nothing came between */

struct instant {
	uint64_t ns;
	uint64_t ticks;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct instant now(void)
{
	struct instant at;

	do {
		at.ns = now_ns();
		at.ticks = __rdtsc();
	} while (now_ns() - at.ns > NEAR_NS);
	return at;
}

int main(void)
{
	struct instant first = now(), last;

	usleep(SPAN_US);
	last = now();
	printf("%llu\n", (unsigned long long)((last.ticks - first.ticks) * 1000000 / (last.ns - first.ns)));
	return 0;
}
