/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tsc.h"

#include "base/macros.h"

/* The kernel adjusts CLOCK_MONOTONIC by no more: where its rate was measured once only. */
#define BEND_PPM 500u
/* Pairs are closer while a trace is recorded (run/run.h); others have a stop between them. */
#define PAUSE_NS 120000000000ull

/* --- a virtual CPU -------------------------------------------------------------------------- */

/* floor(v * by / 2^bits): the product has 127 bits. */
static uint64_t scale_down(int64_t v, uint64_t by, uint32_t bits)
{
	unsigned __int128 size = v < 0 ? -(unsigned __int128)(__int128)v : (unsigned __int128)v;
	unsigned __int128 product = size * by, unit = (unsigned __int128)1 << bits;

	if (v >= 0)
		return (uint64_t)(product >> bits);
	return 0 - (uint64_t)((product + unit - 1) >> bits);
}

/* ceil(v * 2^bits / by) */
static uint64_t scale_up(int64_t v, uint64_t by, uint32_t bits)
{
	unsigned __int128 size = v < 0 ? -(unsigned __int128)(__int128)v : (unsigned __int128)v;
	unsigned __int128 shifted = size << bits;

	if (v < 0)
		return 0 - (uint64_t)(shifted / by);
	return (uint64_t)(shifted / by + (shifted % by != 0));
}

uint64_t tsc_to_guest(const struct tsc_scale *scale, uint64_t host)
{
	return scale_down((int64_t)host, scale->ratio, scale->frac_bits) + scale->offset;
}

uint64_t tsc_to_host(const struct tsc_scale *scale, uint64_t guest)
{
	return scale_up((int64_t)(guest - scale->offset), scale->ratio, scale->frac_bits);
}

/* Of a value from a time: 0: it is in it. A counter that was below 0 is early. */
static uint64_t distance(const struct tsc_scale *scale, uint64_t host)
{
	if ((int64_t)host < 0)
		return scale->from - host;
	return host < scale->from ? scale->from - host : host > scale->to ? host - scale->to : 0;
}

uint64_t tsc_to_host_by(const struct tsc_scale *scales, size_t nr, uint64_t guest)
{
	uint64_t nearest = UINT64_MAX, found = 0;

	for (size_t i = 0; i < nr && nearest; i++) {
		uint64_t host = tsc_to_host(&scales[i], guest), away = distance(&scales[i], host);

		if (i && away >= nearest)
			continue;
		nearest = away;
		found = host;
	}
	return found;
}

/* --- a trace's clock ------------------------------------------------------------------------- */

size_t tsc_line_tidy(struct clock_pair *pairs, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (!kept || (pairs[i].value > pairs[kept - 1].value &&
			      pairs[i].counter > pairs[kept - 1].counter))
			pairs[kept++] = pairs[i];
	return kept;
}

/* floor(v * by / of), @v of either sign, cut to 64 bits. */
static uint64_t proportion(int64_t v, uint64_t by, uint64_t of)
{
	unsigned __int128 size = v < 0 ? -(unsigned __int128)(__int128)v : (unsigned __int128)v;
	unsigned __int128 product = size * by;

	if (v >= 0)
		return (uint64_t)(product / of);
	return 0 - (uint64_t)((product + of - 1) / of);
}

/* The first of the two pairs between which, or nearest to which, it is. */
static const struct clock_pair *line_pair(const struct tsc_line *line, uint64_t at, bool is_value)
{
	size_t low = 0, high = line->nr - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		const struct clock_pair *pair = &line->pairs[middle];

		if (at < (is_value ? pair->value : pair->counter))
			high = middle;
		else
			low = middle;
	}
	return &line->pairs[low];
}

uint64_t tsc_line_counter(const struct tsc_line *line, uint64_t value)
{
	const struct clock_pair *pair;

	if (!line->nr)
		return value;
	pair = line_pair(line, value, true);
	return pair->counter + proportion((int64_t)(value - pair->value),
					  pair[1].counter - pair->counter,
					  pair[1].value - pair->value);
}

uint64_t tsc_line_value(const struct tsc_line *line, uint64_t counter)
{
	const struct clock_pair *pair;

	if (!line->nr)
		return counter;
	pair = line_pair(line, counter, false);
	return pair->value + proportion((int64_t)(counter - pair->counter),
					pair[1].value - pair->value,
					pair[1].counter - pair->counter);
}

/* By how many ns the line of one interval, @from, differs from the clock after the time of another:
 * a quarter of it is the most by which a curve is away from its chord. */
static uint64_t bend_ns(const struct clock_pair *from, const struct clock_pair *other)
{
	uint64_t ns = from[1].value - from->value, cycles = from[1].counter - from->counter;
	uint64_t there =
		proportion((int64_t)MIN(cycles, (uint64_t)INT64_MAX), other[1].value - other->value,
			   other[1].counter - other->counter);
	uint64_t apart = there > ns ? there - ns : ns - there;

	return apart / 4;
}

static uint64_t width_ns(const struct clock_pair *from, const struct clock_pair *pair)
{
	return proportion((int64_t)MIN(pair->width, (uint64_t)INT64_MAX),
			  from[1].value - from->value, from[1].counter - from->counter) +
	       1;
}

static uint64_t interval_error_ns(const struct tsc_line *line, size_t i)
{
	const struct clock_pair *pair = &line->pairs[i];
	uint64_t length = pair[1].value - pair->value, bend = 0;

	if (i)
		bend = bend_ns(pair, pair - 1);
	if (i + 2 < line->nr)
		bend = MAX(bend, bend_ns(pair, pair + 1));
	if (line->nr == 2)
		bend = length / 1000000 * BEND_PPM / 2;
	return MAX(width_ns(pair, pair), width_ns(pair, pair + 1)) + bend;
}

static bool is_pause(const struct tsc_line *line, size_t i)
{
	return line->pairs[i + 1].value - line->pairs[i].value > PAUSE_NS;
}

uint64_t tsc_line_error_ns(const struct tsc_line *line)
{
	uint64_t most = 0, pauses = 0;

	for (size_t i = 0; i + 1 < line->nr; i++) {
		uint64_t *sum = is_pause(line, i) ? &pauses : &most;

		*sum = MAX(*sum, interval_error_ns(line, i));
	}
	return most ? most : pauses;
}
