/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - counters of one stream, which the worker publishes and the main thread
 * reads, to answer requests: a reading is consistent and never waits, also
 * while the worker hangs in a write. A sequence counter protects plain words.
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
	uint64_t size;	   /* bytes of the ring */
	uint64_t released; /* part of @recorded: written or lost to the output */
	uint64_t stalled;  /* part of lost[LOST_FULL]: lost while nothing could be written */
	uint64_t slow_ns, slow_bytes; /* see msg_con_stream */
	uint64_t stalling; /* 1: nothing can be written now */
	/* The ring's counts at the time of the snapshot, by which later events are added. */
	uint64_t raw_count;
	uint64_t raw_lost[LOST_KINDS];
	uint64_t raw_not_sampled;
	uint64_t snapshot_ns;
	uint64_t not_sampled;
	uint64_t overwritten; /* part of @recorded and of @released, and in no snapshot or packet */
	uint64_t held, held_bytes; /* of a ring that is overwritten: of the others, the oldest, of
				    * which there is a copy */
	uint64_t cleared;     /* the same: removed by a clear */
	uint64_t unreported;  /* part of the lost ones: no packet counts them */
	uint64_t produced;    /* bytes, see msg_con_stream; set when it is read */
};

struct stats_box {
	uint32_t seq; /* odd while it is being written */
	struct stats stats;
};

/** Divide the records of a ring that is kept: @saved of them are in snapshots, @unsaved only in the
 *  ring, and @cleared were removed. */
void stats_divide(struct stats *stats, uint64_t saved, uint64_t unsaved, uint64_t cleared);

void stats_publish(struct stats_box *box, const struct stats *stats);
void stats_read(const struct stats_box *box, struct stats *ret);

#endif
