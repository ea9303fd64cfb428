/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clock.h - the clock of traces: its source, its frequency, and the calendar time of its value 0.
 * Used by ltt-sessiond; one thread.
 *
 * The CPU's cycle counter is used where it is invariant (counter.h); else CLOCK_MONOTONIC. The
 * counter's frequency is the one that the kernel, the hypervisor or the processor states, or it is
 * measured; `source` describes its origin, in a text that is stored in the trace.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "ltt_ring.h"

/** Readings of three clocks, taken within the shortest possible time. */
struct clock_sample {
	uint64_t cycles;   /* trace clock, in its unit */
	uint64_t raw_ns;   /* CLOCK_MONOTONIC_RAW */
	uint64_t real_ns;  /* CLOCK_REALTIME */
	uint64_t width_ns; /* time between the first and the last reading */
};

struct trace_clock {
	enum ltt_clock_kind kind;
	uint64_t known_hz; /* exact frequency; 0: it has to be measured */
	char source[96];   /* origin of the frequency, as text */
	char why[160];	   /* reason for the choice of the clock, as text */
	bool refused;	   /* the counter, by a measurement that contradicts the kernel */
	struct clock_sample first;
};

/** Reason for a new segment of a clock; numbers are in traces and saved states. */
enum clock_cause {
	CLOCK_JUMPED = 1,
	CLOCK_RATE = 2,	   /* the counter runs at another rate; it may have jumped, too */
	CLOCK_STOPPED = 3, /* while the machine was suspended */
};

/**
 * struct clock_segment - from a value of the counter on, times follow from it in another way.
 * @from: the first value. @base_ns: ns since 1970 of value 0, at @freq_hz.
 * @first, @last: values in this range can be of before and of after the change; @last < @first:
 * there are none. @old_base_ns, @old_hz: as @base_ns and @freq_hz, of the segment before.
 */
struct clock_segment {
	uint64_t from, freq_hz;
	int64_t base_ns;
	uint64_t first, last;
	int64_t jump_ns; /* by which the counter was ahead of its expected value */
	uint64_t old_hz;
	int64_t old_base_ns;
	enum clock_cause cause;
};

/**
 * struct clock_pair - readings of a trace's clock and of the CPU's cycle counter at one moment.
 * @width: cycles in which both were read, and by which the counters of the CPUs are known to
 * differ; 0: there is no pair.
 */
struct clock_pair {
	uint64_t value, counter, width;
};

/** Changes of a clock that are noted in a trace, and read. */
#define CLOCK_CHANGES_MAX 1024
/** Pairs that are read; one a minute are 45 days. */
#define CLOCK_PAIRS_MAX 65536

/** Properties of a trace's clock. @freq_hz and the offsets: of its first segment. @clock_add: as of
 *  struct ltt_ring_cons; all other values are of the sum, which is the trace's clock. */
struct clock_facts {
	enum ltt_clock_kind kind;
	uint64_t freq_hz;
	uint64_t precision; /* cycles */
	uint64_t offset_s;  /* time from the Epoch to the clock's value 0: seconds, */
	uint64_t offset;    /* and cycles in addition */
	char source[96];
	char uuid[40];		      /* this boot's id; empty: unknown */
	uint32_t nr_changes;	      /* at most CLOCK_CHANGES_MAX of them are segments */
	struct clock_segment changed; /* the last segment */
	uint64_t changed_ns;	      /* when it began, about: ns since 1970 */
	uint64_t clock_add;
	int64_t wall_ns; /* clock_wall_ns() when the offsets were read; 0: not known */
	int64_t set_ns;	 /* by which the time of day was set since then */
	struct clock_pair pair; /* the last one, of a clock that is not the counter */
};

/** CLOCK_MONOTONIC of the initial time namespace, in ns. */
uint64_t clock_monotonic_ns(void);
/** Choose the clock. LTT_CLOCK=monotonic or cycles in the environment decides instead of the
 *  measurement, which takes some milliseconds, once in a process. */
void clock_init(struct trace_clock *clock);
/** Take the kind that the kernel module has chosen, instead of the own choice; not if LTT_CLOCK
 *  decides, nor the counter if a measurement has refused it. Return: whether it has changed. */
bool clock_take(struct trace_clock *clock, enum ltt_clock_kind kind);
/** Current properties: a measured frequency becomes more exact with time. */
void clock_facts(struct trace_clock *clock, struct clock_facts *ret);
/** CLOCK_REALTIME less CLOCK_BOOTTIME: nothing but setting the time of day changes it, no slewing
 *  by NTP and no suspension. */
int64_t clock_wall_ns(void);
/** The clock's frequency, as exactly as it is known now. */
uint64_t clock_hz(struct trace_clock *clock);

/** Compare the clock with the time stamp counter, by which the traces of a guest and of its host
 *  are related. @ret: width 0: the clock is the counter, or the counter of a guest is not known to
 *  its host (arm64). */
void clock_pair(const struct trace_clock *clock, struct clock_pair *ret);

/** Nanoseconds of a number of cycles, rounded down: exactly, with integers only. The remainder's
 *  product needs 128 bits above 18 GHz only. */
static inline int64_t clock_cycles_to_ns(uint64_t hz, uint64_t cycles)
{
	if (hz == 1000000000u)
		return (int64_t)cycles;
	if (hz < UINT64_MAX / 1000000000u)
		return (int64_t)(cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz);
	return (int64_t)((unsigned __int128)cycles * 1000000000u / hz);
}

/** ns since 1970 of a clock's value 0. As in babeltrace2, the offset and the value are rounded down
 *  separately. */
static inline int64_t clock_base_ns(uint64_t hz, int64_t offset_s, int64_t offset)
{
	int64_t ns = offset < 0 ? -clock_cycles_to_ns(hz, -(uint64_t)offset) :
				  clock_cycles_to_ns(hz, (uint64_t)offset);

	return (int64_t)((uint64_t)offset_s * 1000000000u + (uint64_t)ns);
}

/** The time of a value v is @base_ns + 10^9 v / @hz, in ns since 1970. */
struct clock_line {
	uint64_t hz;
	int64_t base_ns;
};

/** How the time follows from a value of a trace's clock; of the segments before the last two, of
 *  which the facts know nothing, the times are those of the last but one. */
static inline struct clock_line clock_facts_line(const struct clock_facts *facts, uint64_t value)
{
	const struct clock_segment *last = &facts->changed;

	if (facts->nr_changes && value >= last->from)
		return (struct clock_line){ last->freq_hz, last->base_ns };
	if (facts->nr_changes > 1)
		return (struct clock_line){ last->old_hz, last->old_base_ns };
	return (struct clock_line){ facts->freq_hz,
				    clock_base_ns(facts->freq_hz, (int64_t)facts->offset_s,
						  (int64_t)facts->offset) };
}

/** ns since 1970 of a value of a trace's clock. */
static inline int64_t clock_facts_ns(const struct clock_facts *facts, uint64_t value)
{
	const struct clock_line line = clock_facts_line(facts, value);

	return (int64_t)((uint64_t)line.base_ns + (uint64_t)clock_cycles_to_ns(line.hz, value) +
			 (uint64_t)facts->set_ns);
}

/** Pure parts, for tests. */
uint64_t clock_measure_hz(const struct clock_sample *from, const struct clock_sample *to);
void clock_offset(uint64_t cycles, uint64_t real_ns, uint64_t freq_hz, uint64_t *ret_s,
		  uint64_t *ret_cycles);

#endif
