/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clock.h - converts the clock of a trace that is read to nanoseconds since 1970; trace/clock.h has
 * the conversion.
 */
#ifndef READ_CLOCK_CLOCK_H
#define READ_CLOCK_CLOCK_H

#include "trace/clock.h"
#include "read/decode/type.h"

#define NS_PER_S 1000000000ull

/** To be called once freq and offsets are known. */
void clock_finish(struct ctf_clock *clock);

/** Add a segment. @changes: has room for one more. */
void clock_add_change(struct ctf_clock *clock, struct ctf_clock_change *changes,
		      const struct clock_segment *segment);

/** The time of a value if the clock is `indirect`. */
int64_t clock_indirect_ns(const struct ctf_clock *clock, uint64_t cycles);

/** @x / clock->freq; @ret_rest: the remainder. The product is at most 2 too low. */
static inline uint64_t clock_divide(const struct ctf_clock *clock, uint64_t x, uint64_t *ret_rest)
{
	uint64_t n = (uint64_t)((unsigned __int128)x * clock->inverse >> 64);
	uint64_t rest = x - n * clock->freq;

	for (; rest >= clock->freq; rest -= clock->freq)
		n++;
	*ret_rest = rest;
	return n;
}

/** As clock_cycles_to_ns(). */
static inline uint64_t clock_to_ns(const struct ctf_clock *clock, uint64_t cycles)
{
	uint64_t seconds, rest;

	if (!clock->inverse)
		return (uint64_t)clock_cycles_to_ns(clock->freq, cycles);
	seconds = clock_divide(clock, cycles, &rest);
	return seconds * NS_PER_S + clock_divide(clock, rest * NS_PER_S, &rest);
}

/** Nanoseconds since 1970; without a clock the value itself. */
static inline int64_t clock_ns(const struct ctf_clock *clock, uint64_t cycles)
{
	if (!clock)
		return (int64_t)cycles;
	if (clock->indirect)
		return clock_indirect_ns(clock, cycles);
	return (int64_t)((uint64_t)clock->base_ns + clock_to_ns(clock, cycles));
}

/** Extend a counter of which only the low @bits are known: the smallest value that is not below
 *  @last and has the low bits @low. */
static inline uint64_t clock_extend(uint64_t last, uint64_t low, unsigned bits)
{
	uint64_t mask, value;

	if (bits >= 64)
		return low;
	mask = (1ull << bits) - 1;
	value = (last & ~mask) | low;
	return low < (last & mask) ? value + mask + 1 : value;
}

#endif
