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
 * Damage in the files costs the packets that it is in, and is counted.
 *
 * spool.c is the sink, spooled.c one stream's part of it, spool_files.c the files.
 */
#ifndef CONSUMERD_SINK_SPOOL_H
#define CONSUMERD_SINK_SPOOL_H

#include "sink.h"

/** The destination of packets. */
enum spool_state {
	SPOOL_DIRECT,	       /* the relay, directly from their rings */
	SPOOL_SENDING,	       /* the same, and one of them is being sent */
	SPOOL_FILLING,	       /* the files */
	SPOOL_FILLING_OFFLINE, /* the files, during a wait for the relay: no request can be sent */
	SPOOL_STATES
};

enum spool_event {
	SPOOL_SEND_BEGIN,    /* a packet is about to be sent from its ring */
	SPOOL_SEND_END,	     /* that packet was sent, or could not be */
	SPOOL_DIVERT,	     /* packets must go to the files: the connection failed, or is slow */
	SPOOL_OFFLINE_BEGIN, /* the rings must be emptied while the relay does not answer */
	SPOOL_OFFLINE_END,   /* the rings are empty */
	SPOOL_DRAINED,	     /* all data of the files was sent */
	SPOOL_EVENTS
};

/** The state after @event. SPOOL_OFFLINE_BEGIN may be rejected: a packet that is being sent from
 *  its ring has no copy yet. */
enum spool_state spool_next(enum spool_state state, enum spool_event event);

struct spool {
	struct sink sink;
	struct relay_conn *link;
	struct disk *disk;
	struct chunk *chunk; /* owned by the worker */
	const struct sink_host *host;
	int dir_fd;		  /* of the spool's directory; owned by the worker */
	int lock;		  /* descriptor of the lock file; -1: the spool is not locked */
	uint64_t nr_found_traces; /* traces that existed when the spool was opened */
	struct list_node streams; /* struct spooled */
	uint64_t waiting;	  /* bytes that the relay has not received; atomic */
	enum spool_state state;
	bool leftover;	       /* the spool of an earlier session: it is sent, nothing is added */
	bool unfinished;       /* it did not end: the events in its buffers are lost */
	bool closing;	       /* the files are not sent any more */
	unsigned int nr_ahead; /* sum of the streams' nr_ahead */
	int error;	       /* last error of the connection; 0: none */
	uint64_t retry_ns,
		backoff_ns; /* time of the next attempt to connect; the pause before it */
};

/** Whether packets go to the files. */
static inline bool spool_fills(const struct spool *spool)
{
	return spool->state >= SPOOL_FILLING;
}

/** Change the state by @event. Return: the new state. */
enum spool_state spool_handle(struct spool *spool, enum spool_event event);

/** One stream in the spool. */
struct spooled {
	struct list_node node;
	struct spool *spool;
	struct stream_config relay_config; /* of the stream at the relay; owns the channel's name */
	struct stream_config spool_config; /* of the small files here */
	uint32_t cpu;
	bool ended; /* nothing will be added */

	uint32_t relay_id,
		epoch; /* the relay's id of the stream, valid on connection number @epoch */
	/* Header of the last packet that the relay has stored, without the events in @missed. In
	 * this and the headers below, magic 0 means none. */
	struct packet_header last;

	/* The last packet that a relay has acknowledged, on any connection: a relay that lost its
	 * power may come back with less. */
	struct packet_header acked;

	struct chunk_stream file;    /* where packets are added */
	struct packet_header stored; /* the last packet in the files that were found */
	int note_fd;		     /* file with the header in @noted and with @missed */
	struct packet_header noted;  /* the last packet that was sent from its ring */
	/* Number of events in packets that were damaged in the files, or lost by the relay after it
	 * had acknowledged them. It is added to the losses in each header that is sent; headers in
	 * the ring and in the files do not include it. */
	uint64_t missed;
	uint64_t missed_end; /* sequence number after the last packet counted in @missed */

	int fd;		       /* file that is being sent; -1: none is open */
	uint64_t file_number;  /* number of that file, in its name */
	uint64_t acked_offset; /* bytes at its beginning that the relay has acknowledged */
	uint64_t waiting;      /* bytes in all files that the relay has not acknowledged */

	/* Packets, or parts of one, that were sent from the files and are not acknowledged, the
	 * oldest first. After a failure none is sent until all are answered. */
	struct spooled_sent {
		struct packet_header header;
		uint64_t bytes; /* in the file; 0: more of the packet follows */
	} ahead[RELAY_CONN_MAX_POSTED];
	unsigned int nr_ahead;
	uint64_t bytes_ahead;	       /* bytes of @ahead in the file */
	int ahead_error;	       /* first error among @ahead */
	struct relay_conn_begun begun; /* packet of which the relay has a part, as it reported */
	/* The packet that is being sent in parts. */
	struct packet_header header;	  /* as in the file */
	struct packet_header sent_header; /* as sent to the relay */
	void *body;			  /* NULL: no packet is being sent in parts */
	uint64_t body_offset;		  /* bytes of @body that were sent */
};

/** Find a stream in the spool, or add it. Return: 0 or negative errno. */
int spool_stream(struct spool *spool, const struct stream_config *config, uint32_t cpu,
		 struct spooled **ret) MUST_CHECK;
/** Add the streams of a trace whose files an earlier consumer or session left. */
void spool_find(struct spool *spool, const struct chunk_trace *trace);

/** Send a packet to the relay; its checksum is not known yet. @done: see relay_conn_post(); it must
 *  call spool_sent(). Return: 0; 1: the packet must be appended to the files; negative errno: its
 *  header can't be saved. */
int spool_send(struct spooled *sp, const struct packet_header *header, const void *body,
	       const struct splice_source *source, relay_conn_done done, void *data) MUST_CHECK;
/** Report the result of spool_send(). */
void spool_sent(struct spooled *sp, const struct packet_header *header, int error);
/** Append a packet to the files, with a checksum computed here: that of @header is ignored.
 *  @source: as of chunk_stream_append(). */
int spool_add(struct spooled *sp, const struct packet_header *header, const void *body,
	      uint64_t len, const struct splice_source *source) MUST_CHECK;
/** Whether @body is the body of the packet @noted; this version or an earlier one noted it. */
bool spool_is_noted(const struct packet_header *noted, const void *body, uint64_t len);
/** Open the stream at the relay on this connection, and receive the header of its last packet. */
int spool_attach(struct spooled *sp) MUST_CHECK;
/** End the stream: no packet will be added. */
void spool_end(struct spooled *sp);

/**
 * spool_send_files() - send some of the waiting data, for @budget_ns at most.
 * Return: 1: data remains; 0: the relay has all of it; negative errno: the connection failed.
 */
int spool_send_files(struct spool *spool, uint64_t budget_ns) MUST_CHECK;
/** Handle the failure of a request on the connection: from now on packets go to the files. */
void spool_link_failed(struct spool *spool, int error);
/** Remove the files of streams to which nothing will be added and of which no data waits. */
void spool_clear(struct spool *spool);

/* Shared by spooled.c and spool_files.c. */

/** Add @waiting, which may be negative, to the bytes that the relay has not received. */
void spooled_count(struct spooled *sp, int64_t waiting);
/** Open the existing files. Return: 0 or negative errno. */
int spooled_open(struct spooled *sp) MUST_CHECK;
/** Save the header of a packet that is about to be sent; its checksum identifies the packet.
 *  Return: 0 or negative errno. */
int spooled_note(struct spooled *sp, const struct packet_header *header) MUST_CHECK;
/** Save @missed and @missed_end in the stream's note. */
void spooled_save(struct spooled *sp);

enum { SPOOLED_PACKET = 1, SPOOLED_DAMAGED = 2 };
/**
 * spooled_next() - read the first packet that has not been sent, and erase the files before it.
 * @ret_body: allocated; not set if the packet is damaged.
 * Return: SPOOLED_PACKET, SPOOLED_DAMAGED; 0: no packet is left, or none in the current file, which
 * has packets that are not acknowledged yet; negative errno.
 */
int spooled_next(struct spooled *sp, struct packet_header *ret, void **ret_body) MUST_CHECK;
/** Advance past the first packet, of @bytes in the file: it was acknowledged, or can't be sent. */
void spooled_step(struct spooled *sp, uint64_t bytes);

/** Count the events of a damaged packet, and make @header an empty packet with that count. The
 *  relay must have all packets before it. Return: false if the number of events is unknown. */
bool spooled_account(struct spooled *sp, struct packet_header *header);
/** If the relay lacks packets that it has acknowledged, count them as lost, and make in @ret an
 *  empty packet that reports the losses. Return: whether it does. */
bool spooled_forgotten(struct spooled *sp, struct packet_header *ret);
/** Add the events in @missed to a header of the spool, for the relay; subtract them again. */
void spooled_add_missed(const struct spooled *sp, struct packet_header *header);
void spooled_read_missed(const struct spooled *sp, struct packet_header *header);
/** Close the stream's files. @remove: also erase them. Return: NULL. */
struct spooled *spooled_free(struct spooled *sp, bool remove);

#endif
