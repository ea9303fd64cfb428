/* SPDX-License-Identifier: GPL-2.0-only */
/* Quantiles of random values of every size, to 0.4 % of those of the sorted values. */
#include <stdlib.h>
#include <string.h>

#include "analyse/histogram.h"
#include "check.h"

#define VALUES 20000

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t random_value(unsigned int bits)
{
	uint64_t high = (uint64_t)random() << 33, middle = (uint64_t)random() << 11;

	return (high ^ middle ^ (uint64_t)random()) >> (64 - bits);
}

static void check_quantile(const struct histogram *histogram, const uint64_t *sorted, size_t nr,
			   uint32_t permille)
{
	uint64_t want = sorted[(nr * permille + 999) / 1000 - 1];
	uint64_t got = histogram_quantile(histogram, permille);
	uint64_t off = got > want ? got - want : want - got;

	CHECK_IS(off, <=, want / 250);
}

static void check_values(unsigned int bits, size_t nr)
{
	static const uint32_t permilles[] = { 1, 10, 250, 500, 900, 990, 999, 1000 };
	static uint64_t values[VALUES];
	struct histogram histogram = { 0 };
	uint64_t counted = 0;

	for (size_t i = 0; i < nr; i++) {
		values[i] = random_value(1 + (unsigned int)random() % bits);
		histogram_add(&histogram, values[i]);
	}
	qsort(values, nr, sizeof(*values), by_size);
	for (size_t i = 0; i < sizeof(permilles) / sizeof(*permilles); i++)
		check_quantile(&histogram, values, nr, permilles[i]);
	CHECK_IS(histogram.least, ==, values[0]);
	CHECK_IS(histogram.most, ==, values[nr - 1]);
	CHECK_IS(histogram_quantile(&histogram, 1000), ==, values[nr - 1]);
	for (unsigned int power = 0; power < 64; power++) {
		uint64_t from = power ? UINT64_C(1) << power : 0, inside = 0;
		uint64_t last = (UINT64_C(2) << power) - 1;

		for (size_t i = 0; i < nr; i++)
			inside += values[i] >= from && values[i] <= last;
		CHECK_IS(histogram_of_power(&histogram, power), ==, inside);
		counted += inside;
	}
	CHECK_IS(counted, ==, nr);
	histogram_fini(&histogram);
}

int main(void)
{
	struct histogram none = { 0 }, most = { 0 };

	srandom(42);
	CHECK_IS(histogram_quantile(&none, 500), ==, 0);
	for (unsigned int bits = 1; bits <= 64; bits++)
		check_values(bits, 1 + (size_t)random() % VALUES);
	for (size_t nr = 1; nr < 300; nr++)
		check_values(8, nr);
	histogram_add(&most, UINT64_MAX);
	histogram_add(&most, UINT64_MAX);
	CHECK_IS(most.total, ==, UINT64_MAX);
	CHECK_IS(histogram_quantile(&most, 1), ==, UINT64_MAX);
	CHECK_IS(histogram_of_power(&most, 63), ==, 2);
	histogram_fini(&most);
	return 0;
}
