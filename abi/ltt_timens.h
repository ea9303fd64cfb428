/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_timens.h - CLOCK_MONOTONIC across time namespaces (time_namespaces(7)): each namespace
 * has an offset of its own, and a trace has one clock. Producers and daemons subtract
 * the offset, so that all record the time of the initial namespace, as the kernel does.
 */
#ifndef LTT_TIMENS_H
#define LTT_TIMENS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LTT_TIMENS_OFFSETS "/proc/self/timens_offsets"

/** The time by which this namespace's CLOCK_MONOTONIC is ahead of the initial namespace's, in ns.
 *  @offsets: text of LTT_TIMENS_OFFSETS, ended by NUL; "": 0. */
static inline uint64_t ltt_timens_monotonic(const char *offsets)
{
	const char *at = strncmp(offsets, "monotonic", 9) == 0 ? offsets + 9 : "";
	char *end;
	long long seconds = strtoll(at, &end, 10);
	long long ns = strtoll(end, NULL, 10);

	return (uint64_t)seconds * 1000000000u + (uint64_t)ns;
}

#endif
