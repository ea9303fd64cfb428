/* SPDX-License-Identifier: GPL-2.0-only */
/* uplink_priv.h - a link from inside: uplink.c has what is said on a connection,
 * uplink_connect.c how it begins. */
#ifndef CONSUMERD_SINK_UPLINK_PRIV_H
#define CONSUMERD_SINK_UPLINK_PRIV_H

#include <errno.h>
#include <pthread.h>

#include "proto/relay.h"
#include "uplink.h"
#include "uplink_names.h"

#define UPLINK_SMALL_BYTES 2048u /* of a request but its text, header or body */

/** A packet that is on its way. */
struct uplink_posted {
	uint32_t serial; /* of the request */
	uplink_done done;
	void *data;
};

struct uplink {
	struct uplink_config config;
	const struct list_node *traces;
	const struct bells *bells; /* NULL: it is noticed when something is to be said */
	const char *relay;	   /* in config.url, where there are several */
	bool kept;		   /* it has something of the session, which stays with it */
	bool connecting;
	uplink_choice choice; /* NULL: nobody wants to know */
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
	uint64_t said_ns; /* when the relay said something last */
	uint32_t next_stream;
	uint64_t retry_ns; /* not before */
	int error;	   /* of the last attempt */
	bool given_up;
	struct err err; /* what the relay has said, or we */

	struct uplink_posted posted[UPLINK_MAX_POSTED]; /* the oldest first */
	unsigned int nr_posted;
	int post_error; /* of the first that failed, until uplink_settle() */
};

/** Why nothing can be asked now. */
static inline int uplink_not_connected(const struct uplink *link)
{
	return link->error ? link->error : -ENOTCONN;
}

/** Where answers are due it will be seen as they are waited for. */
static inline bool uplink_is_up(struct uplink *link)
{
	return link->nr_posted || wire_is_up(&link->wire);
}

/** One of some, of which none has anything of the session yet? */
bool uplink_may_move(const struct uplink *link);
/** Go on with the next of them. */
void uplink_move(struct uplink *link);
/** The session stays with the relay that there is. */
void uplink_keep(struct uplink *link);
/** It failed, and @said: the relay says why; NULL: it is away. Return: @error. */
int uplink_fail(struct uplink *link, int error, const struct err *said);
/** Send the request that was begun last, and wait for its @ret; what is on its way is waited for
 *  before. Return: 0 or negative errno: uplink_fail() has been called. */
int uplink_call(struct uplink *link, const struct encoder *enc, struct decoder *ret) MUST_CHECK;

#endif
