/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn.h - the output of a session whose traces a relay keeps. It connects when there is
 * something to say, tells the relay anew what it must know after each break, and
 * says in a sentence what is wrong. Owned by a worker; runs in its thread. A
 * request to a link that is down fails at once until it is time to try again.
 */
#ifndef CONSUMERD_SINK_RELAY_CONN_H
#define CONSUMERD_SINK_RELAY_CONN_H

#include "base/err.h"
#include "proto/enums.h"
#include "store/streamfile.h"
#include "wire.h"

#define RELAY_CONN_ID_BYTES 16
#define RELAY_CONN_MAX_POSTED 8u /* packets on their way */

/** The relay, as the session daemon names it; in strings of its own. */
struct relay_conn_config {
	char *addr;  /* ADDRESS:PORT, of one relay perhaps several, between commas, or a "-"; */
	char *url;   /* its name, of which these are looked up anew; NULL: it has none. Several
		      * relays' between commas: the session goes to the first that takes it */
	char *name;  /* of the session */
	char *stamp; /* when it was made */
	uint8_t id[RELAY_CONN_ID_BYTES];
	char *host; /* whose certificate it has to have; NULL: its address's */
	enum relay_link link;
	bool spool;	     /* what it can't have now waits in files */
	bool compress;	     /* what is sent */
	enum sync_mode sync; /* what is acknowledged is on the relay's disk, */
	uint32_t sync_us;    /* with SYNC_PERIOD after so long */
	uint32_t live_us;    /* viewers may follow the session, so far behind; 0: they may not */
};

struct relay_conn;

/** @traces: struct tracedir, the worker's. Takes @config over. */
struct relay_conn *relay_conn_new(struct relay_conn_config *config, const struct list_node *traces);
struct relay_conn *relay_conn_free(struct relay_conn *link);
void relay_conn_config_fini(struct relay_conn_config *config);

/** The session stays with the relay of this URL, one of some; see relay_conn_set_choice(). */
typedef void (*relay_conn_choice)(void *data, const char *url);
/** Have it remembered which of some relays has the session's first packet. */
void relay_conn_set_choice(struct relay_conn *link, relay_conn_choice choice, void *data);
/** That one was it, before a consumer took over. */
void relay_conn_choose(struct relay_conn *link, const char *url);
const struct relay_conn_config *relay_conn_config(const struct relay_conn *link);
/** See to it that it is up. Return: 0 or negative errno. */
int relay_conn_open(struct relay_conn *link) MUST_CHECK;
/** Number of the connection, from 1: on another one the relay has to be told anew. */
uint32_t relay_conn_epoch(const struct relay_conn *link);
/** How the relay's CLOCK_REALTIME and ours differ, as the last connection began. Any thread.
 *  @ret_error_ns: 0: it is not known. */
void relay_conn_clock(struct relay_conn *link, int64_t *ret_offset_ns, uint64_t *ret_error_ns);
/** May viewers follow the session at the relay? */
bool relay_conn_is_live(const struct relay_conn *link);
/** Why the last request failed, a sentence. */
const char *relay_conn_problem(const struct relay_conn *link);
/** Have something looked after while the relay is waited for; see wire.h. */
void relay_conn_set_meanwhile(struct relay_conn *link, wire_meanwhile meanwhile, void *data);
/** Report each new connection's descriptor, so that its end is noticed; then call
 *  relay_conn_check(). */
typedef void (*relay_conn_watch)(void *data, int fd);
void relay_conn_set_watch(struct relay_conn *link, relay_conn_watch watch, void *data);
/** Has the relay hung up while nothing was asked of it? Return: 0, or negative errno, once. */
int relay_conn_check(struct relay_conn *link) MUST_CHECK;
/** Nothing is tried any more: everything fails from here on. */
void relay_conn_give_up(struct relay_conn *link);

/*
 * Requests. Return: 0 (relay_conn_stream(): 1 where @ret_last is set), or negative errno.
 */
/** A trace that the worker's list has; relay_conn_open() tells those of before by itself. */
int relay_conn_trace(struct relay_conn *link, struct tracedir *dir) MUST_CHECK;
/** As tracedir_append(). */
int relay_conn_metadata(struct relay_conn *link, struct tracedir *dir, const void *text,
			uint32_t len) MUST_CHECK;
/** Send what the trace's own file has and the relay not yet; the same for all traces. */
int relay_conn_metadata_behind(struct relay_conn *link, struct tracedir *dir) MUST_CHECK;
int relay_conn_all_metadata(struct relay_conn *link) MUST_CHECK;
/** The part of a stream's packet that a relay has, while the rest is missing. */
struct relay_conn_begun {
	struct packet_header header;
	uint64_t bytes; /* of its body; 0: there is none */
};
/** @id: 0: it has none yet. @ret_last: header of the last packet that the relay has. @ret_begun:
 *  NULL: nothing is sent in parts. */
int relay_conn_stream(struct relay_conn *link, const struct stream_config *config, uint32_t cpu,
		      uint32_t *id, struct packet_header *ret_last,
		      struct relay_conn_begun *ret_begun) MUST_CHECK;
/** Return only when it is stored. @header: says how long @body is; its checksum may be 0: it is
 *  not known yet. */
int relay_conn_packet(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		      const void *body) MUST_CHECK;

/** The outcome of a packet: 0: it is stored; or negative errno. The link can't be asked then. */
typedef void (*relay_conn_done)(void *data, int error);
/**
 * relay_conn_post() - the same without waiting: several packets may be in flight, one of each
 * stream, so that the line is not idle until the relay acknowledges one.
 * @body: must not change until @done, which is called once, now or later.
 */
void relay_conn_post(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		     const void *body, relay_conn_done done, void *data);
/** Whether posted packets are in flight. All other requests on the link wait for them first. */
bool relay_conn_is_posting(const struct relay_conn *link);
/** Wait for all of them. Return: 0, or the negative errno of the first that failed since the last
 *  call. */
int relay_conn_drain(struct relay_conn *link) MUST_CHECK;
/** Everything that was recorded up to @time has been sent. */
int relay_conn_beacon(struct relay_conn *link, uint64_t time) MUST_CHECK;
/** Let the relay close it, if it knows it on this connection. */
/**
 * relay_conn_post_part() - the same for a part of a packet, for slow lines; the checksum is in
 * @header. Several parts of one stream may be in flight.
 * @body: all of it; not used any more on return.
 * @at, @bytes: the part. @chained: the one before is on its way, too.
 */
void relay_conn_post_part(struct relay_conn *link, uint32_t stream,
			  const struct packet_header *header, const uint8_t *body, uint64_t at,
			  uint64_t bytes, bool chained, relay_conn_done done, void *data);
/** Does the relay take packets in parts? As it said on the last connection. */
bool relay_conn_has_parts(const struct relay_conn *link);
/** How long a part may be, so that the line carries it in about a second. */
uint64_t relay_conn_part_bytes(const struct relay_conn *link);
/** Does it take so long to send @bytes that nothing should wait for it? */
bool relay_conn_is_slow(const struct relay_conn *link, uint64_t bytes);

/** @epoch: of the connection on which @stream was opened. Return: whether the relay was told, or is
 *  not to be told any more. */
bool relay_conn_stream_end(struct relay_conn *link, uint32_t stream, uint32_t epoch);
/** All is said. */
void relay_conn_end(struct relay_conn *link);

#endif
