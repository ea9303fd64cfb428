/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counters.h - list of the counters that the records con_stream, totals and the saved state of a
 * session daemon have in common, with the same names. Pure.
 */
#ifndef PROTO_COUNTERS_H
#define PROTO_COUNTERS_H

#define COUNTERS(X)     \
	X(recorded)     \
	X(written)      \
	X(lost_full)    \
	X(lost_stalled) \
	X(lost_size)    \
	X(lost_busy)    \
	X(lost_output)  \
	X(lost_invalid) \
	X(lost_buffers) \
	X(not_sampled)  \
	X(overwritten)  \
	X(bytes)        \
	X(packets)      \
	X(slow_ns)      \
	X(slow_bytes)   \
	X(cleared)

#define COUNTERS_ADD_ONE(name) counters_to_->name += counters_from_->name;
#define COUNTERS_COPY_ONE(name) counters_to_->name = counters_from_->name;

#define COUNTERS_EACH(to, from, what)                               \
	do {                                                        \
		__typeof__(to) counters_to_ = (to);                 \
		const __typeof__(*(from)) *counters_from_ = (from); \
                                                                    \
		COUNTERS(what)                                      \
	} while (0)

/** Add the counters of record *@from to those of *@to; copy them. */
#define COUNTERS_ADD(to, from) COUNTERS_EACH(to, from, COUNTERS_ADD_ONE)
#define COUNTERS_COPY(to, from) COUNTERS_EACH(to, from, COUNTERS_COPY_ONE)

#endif
