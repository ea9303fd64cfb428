/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampling.h - sampling of the events that a rule accepts: record one of N, a number in each
 * second, or the first ones after each start. Part of the model of ltt-sessiond; pure.
 */
#ifndef CORE_SAMPLING_H
#define CORE_SAMPLING_H

#include <stdint.h>

#include "base/err.h"

#define SAMPLING_MAX_FIELD 127u
#define SAMPLING_MAX_TEXT 255u
#define SAMPLING_MAX_RATE 10000000u
#define SAMPLING_MAX_FIRST (1ull << 39)
/* Rules of a channel that may have a rate or a number of first events: each uses two words of
 * LTT_FILTER_WORDS. */
#define SAMPLING_MAX_RULES 120u

/** struct sampling - 0 and "": no such limit. @one_in: N of "1/N"; @by: the field whose value
 *  selects. */
struct sampling {
	uint32_t one_in;
	char by[SAMPLING_MAX_FIELD + 1];
	uint32_t rate;	/* most events in a second */
	uint64_t first; /* number of events after a start */
};

/**
 * sampling_parse() - parse "1/64 by FIELD, 100/s, first 10": any of the three, in any order.
 * @text: "" is no limit.
 *
 * Return: 0 or the code set in @err.
 */
int sampling_parse(const char *text, struct sampling *ret, struct err *err);

/** Whether the sampling needs words of LTT_FILTER_WORDS. */
static inline int sampling_has_budget(const struct sampling *sampling)
{
	return sampling->rate || sampling->first;
}

#endif
