/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - counters of one stream, from the worker that owns it to the main
 * thread that answers questions: a reading is consistent and never waits, also
 * while the worker hangs in a write. A sequence counter around plain words.
 */
#ifndef CONSUMERD_RING_STATS_H
#define CONSUMERD_RING_STATS_H

#include <stdint.h>

#include "reader.h"

struct stats {
	uint64_t recorded;
	uint64_t written;
	uint64_t lost[LOST_KINDS];
	uint64_t lost_output;
	uint64_t lost_invalid; /* bytes */
	uint64_t bytes;
	uint64_t packets;
	uint64_t size;
	uint64_t released; /* of recorded: written or lost */
	uint64_t stalled;  /* of lost[LOST_FULL]: while nothing could be written */
	uint64_t stalling; /* so it is now */
	/* what the ring said at that moment, to add what came since */
	uint64_t raw_count;
	uint64_t raw_lost[LOST_KINDS];
	uint64_t snapshot_ns;
};

struct stats_box {
	uint32_t seq; /* odd while it is being written */
	struct stats stats;
};

void stats_publish(struct stats_box *box, const struct stats *stats);
void stats_read(const struct stats_box *box, struct stats *ret);

#endif
