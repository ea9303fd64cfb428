/* SPDX-License-Identifier: GPL-2.0-only */
#include "histogram.h"

#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"

#define BLOCK_BITS 7 /* of HISTOGRAM_BLOCK */

void histogram_fini(struct histogram *histogram)
{
	for (uint32_t i = 0; i < HISTOGRAM_BLOCKS; i++)
		free(histogram->blocks[i]);
}

/* The number of the range: the first 8 bits of the value, and how far they are shifted. */
static uint32_t histogram_range(uint64_t value)
{
	int bits = 64 - __builtin_clzll(value | 1);
	int shift = MAX(bits - (BLOCK_BITS + 1), 0);

	return (uint32_t)shift * HISTOGRAM_BLOCK + (uint32_t)(value >> shift);
}

static uint64_t histogram_first(uint32_t range)
{
	uint32_t shift = range < 2 * HISTOGRAM_BLOCK ? 0 : range / HISTOGRAM_BLOCK - 1;

	return (uint64_t)(range - shift * HISTOGRAM_BLOCK) << shift;
}

static uint64_t histogram_middle(uint32_t range)
{
	uint64_t first = histogram_first(range);

	return first + (histogram_first(range + 1) - first - 1) / 2;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	uint32_t range = histogram_range(value);
	uint64_t **block = &histogram->blocks[range / HISTOGRAM_BLOCK];

	if (!*block)
		*block = xalloc(HISTOGRAM_BLOCK * sizeof(**block));
	(*block)[range % HISTOGRAM_BLOCK]++;
	histogram->least = histogram->count ? MIN(histogram->least, value) : value;
	histogram->most = MAX(histogram->most, value);
	histogram->count++;
	if (__builtin_add_overflow(histogram->total, value, &histogram->total))
		histogram->total = UINT64_MAX;
}

uint64_t histogram_quantile(const struct histogram *histogram, uint32_t permille)
{
	/* the count of those that are at most as large, rounded up */
	uint64_t rank = histogram->count / 1000 * permille +
			(histogram->count % 1000 * permille + 999) / 1000;
	uint64_t seen = 0;

	if (rank >= histogram->count)
		return histogram->most;
	for (uint32_t i = 0; i < HISTOGRAM_BLOCKS * HISTOGRAM_BLOCK; i++) {
		const uint64_t *block = histogram->blocks[i / HISTOGRAM_BLOCK];

		seen += block ? block[i % HISTOGRAM_BLOCK] : 0;
		if (seen && seen >= rank)
			return MIN(MAX(histogram_middle(i), histogram->least), histogram->most);
	}
	return 0;
}

uint64_t histogram_of_power(const struct histogram *histogram, unsigned int power)
{
	uint32_t from = histogram_range(power ? UINT64_C(1) << power : 0);
	uint32_t to = histogram_range((UINT64_C(2) << power) - 1);
	uint64_t nr = 0;

	for (uint32_t i = from; i <= to; i++) {
		const uint64_t *block = histogram->blocks[i / HISTOGRAM_BLOCK];

		nr += block ? block[i % HISTOGRAM_BLOCK] : 0;
	}
	return nr;
}
