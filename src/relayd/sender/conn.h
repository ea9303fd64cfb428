/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conn.h - one connection of a relay: it decodes messages and bodies of packets, and answers each
 * request before the next one is decoded. Its memory is limited to one message, one answer
 * and one session. Owned by its worker; runs on the worker's loop, and may move to another worker
 * between two messages (worker.h).
 */
#ifndef RELAYD_SENDER_CONN_H
#define RELAYD_SENDER_CONN_H

#include "base/err.h"
#include "io/chan.h"
#include "io/frame.h"
#include "proto/relay.h"
#include "relayd/relay.h"

struct relsession;
struct relstream;
struct chunk_trace;

#define RELCONN_ANSWER_BYTES 1280u
#define RELCONN_MAX_UNSYNCED 16u
#define RELCONN_SILENT_US 5000000u /* time limit of a connection to name its session */

/** A reply that waits until the acknowledged data is on the disk. */
struct relconn_unsynced {
	uint64_t commit; /* number of the syncer's commit that it waits for */
	size_t len;
	uint8_t bytes[RELCONN_ANSWER_BYTES];
};

struct relconn {
	struct loop_fd source; /* owns its descriptor */
	struct chan chan;
	uint32_t watched;	 /* events that the loop waits for */
	struct loop_timer timer; /* limits the silence of the peer */
	struct loop_timer proof; /* expiry of the peer's certificate: check it again */
	struct loop_timer pace;	 /* armed: its host must wait before it may create more files */
	struct loop_work end;
	struct list_node node;
	struct relay *relay;
	struct relworker *worker;   /* NULL: it is moving to another worker */
	struct relworker *next;	    /* worker to which it moves after this turn; NULL: it stays */
	struct relclaim *claim;	    /* of its session; NULL: not named yet */
	struct relpeer *peer;	    /* its host; NULL: not known yet */
	struct relsession *session; /* NULL: not named yet */
	bool greeted;		    /* the peer has sent its hello */
	bool broken;
	struct frames frames;
	size_t turn_left; /* bytes that may still be processed in this turn of the loop */
	bool postponed;	  /* received data waits for the next turn */

	/* The packet whose body is being received. */
	uint64_t body_left;
	bool packed;		      /* the body is sent in compressed chunks */
	uint8_t sum[RELAY_SUM_BYTES]; /* checksum after the body */
	uint32_t sum_left;	      /* bytes of @sum that were not received yet */
	uint32_t body_serial;
	struct relstream *body_stream; /* NULL: the body is discarded */
	struct err body_err;	       /* reason for that */
	uint64_t body_bytes;	       /* bytes of the packet in files */
	bool body_part;		       /* the body is a part of a packet */

	uint8_t answer[RELCONN_ANSWER_BYTES]; /* the answer's unsent bytes */
	size_t answer_begin, answer_end;

	/* Data of the session is synced: answers that wait for that, in their order. */
	uint32_t sync_us; /* SYNCER_NONE: data is not synced, and the pointers are NULL */
	struct syncer *syncer;
	struct syncer_waiter waiter;
	struct relconn_unsynced *unsynced; /* RELCONN_MAX_UNSYNCED elements */
	bool promised;			   /* the next answer acknowledges data to be synced */
	bool unkept;			   /* that data can't be synced: there will be no answer */
	unsigned int first_unsynced, nr_unsynced;
	uint64_t synced; /* the last commit that is done */
};

/** The connection owns @fd and @tls (NULL: unencrypted). Return: 0 or negative errno. */
int relconn_new(struct relay *relay, int fd, struct tls *tls) MUST_CHECK;
/** Check the peer again, after a change of the keys or the expiry of its certificate: the
 *  connection is freed if the peer is not accepted any more. */
void relconn_recheck(struct relconn *conn);
/** Move the connection to @worker, in whose thread this is called. */
void relconn_arrive(struct relconn *conn, struct relworker *worker);
/** Claim session @base of @host for the connection, which must run in the worker of that session's
 *  other connections. If it does not, @next is set: that worker handles the message. Return: 0 or
 *  the code in @err. */
int relconn_claim(struct relconn *conn, const char *host, const char *base,
		  struct err *err) MUST_CHECK;
/** Close the connection and its session. It need not be on a loop. */
void relconn_free(struct relconn *conn);
/** The same, safe in callbacks of the connection: its session ends now, and it is freed after the
 *  round of the loop. */
void relconn_drop(struct relconn *conn);

/** End the connection's session: the next one may belong to another worker. */
void relconn_end_session(struct relconn *conn);

/** Sync data within @within_us before it is acknowledged; SYNCER_NONE: it is not synced.
 *  Return: 0 or negative errno. */
int relconn_sync(struct relconn *conn, uint32_t within_us) MUST_CHECK;

/** If the session's data is synced: delay the next answer until the data of @fd (-1: none) and the
 *  names in @dirs (may be NULL) are on the disk. */
void relconn_keep(struct relconn *conn, const struct chunk_trace *dirs, int fd);
/** The same for the last packet of a stream. */
void relconn_keep_stream(struct relconn *conn, const struct relstream *stream);

/* --- shared by conn.c, which sends and receives bytes, and conn_request.c --------------------- */

/** struct relconn_request - a message. @enc: the answer, if relconn_begin_answer() has begun one:
 *  only after success, and if the reply has content. */
struct relconn_request {
	struct relconn *conn;
	const struct msg_header *header;
	struct decoder *dec;
	struct encoder *enc;
};

/** Execute a request, or set @err. Return: false: the connection moves to another worker, which
 *  executes it. */
bool relconn_request(const struct relconn_request *rq, struct err *err);
void relconn_begin_answer(struct relconn *conn, struct encoder *enc, uint16_t type, uint32_t serial,
			  const struct err *err);

#endif
