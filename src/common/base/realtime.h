/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* realtime.h - the time of day. */
#ifndef BASE_REALTIME_H
#define BASE_REALTIME_H

#include <stdint.h>
#include <time.h>

/** CLOCK_REALTIME: ns since 1970. */
static inline uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
