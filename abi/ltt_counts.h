/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_counts.h - memory in which applications count events.
 *
 * One memfd for a user's applications in a session, made and sealed by the
 * session daemon: a part for each CPU and one more, all alike. A counter is at the
 * same place of each part, and its value is the sum over all parts. A restartable
 * sequence adds to the part of the CPU that it is on, by plain additions; all others
 * add to the last part, atomically. Applications may overwrite all of it: a reader
 * trusts nothing except that the words are numbers.
 *
 * A counter of hits is one word; one with a histogram is struct ltt_counts.
 */
#ifndef LTT_ABI_COUNTS_H
#define LTT_ABI_COUNTS_H

#include <stdint.h>

#define LTT_COUNTS_BUCKETS 65

/** struct ltt_counts - modulo 2^64, each for itself. */
struct ltt_counts {
	uint64_t count;	   /* hits */
	uint64_t sum;	   /* of the field's values */
	uint64_t negative; /* values below 0, which are in no bucket */
	uint64_t missed;   /* hits whose value could not be read */
	uint64_t buckets[LTT_COUNTS_BUCKETS]; /* 0; and from 2^(k-1) to 2^k - 1 */
};

#define LTT_COUNTS_WORDS ((uint32_t)(sizeof(struct ltt_counts) / sizeof(uint64_t)))

#endif
