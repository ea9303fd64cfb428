/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tsc.h - relates the time stamp counters of a host and of its guest, and the clocks of their
 * traces to them. All of it is integer arithmetic and without side effects; any number is safe.
 *
 * A guest's counter is floor(host's * ratio / 2^frac_bits) + offset, modulo 2^64, for each
 * virtual CPU. A trace's clock is the counter itself, or CLOCK_MONOTONIC, which was compared with
 * it several times while the trace was recorded (struct clock_pair).
 */
#ifndef READ_CLOCK_TSC_H
#define READ_CLOCK_TSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/clock.h"

/**
 * struct tsc_scale - a virtual CPU's counter from one instant to another.
 * @from, @to: of the host's counter; in between it had this scale. Those of two scales overlap if
 * the instant of the change is not known exactly.
 * @ratio: not 0. @frac_bits: at most TSC_FRAC_BITS_MAX.
 */
struct tsc_scale {
	uint64_t from, to;
	uint64_t offset, ratio;
	uint32_t frac_bits;
};

#define TSC_FRAC_BITS_MAX 63u

uint64_t tsc_to_guest(const struct tsc_scale *scale, uint64_t host);
/** The earliest value of the host's counter at which the guest's has the value. */
uint64_t tsc_to_host(const struct tsc_scale *scale, uint64_t guest);

/** The same by that of several scales, in the order of time, in whose time the result is; if there
 *  is none, by the one whose time is nearest. @nr: not 0. */
uint64_t tsc_to_host_by(const struct tsc_scale *scales, size_t nr, uint64_t guest);

/**
 * struct tsc_line - a trace's clock by the counter.
 * @pairs: of ascending values and counters, two or more; in between and beyond, the clock is a
 * straight line. @nr: 0: the clock is the counter.
 */
struct tsc_line {
	struct clock_pair *pairs;
	size_t nr;
};

/** Keep the pairs that ascend. Return: the number that is left; fewer than 2 are no line. */
size_t tsc_line_tidy(struct clock_pair *pairs, size_t nr);

uint64_t tsc_line_counter(const struct tsc_line *line, uint64_t value);
uint64_t tsc_line_value(const struct tsc_line *line, uint64_t counter);

/** By how much times of the line may be wrong between its first and its last pair, in ns: the width
 *  of its pairs, and the bend of the clock between them. Values are in ns. 0: the clock is the
 *  counter. */
uint64_t tsc_line_error_ns(const struct tsc_line *line);

#endif
