/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - counts values by ranges that grow with the value, so that any quantile is known
 * to 0.4 % in bounded memory (60 kB). Values below 256 are exact. Owned by one reader.
 */
#ifndef ANALYSE_HISTOGRAM_H
#define ANALYSE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BLOCKS 59u
#define HISTOGRAM_BLOCK 128u /* ranges of a power of two */

/** struct histogram - to be initialised with zeros. @blocks: allocated when they are needed. */
struct histogram {
	uint64_t count, total, least, most;
	uint64_t *blocks[HISTOGRAM_BLOCKS];
};

void histogram_fini(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);

/** The value that @permille of 1,000 values don't exceed: the middle of its range; 0: there are no
 *  values. */
uint64_t histogram_quantile(const struct histogram *histogram, uint32_t permille);

/** The number of values from 2^@power on, below 2^(@power + 1); 0 belongs to the power 0. */
uint64_t histogram_of_power(const struct histogram *histogram, unsigned int power);

#endif
