/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clock.h"

#include "guest.h"

void clock_finish(struct ctf_clock *clock)
{
	clock->base_ns = clock_base_ns(clock->freq, clock->offset_s, clock->offset);
	if (clock->freq && clock->freq != NS_PER_S && clock->freq < UINT64_MAX / NS_PER_S)
		clock->inverse = UINT64_MAX / clock->freq;
}

/* @floor: never a time before the segment's. */
static int64_t segment_ns(uint64_t freq, int64_t base_ns, int64_t floor_ns, uint64_t cycles)
{
	int64_t ns = (int64_t)((uint64_t)base_ns + (uint64_t)clock_cycles_to_ns(freq, cycles));

	return ns < floor_ns ? floor_ns : ns;
}

int64_t clock_indirect_ns(const struct ctf_clock *clock, uint64_t cycles)
{
	if (clock->guest)
		return guest_clock_ns(clock->guest, cycles);
	for (size_t i = clock->nr_changes; i > 0; i--) {
		const struct ctf_clock_change *c = &clock->changes[i - 1];

		if (cycles >= c->from)
			return segment_ns(c->freq, c->base_ns, c->floor_ns, cycles);
	}
	return segment_ns(clock->freq, clock->base_ns, INT64_MIN, cycles);
}

void clock_add_change(struct ctf_clock *clock, struct ctf_clock_change *changes,
		      const struct clock_segment *segment)
{
	struct ctf_clock_change *c = &changes[clock->nr_changes];
	int64_t before = clock_indirect_ns(clock, segment->from);

	*c = (struct ctf_clock_change){
		.from = segment->from,
		.freq = segment->freq_hz,
		.base_ns = segment->base_ns,
		.floor_ns = segment->first <= segment->last ? before : INT64_MIN,
	};
	clock->changes = changes;
	clock->nr_changes++;
	clock->indirect = true;
}
