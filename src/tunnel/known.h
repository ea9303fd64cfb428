/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known.h - the sessions, traces and streams that a viewer knows, by ids that stay the same when
 * the relay is restarted and assigns others. Owned by a viewer's connection (follow.h). Numbers are
 * in the machine's byte order.
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
	uint64_t next_id;    /* next id for the viewer */
	uint64_t generation; /* number of the connection; each has other ids of the relay */
	uint64_t held;	     /* bytes of packets in memory */
};

struct known_session {
	struct list_node node;
	uint64_t id, relay_id;
	uint64_t generation; /* of relay_id */
	struct view_session_entry names;
	bool attached;	      /* by the viewer */
	bool over;	      /* no more data will be received */
	bool notified;	      /* new streams that the viewer has not requested yet */
	uint64_t beacon;      /* the latest beacon of this generation */
	uint64_t reported_ts; /* latest time that was sent to the viewer, of any stream */
	unsigned int nr_new;  /* streams that were not sent to the viewer yet */
	struct list_node traces;
	struct list_node past; /* struct known_past */
	unsigned int nr_past;
};

/** A stream that the viewer has read to its end, of a trace that is forgotten: a relay that was
 *  restarted may announce it once more. */
struct known_past {
	struct list_node node;
	char *path, *channel;
	uint64_t end_ts;
};

struct known_trace {
	struct list_node node;
	struct known_session *session;
	uint64_t id;	      /* of the trace and of its metadata stream */
	uint64_t relay_trace; /* the relay's id of the trace */
	uint64_t relay_id;    /* the relay's id of the metadata stream */
	uint64_t generation;
	char *path;
	bool announced;
	uint64_t seen; /* bytes of metadata that were received, in all generations */
	uint64_t read; /* bytes of metadata that were received in this generation */
	uint8_t *text; /* metadata that was not sent to the viewer yet */
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
	bool again; /* it ended in this trace before: the viewer has all up to read_ts */
	uint64_t read_ts;
	bool has_class;
	uint64_t stream_class; /* of the trace, as sent by the relay */
	uint64_t reported_ts;  /* time up to which the viewer has all events */
	uint64_t joined_ts;    /* the session's reported_ts when this stream was announced */
	uint64_t from_ts;      /* the viewer had all events up to here when this one became known */

	/* the last packet of a file that was reported to the viewer */
	bool has_last;
	bool behind;		/* after a reconnect: skip the relay's packets up to that one */
	struct view_index last; /* as the relay sent it */

	/* The packet that the viewer fetches. */
	uint64_t offset;
	uint8_t *packet; /* its bytes; NULL: to be fetched from the relay */
	size_t packet_len;

	/* The header of a packet, as a template for empty packets. */
	struct packet_header head; /* magic 0: there is no header */
	uint64_t discarded;	   /* events_discarded of the last packet */
};

void known_init(struct known *known);
void known_fini(struct known *known);

/** Find or add the session of an entry of a listing. NULL: there are too many. @names: the entry as
 *  received. */
struct known_session *known_list(struct known *known, const struct view_session_entry *names);
struct known_session *known_session(const struct known *known, uint64_t id);
struct known_trace *known_trace(const struct known *known, uint64_t id);
struct known_stream *known_stream(const struct known *known, uint64_t id);

/** Add a stream, or metadata stream, that the relay has sent. Return: 0; -EPROTO: there are too
 *  many. */
int known_add(struct known *known, struct known_session *session,
	      const struct view_stream_entry *entry) MUST_CHECK;
/** Free the trace and its streams, which have ended: they are remembered as past ones. */
void known_forget(struct known *known, struct known_trace *trace);

/** Whether the relay's id of the stream is valid on the current connection. */
bool known_is_here(const struct known *known, const struct known_stream *stream);
/** The time up to which the viewer has all packets, of all streams of the session. */
uint64_t known_position(const struct known_session *session);
/** As known_position(), for the relay: packets that end then may be needed. */
uint64_t known_since(const struct known_session *session);

/** Allocate memory of @len bytes for the packet that the viewer fetches; the last one is freed. */
void known_queue(struct known *known, struct known_stream *stream, size_t len);
void known_drop(struct known *known, struct known_stream *stream);
/** Whether @index describes a packet that is in no file and has no events. */
bool known_is_empty(const struct view_index *index);
/** Store the header of the packet that @index describes, and that begins with @bytes. */
void known_store_head(struct known_stream *stream, const struct view_index *index,
		      const void *bytes, size_t len);
/** Make a packet without events at @time, from the stored header, for the viewer to fetch.
 *  stream->head must be set. */
void known_make_empty(struct known *known, struct known_stream *stream, uint64_t time,
		      struct view_index *ret);
/** Set the begin of the packet that the viewer fetches, whose header is stored, to @time. */
void known_begin_at(struct known_stream *stream, uint64_t time);

#endif
