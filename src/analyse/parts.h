/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.h - how a thread passed a time: on a CPU, waiting for one, and asleep, and in which system
 * call it slept most, by the kernel's events of this time. It runs at the begin. Owned by one
 * reader.
 */
#ifndef ANALYSE_PARTS_H
#define ANALYSE_PARTS_H

#include <stdint.h>

struct event;

#define PARTS_CALLS 16u /* in which a thread sleeps; the others count as unknown */

enum parts_state { PARTS_RUNNING, PARTS_RUNNABLE, PARTS_ASLEEP, PARTS_NR_STATES };

struct parts_call {
	const char *name;
	uint64_t asleep_ns;
};

/** struct parts - @ns: of each state. @calls: @nr_calls; names are valid as long as the view. */
struct parts {
	uint64_t tid;
	int64_t since_ns;
	enum parts_state state;
	uint64_t ns[PARTS_NR_STATES];
	const char *call; /* in which it is; NULL: none or unknown */
	struct parts_call calls[PARTS_CALLS];
	uint32_t nr_calls;
};

void parts_begin(struct parts *parts, uint64_t tid, int64_t from_ns);
/** The event is the next one in time, of any thread. */
void parts_take(struct parts *parts, const struct event *event);
void parts_end(struct parts *parts, int64_t until_ns);
/** The call in which it slept longest; NULL: none is known. */
const struct parts_call *parts_longest(const struct parts *parts);

#endif
