/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clock_watch.h - whether the cycle counter still keeps the time by which traces describe it.
 *
 * The counter of a virtual machine can change when the machine is moved to another host or resumed
 * from a snapshot: it jumps, or runs at another rate. Readings of it and of CLOCK_MONOTONIC_RAW,
 * which neither NTP nor settimeofday(2) changes, are compared by ltt-sessiond while a session
 * records. Pure, but for watch_read(); one thread.
 */
#ifndef TRACE_CLOCK_WATCH_H
#define TRACE_CLOCK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/** Readings of several clocks at one moment. */
struct watch_reading {
	uint64_t cycles;
	uint64_t ns;	    /* CLOCK_MONOTONIC_RAW */
	uint64_t asleep_ns; /* in which the machine was suspended, since it was started */
	uint64_t width_ns;  /* error of @ns, at most */
};

/** Zero-initialised but for @hz; the first reading is the first step. */
struct clock_watch {
	uint64_t hz;		      /* the rate that is expected */
	struct watch_reading anchor;  /* of the line on which the counter is to stay */
	struct watch_reading last;    /* the last one that was on it */
	struct watch_reading suspect; /* the first one that was not; width_ns 0: none */
};

enum watch_verdict {
	WATCH_STEADY,
	WATCH_SUSPECT, /* another reading decides, in WATCH_AGAIN_NS or later */
	WATCH_CHANGED,
};

#define WATCH_AGAIN_NS 500000000ull

/** A change between the readings @good and @found; @hz is the rate from then on. */
struct clock_change {
	enum clock_cause cause;
	struct watch_reading good, found;
	int64_t jump_ns; /* by which the counter is ahead of its expected value */
	uint64_t hz, old_hz;
};

struct watch_reading watch_read(void);

/** Compare a new reading with the earlier ones. @ret: for WATCH_CHANGED; after it, the watch
 *  continues with the changed counter. */
enum watch_verdict watch_step(struct clock_watch *watch, const struct watch_reading *now,
			      struct clock_change *ret);

/** Append the segment after a change to the properties of a trace's clock. If the counter went back
 *  to values that it had before, clock_add grows by that, and the trace's clock goes on.
 *  Return: false: there are CLOCK_CHANGES_MAX segments; the last one is kept. */
bool clock_apply(struct clock_facts *facts, const struct clock_change *change);

/** A sentence about the last segment, without a subject: "jumped by ...". */
void clock_describe(const struct clock_segment *segment, char *buf, size_t len);

/** Whether the counter went back to values that it had before. Until the producers add the
 *  difference, records have the last time before it in their ring, or are early by it. */
bool clock_went_back(const struct clock_segment *segment);

#endif
