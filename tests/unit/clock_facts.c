/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace clock: arithmetic, and this machine's own clock within reason. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "trace/clock.h"
#include "base/macros.h"

#define NSEC 1000000000ull

/* Back from cycles to the calendar, in ns. */
static uint64_t to_real(uint64_t cycles, uint64_t hz, uint64_t s, uint64_t offset)
{
	unsigned __int128 sum = (unsigned __int128)cycles + offset;

	return s * NSEC + (uint64_t)(sum * NSEC / hz);
}

static void offsets(void)
{
	static const uint64_t hz[] = { 1, 19200000, 24000000, 1000000000, 2299998000, 5200000123 };
	static const uint64_t cycles[] = { 0, 1, 2299998000ull * 3600 * 24 * 400, 1ull << 62 };
	const uint64_t real = 1763711234123456789ull;

	for (size_t i = 0; i < ARRAY_SIZE(hz); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(cycles); k++) {
			uint64_t s, offset, back;

			if (cycles[k] / hz[i] > real / NSEC)
				continue;
			clock_offset(cycles[k], real, hz[i], &s, &offset);
			CHECK_IS(offset, <, hz[i]);
			back = to_real(cycles[k], hz[i], s, offset);
			/* never off by more than a cycle and the rounding of ns */
			CHECK(back <= real + 1 && real - back <= NSEC / hz[i] + 3);
		}
	}
}

static void measuring(void)
{
	struct clock_sample a = { .cycles = 1000, .raw_ns = 500 };
	struct clock_sample b = { .cycles = 1000 + 2299998000ull * 10, .raw_ns = 500 + 10 * NSEC };

	CHECK_IS(clock_measure_hz(&a, &b), ==, 2299998000);
	CHECK_IS(clock_measure_hz(&b, &a), ==, 0);
	CHECK_IS(clock_measure_hz(&a, &a), ==, 0);
}

/* The facts give the calendar time, to the millisecond at least. */
static void here(const char *wish)
{
	struct trace_clock clock;
	struct clock_facts facts;
	struct timespec mono, real;
	uint64_t cycles, now;

	setenv("LTT_CLOCK", wish, 1);
	clock_init(&clock);
	clock_facts(&clock, &facts);
	CHECK(facts.freq_hz >= 1000000 && facts.source[0] && facts.precision > 0);
	if (strcmp(wish, "monotonic") == 0) {
		CHECK(facts.kind == LTT_CLOCK_MONOTONIC && facts.freq_hz == NSEC);
	}
	clock_gettime(CLOCK_MONOTONIC, &mono);
	cycles = (uint64_t)mono.tv_sec * NSEC + (uint64_t)mono.tv_nsec;
#if defined(__x86_64__)
	if (facts.kind == LTT_CLOCK_CYCLES)
		cycles = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (facts.kind == LTT_CLOCK_CYCLES)
		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cycles));
#endif
	clock_gettime(CLOCK_REALTIME, &real);
	now = to_real(cycles, facts.freq_hz, facts.offset_s, facts.offset);
	CHECK_IS(llabs((long long)now - ((long long)real.tv_sec * 1000000000 + real.tv_nsec)), <,
		 50000000);
}

int main(void)
{
	offsets();
	measuring();
	here("monotonic");
	here("");
	return 0;
}
