/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uplink.h - the output of a session whose traces a relay keeps. It connects when there is
 * something to say, tells the relay anew what it must know after each break, and
 * says in a sentence what is wrong. Owned by a worker; runs in its thread. A
 * request to a link that is down fails at once until it is time to try again.
 */
#ifndef CONSUMERD_SINK_UPLINK_H
#define CONSUMERD_SINK_UPLINK_H

#include "base/err.h"
#include "proto/enums.h"
#include "store/streamfile.h"
#include "wire.h"

#define UPLINK_ID_BYTES 16
#define UPLINK_MAX_POSTED 8u /* packets on their way */

/** The relay, as the session daemon names it; in strings of its own. */
struct uplink_config {
	char *addr;  /* ADDRESS:PORT, of one relay perhaps several, between commas, or a "-"; */
	char *url;   /* its name, of which these are looked up anew; NULL: it has none. Several
		      * relays' between commas: the session goes to the first that takes it */
	char *name;  /* of the session */
	char *stamp; /* when it was made */
	uint8_t id[UPLINK_ID_BYTES];
	char *host; /* whose certificate it has to have; NULL: its address's */
	enum relay_link link;
	bool spool;	     /* what it can't have now waits in files */
	bool compress;	     /* what is sent */
	enum sync_mode sync; /* what is acknowledged is on the relay's disk, */
	uint32_t sync_us;    /* with SYNC_PERIOD after so long */
	uint32_t live_us;    /* viewers may follow the session, so far behind; 0: they may not */
};

struct bells;
struct uplink;

/** @traces: struct tracedir, the worker's. Takes @config over. */
struct uplink *uplink_new(struct uplink_config *config, const struct list_node *traces);
struct uplink *uplink_free(struct uplink *link);
void uplink_config_fini(struct uplink_config *config);

/** The session stays with the relay of this URL, one of some; see uplink_set_choice(). */
typedef void (*uplink_choice)(void *data, const char *url);
/** Have it remembered which of some relays has the session's first packet. */
void uplink_set_choice(struct uplink *link, uplink_choice choice, void *data);
/** That one was it, before a consumer took over. */
void uplink_choose(struct uplink *link, const char *url);
const struct uplink_config *uplink_config(const struct uplink *link);
/** See to it that it is up. Return: 0 or negative errno. */
int uplink_up(struct uplink *link) MUST_CHECK;
/** Number of the connection, from 1: on another one the relay has to be told anew. */
uint32_t uplink_epoch(const struct uplink *link);
/** How the relay's CLOCK_REALTIME and ours differ, as the last connection began. Any thread.
 *  @ret_error_ns: 0: it is not known. */
void uplink_clock(struct uplink *link, int64_t *ret_offset_ns, uint64_t *ret_error_ns);
/** May viewers follow the session at the relay? */
bool uplink_is_live(const struct uplink *link);
/** Why the last request failed, a sentence. */
const char *uplink_problem(const struct uplink *link);
/** Have something looked after while the relay is waited for; see wire.h. */
void uplink_set_meanwhile(struct uplink *link, wire_meanwhile meanwhile, void *data);
/** Have the bells tell when the relay hangs up; then ask uplink_check(). */
void uplink_set_bells(struct uplink *link, const struct bells *bells);
/** Has the relay hung up while nothing was asked of it? Return: 0, or negative errno, once. */
int uplink_check(struct uplink *link) MUST_CHECK;
/** Nothing is tried any more: everything fails from here on. */
void uplink_give_up(struct uplink *link);

/*
 * Requests. Return: 0 (uplink_stream(): 1 where @ret_last is set), or negative errno.
 */
/** A trace that the worker's list has; uplink_up() tells those of before by itself. */
int uplink_trace(struct uplink *link, struct tracedir *dir) MUST_CHECK;
/** As tracedir_append(). */
int uplink_metadata(struct uplink *link, struct tracedir *dir, const void *text,
		    uint32_t len) MUST_CHECK;
/** Send what the trace's own file has and the relay not yet; the same for all traces. */
int uplink_metadata_behind(struct uplink *link, struct tracedir *dir) MUST_CHECK;
int uplink_all_metadata(struct uplink *link) MUST_CHECK;
/** The part of a stream's packet that a relay has, while the rest is missing. */
struct uplink_begun {
	struct packet_header header;
	uint64_t bytes; /* of its body; 0: there is none */
};
/** @id: 0: it has none yet. @ret_last: header of the last packet that the relay has. @ret_begun:
 *  NULL: nothing is sent in parts. */
int uplink_stream(struct uplink *link, const struct stream_config *config, uint32_t cpu,
		  uint32_t *id, struct packet_header *ret_last,
		  struct uplink_begun *ret_begun) MUST_CHECK;
/** Return only when it is stored. @header: says how long @body is; its checksum may be 0: it is
 *  not known yet. */
int uplink_packet(struct uplink *link, uint32_t stream, const struct packet_header *header,
		  const void *body) MUST_CHECK;

/** The outcome of a packet: 0: it is stored; or negative errno. The link can't be asked then. */
typedef void (*uplink_done)(void *data, int error);
/**
 * uplink_post() - the same, but that nobody waits: some packets may be on their way at once, one
 * of each stream, so that the line is not idle while the relay ends one and answers.
 * @body: stays as it is until @done, which is called once, now or later.
 */
void uplink_post(struct uplink *link, uint32_t stream, const struct packet_header *header,
		 const void *body, uplink_done done, void *data);
/** Are there such? Whatever else is asked of the link waits for them first. */
bool uplink_is_posting(const struct uplink *link);
/** Wait for all of them. Return: 0, or the negative errno of the first that failed since the last
 *  call. */
int uplink_settle(struct uplink *link) MUST_CHECK;
/** Have the next uplink_settle() return this error of an earlier one, too. 0: none. */
void uplink_unsettle(struct uplink *link, int error);
/** Everything that was recorded up to @time has been sent. */
int uplink_beacon(struct uplink *link, uint64_t time) MUST_CHECK;
/** Let the relay close it, if it knows it on this connection. */
/**
 * uplink_post_part() - the same of a part of a packet, for lines on which all of it takes long; the
 * checksum is in @header. Some of one stream may be on their way.
 * @body: all of it; not used any more on return.
 * @at, @bytes: the part. @chained: the one before is on its way, too.
 */
void uplink_post_part(struct uplink *link, uint32_t stream, const struct packet_header *header,
		      const uint8_t *body, uint64_t at, uint64_t bytes, bool chained,
		      uplink_done done, void *data);
/** Does the relay take packets in parts? As it said on the last connection. */
bool uplink_has_parts(const struct uplink *link);
/** How long a part may be, so that the line carries it in about a second. */
uint64_t uplink_part_bytes(const struct uplink *link);
/** Does it take so long to send @bytes that nothing should wait for it? */
bool uplink_is_slow(const struct uplink *link, uint64_t bytes);

/** @epoch: of the connection on which @stream was opened. Return: whether the relay was told, or is
 *  not to be told any more. */
bool uplink_stream_end(struct uplink *link, uint32_t stream, uint32_t epoch);
/** All is said. */
void uplink_end(struct uplink *link);

#endif
