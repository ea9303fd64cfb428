/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one ring's way to its stream file, here or at a relay: cuts packets, has
 * them written, and gives the space back. Owned by a ring set, used by the
 * worker of its output.
 */
#ifndef CONSUMERD_WORKER_STREAM_H
#define CONSUMERD_WORKER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "consumerd/ring/reader.h"
#include "consumerd/ring/stats.h"
#include "store/streamfile.h"
#include "trace/packet.h"

struct stream {
	const struct stream_config *config;
	uint32_t cpu;
	uint32_t relay_id;		  /* at the relay; 0: not known there */
	uint32_t relay_epoch;		  /* the connection on which it was */
	bool sent;			  /* a packet is on its way, not acknowledged: */
	uint64_t sent_pos, sent_count;	  /* up to here */
	struct packet_header sent_header; /* with a spool: it stays as it is */
	struct spooled *spooled;	  /* where it goes then; NULL: not asked for yet */
	bool unknown;  /* a relay knows how far it is, and could not be asked yet */
	bool torn_read; /* the last look saw nothing that stood still */
	struct ring_reader reader;
	struct stream_file file;
	struct stats_box *box;
	/* of the packets written so far */
	uint64_t end_ts;
	uint64_t packets;
	uint64_t bytes;
	uint64_t written;   /* records */
	uint64_t lost_reported; /* losses that the last packet's header counts */
	uint64_t lost_output;
	uint64_t stalled; /* lost in the full ring while nothing could be written */
};

/** Let others see the counters. */
void stream_publish(struct stream *stream);

enum stream_cut {
	STREAM_TAKE = 0,	/* take what there is, if there is anything */
	STREAM_TAKE_LOSSES = 1, /* also where only losses are new: an empty packet */
	STREAM_LAST = 2,	/* as that, and nothing will follow */
};

/** @box: where to publish counters; outlives the stream. The reader is set up by the caller. */
void stream_init(struct stream *stream, const struct stream_config *config, uint32_t cpu,
		 struct stats_box *box);
/**
 * stream_adopt() - go on behind the last whole packet of the stream's files, where
 * an earlier consumer stopped. After stream_init().
 * @cut: bytes cut off are added.
 * Return: 0 or negative errno: nothing was changed in the ring.
 */
int stream_adopt(struct stream *stream, uint64_t *cut) MUST_CHECK;
/** Nothing more comes of the ring; what is spooled of it is still sent. */
void stream_abandon(struct stream *stream);
/** Close the files and leave the ring as it is. */
void stream_close(struct stream *stream);
/** Close the files. Events that are still in the ring are counted as lost to the output, in
 *  them too if they take at least that. */
void stream_fini(struct stream *stream);

/**
 * stream_cut() - one packet, if there is reason for one.
 * Return: 1 records were taken, or are in flight to a relay: relay_conn_drain(), which is called
 * before the next one, returns the outcome; 0 there were none (or the snapshot of the ring was
 * inconsistent), negative errno: the output failed and the data stays in the ring.
 */
int stream_cut(struct stream *stream, enum stream_cut how) MUST_CHECK;
/** Have the relay know it on this connection. Return: 0 or negative errno. */
int stream_attach(struct stream *stream) MUST_CHECK;
/** Only keep the counters up to date. */
void stream_update(struct stream *stream);
/** Have its file on the disk. Return: 0 or negative errno. */
int stream_sync(struct stream *stream) MUST_CHECK;

#endif
