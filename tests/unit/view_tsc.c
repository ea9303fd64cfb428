/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of a host and its guest, and clocks by them: each direction undoes the other, for
 * every form of ratio, offset and change. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/macros.h"
#include "check.h"
#include "read/clock/tsc.h"

#define TRIES 200000

static uint64_t state = 42;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t most)
{
	return any() % most;
}

/* --- one scale ------------------------------------------------------------------------ */

/* Intel's ratio has 48 bits behind the point, AMD's 32. Examples with the numbers written out. */
static void examples(void)
{
	const struct tsc_scale plain = { .offset = (uint64_t)-27510404406,
					 .ratio = 1ull << 32,
					 .frac_bits = 32 };
	const struct tsc_scale half = { .offset = 5, .ratio = 1ull << 47, .frac_bits = 48 };
	const struct tsc_scale third = { .ratio = 0x55555555, .frac_bits = 32 };

	CHECK_IS(tsc_to_guest(&plain, 35351233012), ==, 7840828606);
	CHECK_IS(tsc_to_host(&plain, 7840828606), ==, 35351233012);
	CHECK_IS(tsc_to_guest(&half, 1000001), ==, 500005);
	CHECK_IS(tsc_to_host(&half, 500005), ==, 1000000);
	CHECK_IS(tsc_to_guest(&third, 3000000000000), ==, 999999999767);
	CHECK_IS(tsc_to_host(&third, 999999999767), ==, 3000000000000);
	CHECK_IS(tsc_to_guest(&plain, 0), ==, (uint64_t)-27510404406); /* set back below 0 */
}

/* The host's counter up to 100 years of 4 GHz, ratios from 1/16 to 16, any offset. */
static void scales(void)
{
	static const uint32_t bits[] = { 0, 32, 48 };

	for (int i = 0; i < TRIES; i++) {
		struct tsc_scale scale = { .offset = any(), .frac_bits = bits[i % 3] };
		uint64_t host = any() >> (1 + below(40)), guest, back;
		uint64_t one = 1ull << scale.frac_bits;

		scale.ratio = scale.frac_bits ? one / 16 + below(16 * one - one / 16) : 1;
		host = MIN(host, (uint64_t)INT64_MAX / 16);
		guest = tsc_to_guest(&scale, host);
		back = tsc_to_host(&scale, guest);
		CHECK_IS(back, <=, host);
		CHECK_IS(tsc_to_guest(&scale, back), ==, guest);
		CHECK_IS(host - back, <=, one > scale.ratio ? one / scale.ratio : 0);
	}
}

/* Whatever a trace has gives some number. */
static void extremes(void)
{
	static const uint64_t values[] = { 0, 1, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX };

	for (int i = 0; i < 5 * 5 * 5; i++) {
		for (uint32_t bits = 0; bits <= TSC_FRAC_BITS_MAX; bits++) {
			struct tsc_scale scale = { .offset = values[i / 5 % 5],
						   .ratio = values[i / 25] | 1,
						   .frac_bits = bits };

			tsc_to_guest(&scale, values[i % 5]);
			tsc_to_host_by(&scale, 1, values[i % 5]);
		}
	}
}

/* --- changes -------------------------------------------------------------------------- */

/* Of several scales, each for a time, the one in whose time the value is. */
static void changes(void)
{
	const struct tsc_scale booted[] = {
		/* the counter is 0 at the guest's start */
		{ 10000, 10000, 0, 1, 0 },
		{ 10000, 10005, (uint64_t)-9990, 1, 0 },
		{ 10005, UINT64_MAX, (uint64_t)-10005, 1, 0 },
	};
	const struct tsc_scale ahead[] = {
		{ 0, 1000, 0, 1, 0 },
		{ 1000, UINT64_MAX, 500, 1, 0 },
	};
	const struct tsc_scale back[] = {
		{ 0, 1000, 0, 1, 0 },
		{ 1000, UINT64_MAX, (uint64_t)-5000, 2, 0 },
	};

	CHECK_IS(tsc_to_host_by(booted, 3, 100), ==, 10105);
	CHECK_IS(tsc_to_host_by(booted, 3, 10000), ==, 10000);
	CHECK_IS(tsc_to_host_by(ahead, 2, 1000), ==, 1000);
	CHECK_IS(tsc_to_host_by(ahead, 2, 1500), ==, 1000);
	CHECK_IS(tsc_to_host_by(ahead, 2, 1501), ==, 1001);
	CHECK_IS(tsc_to_host_by(ahead, 2, 1001), ==, 1001); /* nearest: there is no such time */
	CHECK_IS(tsc_to_host_by(back, 2, 900), ==, 900);
	CHECK_IS(tsc_to_host_by(back, 2, (uint64_t)-2998), ==, 1001);
	CHECK_IS(tsc_to_host_by(back, 2, 3000), ==, 4000);
}

/* --- lines ---------------------------------------------------------------------------- */

static void line_of_three(void)
{
	struct clock_pair pairs[] = {
		{ 1000000, 5000000, 100 }, { 900000, 5100000, 1 },    { 2000000, 7600000, 50 },
		{ 2000000, 7700000, 1 },   { 3000000, 10200000, 60 },
	};
	struct tsc_line line = { pairs, tsc_line_tidy(pairs, 5) };

	CHECK_IS(line.nr, ==, 3);
	CHECK_IS(tsc_line_counter(&line, 1000000), ==, 5000000);
	CHECK_IS(tsc_line_counter(&line, 2500000), ==, 8900000);
	CHECK_IS(tsc_line_counter(&line, 3500000), ==, 11500000);
	CHECK_IS(tsc_line_counter(&line, 500000), ==, 3700000);
	CHECK_IS(tsc_line_value(&line, 8900000), ==, 2500000);
	/* no bend: the width of the widest pair, rounded up */
	CHECK_IS(tsc_line_error_ns(&line), ==, 100 * 10 / 26 + 1);
	pairs[2].value += 400; /* 0.02 % slower */
	CHECK_IS(tsc_line_error_ns(&line), ==, 100 + 39);
	CHECK_IS(tsc_line_tidy(pairs, 1), ==, 1);
	CHECK_IS(tsc_line_tidy(pairs, 0), ==, 0);
}

/* Two pairs: their rate may have been any that the kernel allows. */
static void line_of_two(void)
{
	struct clock_pair pairs[] = { { 0, 0, 10 }, { 1000000000, 2000000000, 10 } };
	struct tsc_line line = { pairs, 2 };
	const struct tsc_line none = { NULL, 0 };

	CHECK_IS(tsc_line_error_ns(&line), ==, 6 + 250000);
	CHECK_IS(tsc_line_error_ns(&none), ==, 0);
	CHECK_IS(tsc_line_value(&none, 77), ==, 77);
	CHECK_IS(tsc_line_counter(&none, 77), ==, 77);
}

static void lines(void)
{
	for (int i = 0; i < TRIES / 10; i++) {
		struct clock_pair pairs[8] = { { below(1ull << 50), below(1ull << 50), 1 } };
		uint64_t hz = 1000000000 + below(4000000000), value, back;
		struct tsc_line line = { pairs, 8 };

		for (int k = 1; k < 8; k++) {
			uint64_t ns = 1 + below(60000000000);

			pairs[k].value = pairs[k - 1].value + ns;
			pairs[k].counter = pairs[k - 1].counter + ns +
					   (uint64_t)((unsigned __int128)ns * hz / 1000000000);
		}
		value = pairs[0].value + below(pairs[7].value - pairs[0].value + 1000000000);
		back = tsc_line_value(&line, tsc_line_counter(&line, value));
		CHECK_IS(value - back, <=, 1);
	}
}

/* A time of the host is a time of its guest, and is the same time again, within 1 ns, at 1 GHz or
 * more, for guests that are not slower. */
static void both(void)
{
	for (int i = 0; i < TRIES / 10; i++) {
		uint64_t hz = 1000000000 + below(3000000000), start = below(1ull << 50);
		struct tsc_scale scale = { .to = UINT64_MAX, .offset = any(), .frac_bits = 48 };
		struct clock_pair own[2] = { { start, below(1ull << 50), 1 } };
		struct tsc_line host = { own, 2 };
		uint64_t value = start + below(1ull << 42), counter, guest;

		scale.ratio = (1ull << 48) + below(1ull << 50);
		own[1] = own[0];
		own[1].value += 1000000000;
		own[1].counter += hz;
		counter = tsc_line_counter(&host, value);
		guest = tsc_to_guest(&scale, counter);
		CHECK_IS(tsc_to_host_by(&scale, 1, guest), ==, counter);
		CHECK_IS(value - tsc_line_value(&host, tsc_to_host_by(&scale, 1, guest)), <=, 1);
	}
}

int main(void)
{
	examples();
	scales();
	extremes();
	changes();
	line_of_three();
	line_of_two();
	lines();
	both();
	return 0;
}
