/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known.h - the sessions, traces and streams that a viewer knows, by ids that stay the same when
 * the relay has been restarted and calls them by others. Owned by a viewer's conversation
 * (follow.h). Numbers are in the machine's byte order.
 */
#ifndef TUNNEL_KNOWN_H
#define TUNNEL_KNOWN_H

#include "base/idmap.h"
#include "base/list.h"
#include "proto/viewproto.h"
#include "trace/packet.h"

#define KNOWN_MAX_SESSIONS 10000u
#define KNOWN_MAX_STREAMS 65536u

struct known {
	struct list_node sessions; /* struct known_session */
	struct idmap streams;	   /* struct known_stream, by id */
	unsigned int nr_sessions, nr_streams;
	uint64_t next_id;    /* of all of them */
	uint64_t generation; /* counts connections: ids of the relay's are of one of them */
	uint64_t held;	     /* bytes of packets */
};

struct known_session {
	struct list_node node;
	uint64_t id, relay_id;
	uint64_t generation; /* of relay_id */
	struct view_session names;
	bool attached;	      /* by the viewer */
	bool over;	      /* nothing more comes */
	bool notified;	      /* new streams that the viewer has not requested yet */
	uint64_t beacon;      /* the youngest of this generation's */
	uint64_t reported_ts; /* the latest that was sent to the viewer for any stream */
	unsigned int nr_new;  /* streams that were not sent to the viewer yet */
	struct list_node traces;
};

struct known_trace {
	struct list_node node;
	struct known_session *session;
	uint64_t id;	      /* of the metadata stream, too */
	uint64_t relay_trace; /* as the relay groups its streams */
	uint64_t relay_id;    /* its metadata stream at the relay */
	uint64_t generation;
	char *path;
	bool announced;
	uint64_t seen; /* metadata that was received, ever */
	uint64_t read; /* and in this generation, from its begin */
	uint8_t *text; /* received, and not yet the viewer's */
	size_t text_len;
	unsigned int nr_active;
	struct list_node streams;
};

struct known_stream {
	struct list_node node;
	struct idmap_node id_node;
	struct known_trace *trace;
	uint64_t id, relay_id;
	uint64_t generation;
	char *channel;
	bool announced, ended;
	bool has_class;
	uint64_t stream_class; /* of the trace, as sent by the relay */
	uint64_t reported_ts;  /* the viewer has everything up to this time */
	uint64_t joined_ts;    /* and up to this time of other streams, before this one was sent */

	/* the last packet of a file that was reported to the viewer */
	bool has_last;
	bool behind;		/* request packets from the relay until the last one */
	struct view_index last; /* as the relay sent it */

	/* the packet that the viewer fetches */
	uint64_t offset;
	uint8_t *packet; /* its bytes; NULL: requested from the relay */
	size_t packet_len;

	/* the header of some packet, to make empty ones like it; 0: there is none */
	unsigned int form;
	union packet_bytes head;
	uint64_t discarded; /* up to now */
};

void known_init(struct known *known);
void known_fini(struct known *known);

/** The session of an entry of a listing; a new one, if there is none. NULL: there are too many.
 *  @names: as it was received. */
struct known_session *known_list(struct known *known, const struct view_session *names);
struct known_session *known_session(const struct known *known, uint64_t id);
struct known_trace *known_trace(const struct known *known, uint64_t id);
struct known_stream *known_stream(const struct known *known, uint64_t id);

/** A stream, or metadata stream, that the relay has sent. Return: 0; -EPROTO: they are too many. */
int known_add(struct known *known, struct known_session *session,
	      const struct view_stream *entry) MUST_CHECK;
/** Forget the trace and its streams: all of them have ended. */
void known_forget(struct known *known, struct known_trace *trace);

/** Whether its id at the relay is still valid. */
bool known_is_here(const struct known *known, const struct known_stream *stream);
/** Packets that end before are known of all streams of the session. */
uint64_t known_since(const struct known_session *session);

/** Room for the packet that the viewer fetches, of @len bytes, instead of the last one. */
void known_queue(struct known *known, struct known_stream *stream, size_t len);
void known_drop(struct known *known, struct known_stream *stream);
/** A packet that is in no file, and has no events. */
bool known_is_empty(const struct view_index *index);
/** Store the header of the packet that @index describes, and that begins with @bytes. */
void known_store_head(struct known_stream *stream, const struct view_index *index,
		      const void *bytes, size_t len);
/** A packet without events at @time, with the header's form, for the viewer to fetch.
 *  stream->form is set. */
void known_make_empty(struct known *known, struct known_stream *stream, uint64_t time,
		      struct view_index *ret);
/** Set the begin of the packet that the viewer fetches, whose header is stored, to @time. */
void known_begin_at(struct known_stream *stream, uint64_t time);

#endif
