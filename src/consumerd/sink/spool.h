/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.h - files on this host for the data that an unreachable relay has not received: the traces
 * as they would be here, in small files, which are sent in their order when the relay is back, and
 * then erased. Owned by a worker; runs in its thread.
 *
 * While the link works a packet goes straight to the relay, and here is but its header, noted
 * before it is sent: a successor knows with that where to go on, whether the relay is
 * there or not, and sends it again if its space was not given back. Once the link has failed
 * everything goes to the files, until there is nothing left in them. A packet keeps its
 * number, so the relay knows those that it has already.
 *
 * Damage in the files costs the packets that it is in, and is counted.
 *
 * spool.c is the sink, spooled.c one stream's part of it, spool_files.c the files.
 */
#ifndef CONSUMERD_SINK_SPOOL_H
#define CONSUMERD_SINK_SPOOL_H

#include "sink.h"

/** The way of packets. */
enum spool_way {
	SPOOL_STRAIGHT, /* to the relay, out of their rings */
	SPOOL_HANDING,	/* one of them is being sent out of its ring */
	SPOOL_FILLING,	/* into the files */
	SPOOL_WAITING,	/* as that, within a wait for the relay, which can't be asked */
	SPOOL_WAYS
};

enum spool_event {
	SPOOL_HANDS,	  /* a packet's sending out of its ring begins */
	SPOOL_HAS_HANDED, /* and ends */
	SPOOL_FILLS,	  /* packets must go to the files: the link failed, or is slow */
	SPOOL_WAITS,	  /* the rings must be emptied while the relay does not answer */
	SPOOL_HAS_WAITED, /* they were */
	SPOOL_IS_EMPTY,	  /* all that was in the files was sent */
	SPOOL_EVENTS
};

/** The way after @event. SPOOL_WAITS may be refused: a packet in a ring has no copy yet. */
enum spool_way spool_next(enum spool_way way, enum spool_event event);

struct spool {
	struct sink sink;
	struct relay_conn *link;
	struct disk *disk;
	struct list_node *traces; /* struct tracedir, the worker's */
	const struct sink_host *host;
	int dir_fd;		  /* the output's, the worker's */
	int lock;		  /* -1: it is not locked */
	uint64_t nr_rest;	  /* traces that were found there */
	struct list_node streams; /* struct spooled */
	uint64_t waiting;	  /* bytes that the relay has not got; atomic */
	enum spool_way way;
	bool rest;	       /* nothing will be added */
	bool ending;	       /* it is not drained any more */
	unsigned int nr_ahead; /* of all streams */
	int error;	       /* why; 0: it works, or was not tried yet */
	uint64_t retry_ns, backoff_ns;
};

/** Do packets go to the files? */
static inline bool spool_fills(const struct spool *spool)
{
	return spool->way >= SPOOL_FILLING;
}

/** Return: the way from now on. */
enum spool_way spool_on(struct spool *spool, enum spool_event event);

/** One stream's part of it. */
struct spooled {
	struct list_node node;
	struct spool *spool;
	struct stream_config there; /* as the relay keeps it; the name is ours */
	struct stream_config here;  /* in small files */
	uint32_t cpu;
	bool ended; /* nothing will be added */

	uint32_t relay_id, epoch; /* as it knows the stream, on the connection of this number */
	/* Packets; magic 0: there is none. */
	struct packet_header last; /* that the relay has, as it said on that connection or since,
				    * but for what is missed */

	/* The last packet that a relay has acknowledged, on any connection: a relay that lost its
	 * power may come back with less. */
	struct packet_header acked;

	struct stream_file file;     /* where packets are added */
	struct packet_header stored; /* the last in the files that were found */
	int note_fd;
	struct packet_header noted; /* that was handed on last */
	/* Events of packets that were damaged in the files, or lost by the relay after it had
	 * acknowledged them, up to this number: the relay is told of them in all packets from there
	 * on, while those here and in the ring don't know of it. */
	uint64_t missed, missed_end;

	int fd;		     /* file that is being sent; -1: none is open */
	uint64_t number, at; /* which, from where on */
	uint64_t waiting;    /* of all files */

	/* Sent from there and not acknowledged: packets, or parts of one, the
	 * oldest first. None is sent behind one that failed until all are answered. */
	struct spooled_sent {
		struct packet_header header;
		uint64_t bytes; /* in the file; 0: more of the packet follows */
	} ahead[RELAY_CONN_MAX_POSTED];
	unsigned int nr_ahead;
	uint64_t bytes_ahead;
	int ahead_error;
	struct relay_conn_begun begun; /* that the relay has, as it said on the connection */
	/* the packet that is being sent in parts */
	struct packet_header header, told;
	void *body;	      /* NULL: none is */
	uint64_t body_offset; /* sent of it */
};

/** Find or make the part of a stream. Return: 0 or negative errno. */
int spool_stream(struct spool *spool, const struct stream_config *config, uint32_t cpu,
		 struct spooled **ret) MUST_CHECK;
/** Find all that is left of a trace's streams. */
void spool_find(struct spool *spool, const struct tracedir *trace);

/** Hand a packet on to the relay; its checksum is not known yet. @done: as of relay_conn_post(); it
 *  calls spool_sent(). Return: 0; 1: it has to go into the files; negative errno: it can't even
 *  be noted. */
int spool_send(struct spooled *sp, const struct packet_header *header, const void *body,
	       relay_conn_done done, void *data) MUST_CHECK;
/** The outcome. */
void spool_sent(struct spooled *sp, const struct packet_header *header, int error);
/** Into the files, with a checksum of all that is put there: @header's is not looked at. */
int spool_add(struct spooled *sp, const struct packet_header *header, const void *body,
	      uint64_t len) MUST_CHECK;
/** Whether @body is that of the packet @noted, which this version or an earlier one noted. */
bool spool_is_noted(const struct packet_header *noted, const void *body, uint64_t len);
/** Make the stream known to the relay on this connection, and learn its last packet there. */
int spool_attach(struct spooled *sp) MUST_CHECK;
/** Nothing will be added. */
void spool_end(struct spooled *sp);

/**
 * spool_send_files() - send some of the waiting data, for @budget_ns at most.
 * Return: 1: there is more; 0: the relay has everything; negative errno: the link failed.
 */
int spool_send_files(struct spool *spool, uint64_t budget_ns) MUST_CHECK;
/** Whatever was asked of the link, it failed: from here on packets go to the files. */
void spool_link_failed(struct spool *spool, int error);
/** Remove the files of streams to which nothing will be added and of which no data waits. */
void spool_clear(struct spool *spool);

/* Parts that spooled.c and spool_files.c share. */

/** @waiting: to be added, or subtracted. */
void spooled_count(struct spooled *sp, int64_t waiting);
/** Open the existing files. Return: 0 or negative errno. */
int spooled_open(struct spooled *sp) MUST_CHECK;
/** Note that the packet @header is being sent; its checksum identifies it. Return: 0 or negative
 *  errno. */
int spooled_note(struct spooled *sp, const struct packet_header *header) MUST_CHECK;
/** Write the number of missed events to the note. */
void spooled_save(struct spooled *sp);

enum { SPOOLED_PACKET = 1, SPOOLED_DAMAGED = 2 };
/**
 * spooled_next() - the first packet that has not been sent; files before it are erased.
 * @ret_body: allocated; none where it is damaged.
 * Return: SPOOLED_PACKET, SPOOLED_DAMAGED; 0: there is none, or none in the file of which some
 * are not acknowledged; negative errno.
 */
int spooled_next(struct spooled *sp, struct packet_header *ret, void **ret_body) MUST_CHECK;
/** The first has been sent and acknowledged, or can't be: it has so many @bytes in the file. */
void spooled_step(struct spooled *sp, uint64_t bytes);

/** Count the events of a damaged packet, and make @header an empty packet with that count. Return:
 *  whether it is known. The relay has all packets before it. */
bool spooled_account(struct spooled *sp, struct packet_header *header);
/** Does the relay have less than it has acknowledged? Then count what is lost, and make an empty
 *  packet that says so. */
bool spooled_forgotten(struct spooled *sp, struct packet_header *ret);
/** As the relay is told, and as it is here. */
void spooled_add_missed(const struct spooled *sp, struct packet_header *header);
void spooled_read_missed(const struct spooled *sp, struct packet_header *header);
/** Close its files. @remove: with all that is left. Return: NULL. */
struct spooled *spooled_free(struct spooled *sp, bool remove);

#endif
