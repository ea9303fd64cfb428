/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one ring's data on its way to the output: it cuts packets, writes them to the sink,
 * and releases their space in the ring once they are stored. Owned by a ring set, used by the
 * worker of its output.
 */
#ifndef CONSUMERD_WORKER_STREAM_H
#define CONSUMERD_WORKER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "consumerd/ring/reader.h"
#include "consumerd/ring/stats.h"
#include "consumerd/sink/sink.h"

enum stream_state {
	STREAM_UNPLACED, /* its position is known to a relay alone, which did not answer yet */
	STREAM_READY,
	STREAM_SENT, /* a packet was written whose outcome is not known */
	STREAM_STATES
};

enum stream_event {
	STREAM_LOSES_PLACE, /* an earlier consumer used the buffer */
	STREAM_IS_PLACED,   /* the sink said where to continue */
	STREAM_SENDS,
	STREAM_IS_ANSWERED, /* the packet is stored, or will not be written again */
	STREAM_EVENTS
};

/** The state after @event in @state. */
enum stream_state stream_next(enum stream_state state, enum stream_event event);

struct stream {
	const struct stream_config *config;
	uint32_t cpu;
	struct sink_stream *out; /* its part of the sink */
	enum stream_state state;
	/* of the last packet that was written, while its outcome is not known: */
	uint64_t sent_pos, sent_count; /* its end */
	struct packet_header sent_header;
	bool torn_read; /* the last look saw nothing that stood still */
	struct ring_reader reader;
	struct stats_box *box;
	/* of the packets written so far */
	uint64_t end_ts;
	uint64_t packets;
	uint64_t bytes;
	uint64_t written;	/* records */
	uint64_t lost_reported; /* losses that the last packet's header counts */
	uint64_t lost_output;
	uint64_t stalled; /* lost in the full ring while nothing could be written */
};

enum stream_cut {
	STREAM_TAKE = 0,	/* take what there is, if there is anything */
	STREAM_TAKE_LOSSES = 1, /* also where only losses are new: an empty packet */
	STREAM_LAST = 2,	/* as that, and nothing will follow */
};

/** @config, @box (for its counters): outlive it. The reader is set up by the caller. */
void stream_init(struct stream *stream, struct sink *sink, const struct stream_config *config,
		 uint32_t cpu, struct stats_box *box);
/**
 * stream_adopt() - continue where an earlier consumer stopped. After stream_init().
 * @cut: bytes cut off its files are added.
 * Return: 0 or negative errno: nothing was changed in the ring.
 */
int stream_adopt(struct stream *stream, uint64_t *cut) MUST_CHECK;
/** Close its part of the sink and leave the ring as it is. Return: NULL. */
struct stream *stream_close(struct stream *stream, enum sink_end how);
/** Close it for good. Events that are still in the ring are counted as lost to the output, in
 *  the trace too if that account can be written. */
void stream_fini(struct stream *stream);

/**
 * stream_cut() - write one packet, if there is reason for one.
 * Return: 1 records were taken, or are in flight: sink_settle(), which is called before the next
 * one, waits for the outcome; 0 there were none (or the snapshot of the ring was inconsistent),
 * negative errno: the output failed and the data stays in the ring.
 */
int stream_cut(struct stream *stream, enum stream_cut how) MUST_CHECK;
/** After sink_settle(): write a packet that did not arrive. Return: as stream_cut(). */
int stream_write_again(struct stream *stream) MUST_CHECK;
/** Make it known to a relay on the present connection. Return: 0 or negative errno. */
int stream_attach(struct stream *stream) MUST_CHECK;
/** Only keep the counters up to date. */
void stream_update(struct stream *stream);

#endif
