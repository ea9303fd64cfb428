/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn.h - the connection of a session's output to the relay that stores its traces. It
 * connects when there is something to send, registers traces and streams again after each
 * disconnection, and describes a failure in a sentence. Owned by a worker; runs in its thread.
 * After a failure, requests fail at once until the time of the next attempt to connect.
 */
#ifndef CONSUMERD_SINK_RELAY_CONN_H
#define CONSUMERD_SINK_RELAY_CONN_H

#include "base/err.h"
#include "io/relayurl.h"
#include "proto/enums.h"
#include "store/chunk_stream.h"
#include "wire.h"

#define RELAY_CONN_ID_BYTES 16
#define RELAY_CONN_MAX_POSTED 8u /* packets in flight */
#define RELAY_CONN_PROBLEM_BYTES 200u
#define RELAY_CONN_LIVE_BYTES 900u

/** The relay, as the session daemon describes it; owns its strings. */
struct relay_conn_config {
	char *addr;  /* ADDRESS:PORT, several separated by commas; "-": not known yet */
	char *url;   /* URL from which @addr is resolved again; NULL: none. It may list several
		      * relays, separated by commas: the session uses the first that accepts it */
	char *name;  /* name of the session */
	char *stamp; /* time of the session's creation */
	uint8_t id[RELAY_CONN_ID_BYTES];
	char *host; /* name in the relay's certificate; NULL: the address */
	char *snapshot; /* it receives this snapshot, for which nothing waits: the directory of its
			 * traces, as all snapshots of a session are in its one; NULL: none */
	enum relay_link link;
	bool spool;	     /* packets that the relay can't receive now are stored in files */
	bool compress;	     /* sent data is compressed */
	enum sync_mode sync; /* when acknowledged packets are on the relay's disk */
	uint32_t sync_us;    /* period, with SYNC_PERIOD */
	uint32_t live_us;    /* longest delay of live viewers; 0: not a live session */
};

struct relay_conn;

/** @traces: struct chunk_trace; owned by the worker. The connection owns @config from now on. */
struct relay_conn *relay_conn_new(struct relay_conn_config *config, const struct list_node *traces);
struct relay_conn *relay_conn_free(struct relay_conn *link);
void relay_conn_config_fini(struct relay_conn_config *config);

/** Called when one of several relays, that of @url, has acknowledged the session's first packet.
 *  The session uses only this relay from then on. */
typedef void (*relay_conn_choice)(void *data, const char *url);
/** Set the callback that saves the choice. */
void relay_conn_set_choice(struct relay_conn *link, relay_conn_choice choice, void *data);
/** Restore a choice that was made by an earlier consumer. */
void relay_conn_choose(struct relay_conn *link, const char *url);
const struct relay_conn_config *relay_conn_config(const struct relay_conn *link);
/** Connect unless the connection is open. Return: 0 or negative errno. */
int relay_conn_open(struct relay_conn *link) MUST_CHECK;
/**
 * struct relay_facts - of the relay when the last connection began; all 0: nothing is known.
 * @clock_offset_ns: its CLOCK_REALTIME minus this host's.
 * @clock_error_ns: uncertainty of that; 0: the difference is unknown.
 * @live_url: at which viewers see the session.
 */
struct relay_facts {
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	char live_url[RELAY_CONN_LIVE_BYTES];
};

/** Number of connections so far. */
uint32_t relay_conn_epoch(const struct relay_conn *link) MUST_CHECK;
/** Any thread. */
struct relay_facts relay_conn_facts(struct relay_conn *link) MUST_CHECK;
/** Whether it sends a snapshot, which the relay drops if the connection ends before
 *  relay_conn_end(). */
bool relay_conn_is_snapshot(const struct relay_conn *link);
/** Whether the relay, at the last connection, puts its data into a store: relay_conn_durable(). */
bool relay_conn_has_store(const struct relay_conn *link);
/** Whether viewers may follow the session at the relay. */
bool relay_conn_is_live(const struct relay_conn *link);
/** The reason why the last request failed, a sentence. */
const char *relay_conn_problem(const struct relay_conn *link);
/** That sentence where @error is the last one of the connection; else the error's own. */
const char *relay_conn_reason(const struct relay_conn *link, int error);
/** Set a function that is called while the relay is waited for; see wire.h. */
void relay_conn_set_meanwhile(struct relay_conn *link, wire_meanwhile meanwhile, void *data);
/** Report each new connection's descriptor, so that its end is noticed; then call
 *  relay_conn_check(). */
typedef void (*relay_conn_watch)(void *data, int fd);
void relay_conn_set_watch(struct relay_conn *link, relay_conn_watch watch, void *data);
/** Check whether the relay closed the connection while no request was pending. Return: 0, or
 *  negative errno, once. */
int relay_conn_check(struct relay_conn *link) MUST_CHECK;
/** Stop reconnecting: all requests fail from here on. */
void relay_conn_shutdown(struct relay_conn *link);

/*
 * Requests. Return: 0 or negative errno.
 */
/** Register a trace of the worker's list; relay_conn_open() registers earlier ones itself. */
int relay_conn_trace(struct relay_conn *link, struct chunk_trace *dir) MUST_CHECK;
/** Append metadata to the trace at the relay, like chunk_append(). */
int relay_conn_metadata(struct relay_conn *link, struct chunk_trace *dir, const void *text,
			uint32_t len) MUST_CHECK;
/** Send the rest of the trace's own file that the relay does not have; the same for all traces. */
int relay_conn_metadata_behind(struct relay_conn *link, struct chunk_trace *dir) MUST_CHECK;
int relay_conn_all_metadata(struct relay_conn *link) MUST_CHECK;
/** The part of a stream's packet that a relay has, while the rest is missing. */
struct relay_conn_begun {
	struct packet_header header;
	uint64_t bytes; /* of its body; 0: there is none */
};
/** A stream at the relay. */
struct relay_conn_place {
	uint32_t id;	/* 0: it was not opened yet */
	uint32_t epoch; /* number of the connection on which it was opened last */
};
/** Whether the stream is open on this connection. */
bool relay_conn_knows(const struct relay_conn *link, const struct relay_conn_place *place);
/** Open a stream at the relay, or continue it, once on each connection: sets @place. @ret_last:
 *  header of the last packet that the relay has; magic 0: there is none. @ret_begun: NULL: packets
 *  are not sent in parts. */
int relay_conn_stream(struct relay_conn *link, const struct stream_config *config, uint32_t cpu,
		      struct relay_conn_place *place, struct packet_header *ret_last,
		      struct relay_conn_begun *ret_begun) MUST_CHECK;
/** Send a packet, and wait until the relay has stored it. @header: has the length of @body; its
 *  checksum may be 0: it is computed here. */
int relay_conn_packet(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		      const void *body) MUST_CHECK;

/** A stream at the relay, and the packets of it in the relay's store. */
struct relay_conn_durable {
	uint32_t id; /* of the stream */
	bool known;  /* the store has a packet of it, */
	uint64_t seq; /* and all up to this number */
};
/** Receive which packets of @nr streams, RELAY_DURABLE_MAX at most, are in the relay's store.
 *  @flush: the relay does not collect more data first. @ret_problem: why the store takes none; "": it
 *  does. */
int relay_conn_durable(struct relay_conn *link, struct relay_conn_durable *streams, unsigned int nr,
		       bool flush, char ret_problem[RELAY_CONN_PROBLEM_BYTES]) MUST_CHECK;

/** The outcome of a packet: 0: it is stored; or negative errno. No request may be made on the
 *  connection from this callback. */
typedef void (*relay_conn_done)(void *data, int error);
/**
 * relay_conn_post() - send a packet without waiting: several packets may be in flight, one of each
 * stream, so that the connection is not idle until the relay acknowledges one.
 * @body: must not change until @done, which is called once, now or later.
 * @source: the ring that @body is in, if it is to be spliced; NULL: it is sent from the mapping.
 */
void relay_conn_post(struct relay_conn *link, uint32_t stream, const struct packet_header *header,
		     const void *body, const struct splice_source *source, relay_conn_done done,
		     void *data);
/** Whether posted packets are in flight. All other requests on the connection wait for them. */
bool relay_conn_is_posting(const struct relay_conn *link);
/** Wait for all posted packets. Return: 0, or the negative errno of the first one that failed since
 *  the last call. */
int relay_conn_drain(struct relay_conn *link) MUST_CHECK;
/** Send a beacon: all data recorded up to @time has been sent. */
int relay_conn_beacon(struct relay_conn *link, uint64_t time) MUST_CHECK;
/**
 * relay_conn_post_part() - send a part of a packet without waiting, for slow connections; the
 * checksum is in @header. Several parts of one stream may be in flight.
 * @body: the whole body; not used any more on return.
 * @at, @bytes: position and size of the part in @body.
 * @chained: the preceding part is in flight, too.
 */
void relay_conn_post_part(struct relay_conn *link, uint32_t stream,
			  const struct packet_header *header, const uint8_t *body, uint64_t at,
			  uint64_t bytes, bool chained, relay_conn_done done, void *data);
/** Size of a part that is transferred in about one second. */
uint64_t relay_conn_part_bytes(const struct relay_conn *link);
/** Whether sending @bytes would delay the worker's other duties for too long. */
bool relay_conn_is_slow(const struct relay_conn *link, uint64_t bytes);

/** A turn that the relay has made. */
struct relay_conn_turned {
	bool made;	/* false: it had made the same turn before */
	uint64_t bytes; /* of the archive */
};
#define RELAY_CONN_ONCE "." /* before the last part of a clear's name at the relay */
/** The name of a clear that is made, whatever the relay has made before. Return: its caller frees
 *  it. */
char *relay_conn_name_clear(const char *name);
/** Turn to the next chunk, on the connection on which all streams were opened. A turn with the name
 *  of the last one is not made again. */
int relay_conn_turn(struct relay_conn *link, const char *name, bool clear,
		    struct relay_conn_turned *ret_turned) MUST_CHECK;

/** End a stream at the relay. Return: whether that was sent, or no request will be sent. */
bool relay_conn_stream_end(struct relay_conn *link, const struct relay_conn_place *place);
/** End the session at the relay, after all of its data was sent. @unfinished: it has not ended
 *  here, and there is no more data of it. Return: 0 or negative errno: it may not know. */
int relay_conn_end(struct relay_conn *link, bool unfinished);

#endif
