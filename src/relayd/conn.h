/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conn.h - one connection of a relay: bytes become messages and bodies of packets, each
 * request gets its answer before the next one is looked at. It can make us keep
 * no more than one message, one answer and one session. Owned by its worker; runs on that one's
 * loop, and moves to another worker's between two messages (worker.h).
 */
#ifndef RELAYD_CONN_H
#define RELAYD_CONN_H

#include "base/err.h"
#include "io/chan.h"
#include "io/frame.h"
#include "proto/relay.h"
#include "relay.h"

struct relsession;
struct relstream;
struct tracedir;

#define RELCONN_ANSWER_BYTES 1024u
#define RELCONN_MAX_UNSYNCED 16u
#define RELCONN_SILENT_US 5000000u /* without a session: be quick to say which */

/** An answer that waits until what it acknowledges is on the disk. */
struct relconn_unsynced {
	uint64_t commit; /* of the syncer */
	size_t len;
	uint8_t bytes[RELCONN_ANSWER_BYTES];
};

struct relconn {
	struct loop_fd source; /* owns its descriptor */
	struct chan chan;
	uint32_t watched;		/* what the loop waits for */
	struct loop_timer timer, proof; /* when to ask anew whether it is believed */
	struct loop_timer pace; /* armed: its host has to wait before it may make more files */
	struct loop_work end;
	struct list_node node;
	struct relay *relay;
	struct relworker *worker;   /* NULL: it is on its way to another one */
	struct relworker *next;	    /* where it goes when this turn is over; NULL: nowhere */
	struct relclaim *claim;	    /* of its session; NULL: it has not said which */
	struct relpeer *peer;	    /* its host; NULL: not known yet */
	struct relsession *session; /* NULL: it has not said which */
	bool greeted;
	bool broken;
	struct frames frames;
	size_t turn_left; /* bytes that it may still cause in this turn of the loop */
	bool postponed;	  /* what has come waits for the next one */

	/* the packet whose body is coming */
	uint64_t body_left;
	bool packed;		      /* it comes in compressed chunks */
	uint8_t sum[RELAY_SUM_BYTES]; /* behind it, */
	uint32_t sum_left;	      /* of which so much has not come */
	uint32_t body_serial;
	struct relstream *body_stream; /* NULL: it is thrown away, */
	struct err body_err;	       /* because of this */
	uint64_t body_bytes;	       /* that it takes in files */
	bool body_part;		       /* it is one of several */

	uint8_t answer[RELCONN_ANSWER_BYTES]; /* what of it could not be sent yet */
	size_t answer_begin, answer_end;

	/* of a session that is synced: answers that are not sent yet, in their order */
	uint32_t sync_us;      /* SYNCER_NONE: it is not */
	struct syncer *syncer; /* NULL: the same */
	struct syncer_waiter waiter;
	struct relconn_unsynced *unsynced; /* RELCONN_MAX_UNSYNCED; NULL: the same */
	bool promised;			   /* the next answer acknowledges something */
	bool unkept;			   /* which can't be synced: there will be no answer */
	unsigned int first_unsynced, nr_unsynced;
	uint64_t synced; /* the last commit that is done */
};

/** @fd and @tls (NULL: in the clear) are taken over. Return: 0 or negative errno. */
int relconn_new(struct relay *relay, int fd, struct tls *tls) MUST_CHECK;
/** Keys are others, or it is later: it is freed if it is not to be believed any more. */
void relconn_recheck(struct relconn *conn);
/** It is @worker's from now on, whose thread calls this. */
void relconn_arrive(struct relconn *conn, struct relworker *worker);
/** It names session @base of @host, and has to be where the other connections of that session are.
 *  If it is not, its @next is set: its message is handled there. Return: 0 or the code in @err. */
int relconn_claim(struct relconn *conn, const char *host, const char *base,
		  struct err *err) MUST_CHECK;
/** Close it and its session. Also one that is on no loop. */
void relconn_free(struct relconn *conn);
/** The same from anywhere, when the round of the loop is over; its session ends now. */
void relconn_drop(struct relconn *conn);

/** End its session: the next one may be another worker's. */
void relconn_end_session(struct relconn *conn);

/** From here on what is acknowledged has been synced; SYNCER_NONE: it need not be.
 *  Return: 0 or negative errno. */
int relconn_sync(struct relconn *conn, uint32_t within_us) MUST_CHECK;

/** The answer that comes next waits until @fd (-1: nothing) and, if there are, the names of
 *  @dirs are on the disk, where the session is synced. */
void relconn_keep(struct relconn *conn, const struct tracedir *dirs, int fd);
/** The same of the last packet of a stream. */
void relconn_keep_stream(struct relconn *conn, const struct relstream *stream);

/* --- between conn.c, which has the bytes, and conn_request.c -------------------------------- */

/** struct relconn_request - a message. @enc: the answer, if relconn_begin_answer() has begun one:
 *  where it worked, and there is something to say. */
struct relconn_request {
	struct relconn *conn;
	const struct msg_header *header;
	struct decoder *dec;
	struct encoder *enc;
};

/** Do it, or say in @err why not. Return: false: it is done elsewhere, as the connection moves. */
bool relconn_request(const struct relconn_request *rq, struct err *err);
void relconn_begin_answer(struct relconn *conn, struct encoder *enc, uint16_t type, uint32_t serial,
			  const struct err *err);

#endif
