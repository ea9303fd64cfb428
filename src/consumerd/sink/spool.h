/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.h - files on this host for the data that an unreachable relay has not received: the traces
 * as they would be here, in small files, which are sent in their order when the relay is back, and
 * then erased. Owned by a worker; runs in its thread.
 *
 * While the connection works, a packet is sent to the relay directly, and only its header is saved
 * here, before it is sent. A restarted consumer continues from that header, with or without the
 * relay, and sends the packet again if its space in the ring was not released. Once the connection
 * has failed, all packets are appended to the files until the files are empty again. A packet keeps
 * its number, so the relay recognises those that it has already.
 *
 * Damage in the files costs the packets that it is in, and is counted: as lost to the output, in an
 * empty packet that replaces the damaged one and in all later ones.
 *
 * If the relay puts its data into a store, all packets go by the files, and stay there until they
 * are in the store: a relay may lose its disk. On the next connection the spool goes on with the
 * first packet that neither the relay nor its store has.
 *
 * A turn of the session has its place among the packets: the relay makes it when it has all that
 * are before, and then receives the others.
 *
 * spool.c is the sink, spooled.c one stream's part of it, spool_mark.c the turns.
 */
#ifndef CONSUMERD_SINK_SPOOL_H
#define CONSUMERD_SINK_SPOOL_H

#include "io/spoolfacts.h"
#include "sink.h"
#include "store/chunk_drain.h"

struct spool {
	struct sink sink;
	struct disk *disk;
	struct chunk *chunk; /* owned by the worker */
	const struct sink_host *host;
	int dir_fd;		  /* of the spool's directory; owned by the worker */
	int lock;		  /* descriptor of the lock file; -1: the spool is not locked */
	uint64_t nr_found_traces; /* traces that existed when the spool was opened */
	struct spoolfacts facts;  /* as in the file; no name: it has none */
	struct list_node streams; /* struct spooled */
	bool fills;		  /* packets go to the files: the connection failed, or is slow */
	bool offline;		  /* and the relay is waited for: no request can be sent */
	bool store_known;	  /* by a connection */
	bool keeps;		  /* its relay has a store: copies stay until they are there */
	bool flush;		  /* the store is awaited */
	uint64_t poll_ns;	  /* time of the next rel_durable */
	char store_problem[RELAY_CONN_PROBLEM_BYTES]; /* why it takes no data; "": it does */
	unsigned int nr_streams;
	bool sending;		  /* a packet is sent from its ring: it has no copy yet */
	struct list_node marks; /* struct spool_mark: turns that the relay has not made, in order */
	struct list_node made;	/* rotations that it has made, and its store may lack, in order */
	char *rotated;		/* name of the last rotation that it has made; NULL: none */
	uint64_t last_mark;	/* number of the newest that there was, or is made */
	bool leftover;		/* the spool of an earlier session: it is sent, nothing is added */
	bool unfinished;	/* it did not end: the events in its buffers are lost */
	unsigned int nr_unopened; /* streams that were found, and stay there, with the last error */
	int unopened_error;
	unsigned int nr_ahead;	/* sum of the streams' nr_ahead */
	int ahead_error;	/* the first error of those; then no more are sent until all are
				 * answered */
	int error;		/* last error of the connection, or of reading the files; 0: none */
	char problem[400];	/* the same as a sentence */
	uint64_t retry_ns,
		backoff_ns; /* time of the next attempt to connect; the pause before it */
};

/** A turn between the packets that wait in the files. */
struct spool_mark {
	struct list_node node;
	uint64_t number; /* from 1 */
	char *name; /* at the relay */
	bool clear;
};

#define SPOOL_MARK_SHIFT 32 /* in the number of a file: that of the mark before it */

/** A stream's hidden file: fits into a page, so that a kill can't tear it. A header with magic 0
 *  means none. */
struct spool_note {
	uint32_t magic, cpu, stream_class, first_instance;
	uint64_t tracefile_size;
	uint32_t tracefile_count, zero;

	/* The last packet that was sent from its ring, or appended to the files; its checksum is
	 * that of both ends of its body. */
	struct packet_header last;

	/* The last packet that the relay has acknowledged, without the events in @out.missed. A
	 * relay that lost its power may come back with less: the rest is counted as missed, so that
	 * on each connection this is the relay's last one. */
	struct packet_header acked;
	uint64_t missed;     /* @out.missed */
	uint64_t missed_end; /* sequence number after the last packet counted there */

	/* While copies are kept: the last packet before them. */
	struct packet_header base;
	uint64_t base_durable; /* 1: it is in the relay's store, with all before */
};

/** One stream in the spool. It outlives the worker's stream while some of it waits. */
struct spooled {
	struct sink_stream out; /* while the worker's stream is open */
	struct list_node node;
	struct spool *spool;
	struct stream_config relay_config; /* of the stream at the relay; owns the channel's name */
	struct stream_config spool_config; /* of the small files here */
	bool is_open;			   /* by spooled_open() */
	bool unplaced;			   /* only the relay knows its position */
	bool ended;			   /* nothing will be added */
	bool blank;			   /* the relay has no packet, as it has lost its disk */

	struct relay_conn_place place;
	/* @out.missed: the number of events in packets that were damaged in the files, or lost by
	 * the relay after it had acknowledged them. It is added to the losses in each header that
	 * is sent; headers in the ring and in the files do not include it. */
	struct spool_note note;
	int note_fd;	       /* its file */
	bool is_last_in_files; /* note.last: since the stream was opened, nothing was added */

	struct chunk_stream file; /* where packets are added */
	struct chunk_drain drain; /* from the files to the relay */
	/* Packets, or parts of one, that were sent from the files and are not acknowledged, the
	 * oldest first. */
	struct spooled_sent {
		struct packet_header header;
		uint64_t bytes; /* in the file; 0: more of the packet follows, or it is not
				 * counted */
	} ahead[RELAY_CONN_MAX_POSTED];
	unsigned int nr_ahead;
	struct relay_conn_begun begun; /* packet of which the relay has a part, as it reported */
	/* The packet that is being sent in parts. */
	struct packet_header header;	  /* as in the file */
	struct packet_header sent_header; /* as sent to the relay */
	void *body;			  /* NULL: no packet is being sent in parts */
	uint64_t body_offset;		  /* bytes of @body that were sent */
};

/** A stream of the spool to which packets will be added: one that was found, or a new one. */
struct spooled *spool_stream(struct spool *spool, const struct stream_config *config, uint32_t cpu);
/** Add the streams of a trace whose files an earlier consumer or session left. */
void spool_find(struct spool *spool, const struct chunk_trace *trace);
/** Open the stream's files, unless they are: as the output's user, so not before there is something
 *  for them. Return: 0 or negative errno. */
int spooled_open(struct spooled *sp) MUST_CHECK;
/** Close the stream's files. @remove: also erase them. Return: NULL. */
struct spooled *spooled_free(struct spooled *sp, bool remove);

/** Send a packet to the relay; its checksum is not known yet. Return: 0: the outcome is reported to
 *  the worker's stream; 1: the packet must be appended to the files; negative errno: its header
 *  can't be saved. */
int spool_send(struct spooled *sp, const struct packet_header *header, const void *body) MUST_CHECK;
/** Append a packet to the files, with a checksum computed here: that of @header is ignored.
 *  @source: as of chunk_stream_append(). */
int spool_add(struct spooled *sp, const struct packet_header *header, const void *body,
	      const struct splice_source *source) MUST_CHECK;
/** Whether @body is the body of the packet @noted. */
bool spool_is_noted(const struct packet_header *noted, const void *body);
/** Open the stream at the relay on this connection, and receive the header of its last packet. */
int spool_attach(struct spooled *sp) MUST_CHECK;
/** The relay has acknowledged the packet that was sent last, but may have lost it since. */
void spool_taken(struct spooled *sp);
/** Go on behind a turn with an empty packet, and set @out.opened. Return: 0 or negative errno. */
int spool_add_opening(struct spooled *sp) MUST_CHECK;
/** The relay has a store, or has none: copies are kept, or not. */
void spool_set_keeps(struct spool *spool, bool keeps);
/** All packets of the stream up to @seq are in the store: remove the copies. */
void spooled_release(struct spooled *sp, uint64_t seq);
/** The relay has made that packet. */
void spool_pass_mark(struct spooled *sp);
/** End the stream: no packet will be added. */
void spool_end(struct spooled *sp);

/** Turn behind all packets in the files: each stream goes on with an empty packet. Return: 0: it is
 *  stored, or was before, or is a rotation that the relay has made, or negative errno. */
int spool_add_mark(struct spool *spool, const char *name, bool clear) MUST_CHECK;
/** Find the marks of an earlier consumer. Return: 0, or negative errno: one can't be read, and none
 *  is taken. */
int spool_find_marks(struct spool *spool) MUST_CHECK;
void spool_free_marks(struct spool *spool);
/** Remove the mark of the last rotation. */
void spool_forget_rotated(const struct spool *spool);
/** Whether the next packet in the files is behind a turn that the relay has not made. */
bool spool_is_behind_mark(const struct spooled *sp);
/** Have the relay make the oldest turn, as it has all packets before. Return: 1; 0: there is none;
 *  or negative errno. */
int spool_send_mark(struct spool *spool) MUST_CHECK;
/** Copies were removed: forget rotations that the store has. */
void spool_release_marks(struct spool *spool);
/** The relay has lost its disk: it makes them again, and before all others. */
void spool_revive_marks(struct spool *spool);
/** The oldest turn will not be made. */
void spool_give_up_mark(struct spool *spool);

#endif
