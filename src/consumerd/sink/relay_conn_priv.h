/* SPDX-License-Identifier: GPL-2.0-only */
/* relay_conn_priv.h - a link from inside: relay_conn.c has what is said on a connection,
 * relay_conn_open.c how it begins. */
#ifndef CONSUMERD_SINK_RELAY_CONN_PRIV_H
#define CONSUMERD_SINK_RELAY_CONN_PRIV_H

#include <errno.h>
#include <pthread.h>

#include "proto/relay.h"
#include "relay_conn.h"
#include "relay_conn_names.h"

#define RELAY_CONN_SMALL_BYTES 2048u /* of a request but its text, header or body */

/** A packet that is on its way. */
struct relay_conn_posted {
	uint32_t serial; /* of the request */
	relay_conn_done done;
	void *data;
};

struct relay_conn {
	struct relay_conn_config config;
	const struct list_node *traces;
	const struct notifier *notifier; /* NULL: it is noticed when something is to be said */
	const char *relay;		 /* in config.url, where there are several */
	bool kept;			 /* it has something of the session, which stays with it */
	bool connecting;
	relay_conn_choice choice; /* NULL: nobody wants to know */
	void *choice_data;
	bool named;	     /* by this: */
	struct relayurl url; /* and its addresses are looked up at each connect */
	struct name_lookup *lookup;
	struct name_addrs known; /* the addresses that it had last */
	struct tcp_addr addr;	 /* which of them is tried, or used, */
	char at[RELAYURL_BYTES]; /* in words */
	bool secured;		 /* it was spoken to by TLS */
	const char *problem;	 /* why there is no address, a phrase; NULL: there is one */
	struct wire wire;
	uint32_t epoch;
	uint64_t features;	/* of the relay */
	struct zpacker *packer; /* NULL: nothing is compressed */
	pthread_mutex_t clock_lock;
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	uint64_t idle_ns; /* a sender that is silent for so long is disconnected; 0: none is */
	uint64_t last_reply_ns; /* when the relay said something last */
	uint32_t next_stream;
	uint64_t retry_ns; /* not before */
	int error;	   /* of the last attempt */
	bool given_up;
	struct err err; /* what the relay has said, or we */

	struct relay_conn_posted posted[RELAY_CONN_MAX_POSTED]; /* the oldest first */
	unsigned int nr_posted;
	int post_error; /* of the first that failed, until relay_conn_drain() */
};

/** Why nothing can be asked now. */
static inline int relay_conn_not_connected(const struct relay_conn *link)
{
	return link->error ? link->error : -ENOTCONN;
}

/** Where answers are due it will be seen as they are waited for. */
static inline bool relay_conn_is_open(struct relay_conn *link)
{
	return link->nr_posted || wire_is_up(&link->wire);
}

/** One of some, of which none has anything of the session yet? */
bool relay_conn_may_move(const struct relay_conn *link);
/** Go on with the next of them. */
void relay_conn_move(struct relay_conn *link);
/** The session stays with the relay that there is. */
void relay_conn_keep(struct relay_conn *link);
/** It failed, and @said: the relay says why; NULL: it is away. Return: @error. */
int relay_conn_fail(struct relay_conn *link, int error, const struct err *said);
/** Send the request that was begun last, and wait for its @ret; what is on its way is waited for
 *  before. Return: 0 or negative errno: relay_conn_fail() has been called. */
int relay_conn_call(struct relay_conn *link, const struct encoder *enc,
		    struct decoder *ret) MUST_CHECK;

#endif
