/* SPDX-License-Identifier: GPL-2.0-only */
#include "clock.h"

void clock_finish(struct ctf_clock *clock)
{
	int64_t ns = clock->offset < 0 ?
			     -clock_cycles_to_ns(clock->freq, -(uint64_t)clock->offset) :
			     clock_cycles_to_ns(clock->freq, clock->offset);

	clock->base_ns = (int64_t)((uint64_t)clock->offset_s * NS_PER_S + (uint64_t)ns);
}
