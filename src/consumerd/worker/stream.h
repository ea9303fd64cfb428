/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - writes the data of one ring to the output: it takes ("cuts") published records as
 * packets, writes them to the sink, and releases their space in the ring once they are stored.
 * Owned by a ring set, used by the worker of its output.
 */
#ifndef CONSUMERD_WORKER_STREAM_H
#define CONSUMERD_WORKER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "consumerd/ring/ringcopy.h"
#include "consumerd/ring/stats.h"
#include "consumerd/sink/sink.h"

enum stream_state {
	STREAM_UNPLACED, /* only the relay knows its position, and did not answer yet */
	STREAM_READY,
	STREAM_SENT, /* a packet was written; its outcome is not known */
	STREAM_STATES
};

enum stream_event {
	STREAM_LOSES_PLACE, /* an earlier consumer used the buffer */
	STREAM_IS_PLACED,   /* the sink returned the position to continue at */
	STREAM_SENDS,
	STREAM_IS_ANSWERED, /* the packet is stored, or will not be written again */
	STREAM_EVENTS
};

/** The state after @event in @state. */
enum stream_state stream_next(enum stream_state state, enum stream_event event);

struct stream {
	const struct stream_config *config;
	uint32_t cpu;
	struct sink_stream *out; /* the stream in the sink */
	enum stream_state state;
	/* The last packet that was written, while its outcome is not known. */
	uint64_t sent_pos, sent_count; /* position and number of records at its end */
	struct packet_header sent_header;
	/* Of a ring that is overwritten: a packet has the records of a copy, which are written
	 * before others are copied. */
	struct ring_copy copy;
	uint64_t copied_pos, copied_count; /* position and number of records at its end */
	bool torn_read; /* the last snapshot of the ring words was inconsistent */
	bool ended;	/* no more data is taken: of a ring that is overwritten, it is gone */
	bool reopens;	/* its next packet is an empty one, in new files */
	bool drops;	/* that packet stands behind the pending records, which are dropped */
	bool turned;	/* the relay has made a turn and its answer was lost: @archived is known */
	struct ring_reader reader;
	struct stats_box *box;
	struct packet_header last; /* of the packet written last; magic 0: none is known */
	/* The packets written so far. */
	uint64_t end_ts; /* end of the last packet */
	uint64_t packets;
	uint64_t bytes;
	uint64_t written;	/* records */
	uint64_t archived;	/* of them, records that the last turn has moved */
	uint64_t cleared, kept; /* of them, records that were removed, and that are in archives */
	uint64_t lost_reported; /* losses that the last packet's header counts */
	uint64_t lost_output;
	uint64_t stalled; /* lost in the full ring while nothing could be written */
	uint64_t slow_ns, slow_bytes; /* see msg_con_stream */
};

enum stream_cut {
	STREAM_TAKE = 0,	/* cut even a partly filled sub-buffer */
	STREAM_TAKE_LOSSES = 1, /* if there are losses but no data, write an empty packet */
	STREAM_LAST = 2,	/* the same, for the last packet */
};

/** @config, @box (for its counters): outlive the stream. The caller initialises @stream->reader. */
void stream_init(struct stream *stream, struct sink *sink, const struct stream_config *config,
		 uint32_t cpu, struct stats_box *box);
/**
 * stream_adopt() - continue where an earlier consumer stopped. After stream_init().
 * @cut: bytes cut off its files are added.
 * Return: 0 or negative errno: nothing was changed in the ring.
 */
int stream_adopt(struct stream *stream, uint64_t *cut) MUST_CHECK;
/** Close the stream in the sink; the ring stays unchanged. Return: NULL. */
struct stream *stream_close(struct stream *stream, enum sink_end how);
/** End the stream. Events that are still in the ring are counted as lost to the output, also in the
 *  trace if a packet with the count can be written. */
void stream_fini(struct stream *stream);

/**
 * stream_cut() - write one packet, if there is data, or a reason given by @how.
 * Return: 1: a packet was written, or is in flight: call sink_settle() before the next
 * stream_cut(); 0: there was no data (or the snapshot of the ring was inconsistent); negative
 * errno: the output failed, and the data stays in the ring.
 */
int stream_cut(struct stream *stream, enum stream_cut how) MUST_CHECK;
/** After sink_settle(): write a packet that did not arrive. Return: as stream_cut(). */
int stream_write_again(struct stream *stream) MUST_CHECK;
/** The stream goes on in new files: their first packet is an empty one with the position, sequence
 *  number and counts of the last packet, if there was one. The next stream_cut() writes it.
 *  @drop: the pending records count as written to the old files. */
void stream_turn(struct stream *stream, bool drop);
/** The same where the sink has written that packet, if it did: all records were written. */
void stream_turn_away(struct stream *stream);
/** The turn is done; @clear: its old files are removed. Return: the number of records that were
 *  removed. */
uint64_t stream_end_turn(struct stream *stream, bool clear);
/** Open the stream at the relay on the current connection. Return: 0 or negative errno. */
int stream_attach(struct stream *stream) MUST_CHECK;
/** Update the counters without writing a packet. */
void stream_update(struct stream *stream);

#endif
