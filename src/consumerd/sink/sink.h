/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink.h - the output of a worker: files, a relay, a relay with a spool, or nothing. Workers and
 * streams use only the functions of struct sink_ops; each kind of sink is implemented in a file of
 * its own. Owned by a worker; runs in its thread, except where noted.
 */
#ifndef CONSUMERD_SINK_SINK_H
#define CONSUMERD_SINK_SINK_H

#include "consumerd/ring/reader.h"
#include "relay_conn.h"
#include "store/chunk_drain.h"
#include "trace/packet.h"

struct sink;
struct sink_stream;

/** Settings of a sink. */
struct sink_config {
	bool has_dir; /* the output has a directory, at the latest when it is started */
	struct relay_conn_config *relay; /* the relay, if addr is not NULL; ownership is passed */
	struct chunk *chunk;		 /* owned by the worker */
	struct disk *disk;		 /* owned by the worker */
};

/** Functions of the worker for its sink. The first three are called while the sink waits for a
 *  relay. */
struct sink_host {
	bool (*is_pressed)(const void *data); /* whether a ring is half full */
	void (*cut)(void *data);	      /* write the current packets of all rings */
	bool (*has_work)(void *data);	      /* whether a request waits for the worker */
	bool (*adopts)(const void *data);     /* whether old streams are missing yet */
	/* Each stream with @opened goes on behind that packet. turn() calls it before it waits for
	 * a relay: packets may be cut meanwhile. */
	void (*turned)(void *data);
	void (*watch)(void *data, int fd);    /* call sink_check() when the peer closes @fd */
	void *data;
};

/** Arguments of start(). */
struct sink_start {
	int dir_fd;    /* of the output's directory, owned by the worker; -1: none */
	/* Of a chunk in memory, which becomes one of files there; NULL: it is where it is. */
	const struct chunk_place *place;
	bool leftover; /* the data of an earlier session is in the spool; none will be added */
	bool connect;  /* the relay must be reachable now */
};

/** Outcome of write(); or negative errno: the stream must write the packet again. */
enum sink_fate {
	SINK_SENDING,	/* sink_done will report the outcome */
	SINK_STORED,	/* the packet's space may be reused */
	SINK_DISCARDED, /* there is no output: the packet is not counted */
};

/** Outcome of place(), the position at which a stream goes on; or negative errno. */
enum sink_position {
	SINK_SAME,	/* after all packets that were acknowledged */
	SINK_HAS,	/* after @ret_last: later packets that the relay had acknowledged are
			 * lost */
	SINK_CONTINUES, /* after @ret_last, unless the stream knows its position */
	/* Of a stream that an earlier consumer wrote, besides: */
	SINK_BEGIN,   /* nothing was stored */
	SINK_AFTER,   /* after @ret_last */
	SINK_TURNED,  /* the same, which is in an archive: the stream goes on in new files */
	SINK_SKIP,    /* after all data that is in the buffer */
	SINK_UNKNOWN, /* only the relay knows, and does not answer now */
};

/** Outcome of sink_drain(). */
enum sink_drained {
	SINK_NOTHING, /* no data is stored, or it is not time for the next attempt */
	SINK_MORE,    /* some of the stored data was sent */
	SINK_DRAINED, /* all stored data was sent */
};

/** How a sink is. */
struct sink_state {
	bool behind;	     /* data waits in it for its relay */
	bool keeps;	     /* it has copies of data that the relay's store does not have yet */
	bool store_fails;    /* and takes none */
	bool turns;	     /* so do turns */
	uint64_t due_ns;     /* when to call sink_drain() again; UINT64_MAX: never */
	int trouble;	     /* negative errno of the relay while the output works without it */
	const char *problem; /* why the output fails, or the trouble: a sentence; "": not known */
};

/** How a sink or stream ends. */
enum sink_end {
	SINK_LEFT,	/* the next consumer will continue it */
	SINK_ABANDONED, /* the buffer is lost; stored data is still sent */
	SINK_ENDED,	/* all data was written */
};

/** The way of a packet. */
enum sink_way {
	SINK_LOCAL,  /* to this host: calls may wait for its file system */
	SINK_DIRECT, /* to a relay: place() is called before a packet is made */
	SINK_SPOOLS, /* to a relay, or to files until it can be sent: a packet whose write failed
		      * must be written again unchanged */
};

/**
 * struct sink_ops - one kind of output. Entries that are NULL have nothing to do, and return 0,
 * except where noted.
 */
struct sink_ops {
	enum sink_way way;
	size_t stream_bytes; /* of a zeroed struct that begins with a struct sink_stream */

	/* The output. Results: 0 or negative errno, except where noted. */
	/** Return: 0 or the code in @err; end() may be called then, too. */
	int (*start)(struct sink *sink, const struct sink_start *start, struct err *err);
	/** All that an earlier consumer had was requested again. */
	void (*adopted)(struct sink *sink);
	/** Wait for the outcome of all packets in flight. Return: 0: each is stored, or its stream
	 *  may write it again; negative errno: the output failed. */
	int (*settle)(struct sink *sink);
	/** Sync to this host's disk. */
	int (*sync)(struct sink *sink);
	/** Turn to the next chunk, see con_turn. Called when all packets are settled, and all
	 *  streams attached; the worker has then moved its own chunk, if it has files. NULL:
	 *  nothing to do. Sets the streams' @opened, also if it fails, and @turn_made. Return:
	 *  0: it is made, or stored (struct sink_state); or negative errno: the request failed,
	 *  and may be repeated. */
	int (*turn)(struct sink *sink, const char *name, bool clear);
	/** Called after sink_begin_end(), and after the streams were closed: close the chunk, or
	 *  (SINK_ABANDONED) remove one that has a place; free all but the sink itself and its
	 *  connection. Data that could not be sent is reported in @err. */
	void (*end)(struct sink *sink, enum sink_end how, struct err *err);

	/* Traces. */
	/** Add a trace. @found: an earlier consumer left it, and perhaps streams of it. */
	int (*open_chunk)(struct sink *sink, struct chunk_trace *trace, bool found);
	/** Append metadata. NULL: to its file. */
	int (*append)(struct sink *sink, struct chunk_trace *trace, const void *text, uint32_t len);
	/** End a trace: its files that do not stay on this host are removed. */
	void (*close_chunk)(struct sink *sink, struct chunk_trace *trace);

	/* Streams. */
	/** Allocate a stream. Its files, if any, are created with the first packet. NULL: it has
	 *  @stream_bytes. */
	struct sink_stream *(*open)(struct sink *sink, const struct stream_config *config,
				    uint32_t cpu);
	/** Find the position at which the stream goes on; at a relay, it is opened on the current
	 *  connection. @old: reads the buffer of a stream that an earlier consumer wrote; NULL: it
	 *  is this one's. @ret_last: magic 0: none. @cut: @old: bytes that were cut off files are
	 *  added. Return: enum sink_position. NULL: SINK_SKIP of @old, else SINK_SAME. */
	int (*place)(struct sink_stream *out, const struct ring_reader *old,
		     struct packet_header *ret_last, uint64_t *cut);
	/** Write a packet. @header: its checksum is not set yet. @header and @body must not change
	 *  until the outcome is known. Return: enum sink_fate. */
	int (*write)(struct sink_stream *out, const struct packet_header *header,
		     const uint8_t *body);
	/** Close and free the stream. Return: negative errno: its end was not synced or sent.
	 *  NULL: free it. */
	int (*close)(struct sink_stream *out, enum sink_end how);
};

/** struct sink - common part of all kinds; at their beginning. */
struct sink {
	const struct sink_ops *ops;
	struct chunk *chunk;	  /* owned by the worker */
	struct relay_conn *link;  /* NULL: it has no relay */
	bool live;		  /* viewers may follow its session at the relay */
	bool ending;		  /* see sink_begin_end() */
	bool failed;		  /* the chunk is not marked as whole: see there, sink_note_gap() */
	uint64_t turned_bytes;	  /* of the archive that the relay made last */
	bool turn_made;		  /* the last turn was made, or stored, by this call */
	struct chunk_drain_sums spooled; /* bytes in the spool; kept: until the relay's store has
					  * them */
	struct list_node streams; /* struct sink_stream */
	struct splicer splicer;	  /* of the streams whose packets are spliced */
};

/** The outcome of a packet that was in flight: 0 or negative errno. No function of the sink may be
 *  called from this callback. */
typedef void (*sink_done)(void *data, int error);

/** struct sink_stream - one stream's part of a sink: the members that all kinds have. */
struct sink_stream {
	struct list_node node;
	struct sink *sink;
	const struct stream_config *config; /* outlives the stream */
	uint32_t cpu;
	sink_done done;
	void *data;
	struct splice_source source; /* its ring, if packets are spliced; fd -1: they are not */
	bool failed;		     /* the last packet failed: it is not spliced again */
	uint64_t missed; /* events that the sink lost after it had accepted their packets */
	bool opened; /* by a turn: an empty packet was written after the last, packet_opening() */
	uint64_t archived; /* place() of an old one: its records up to the archive's end */
};

/** The ring of the packet to be written; NULL: it is not spliced. */
static inline const struct splice_source *sink_stream_source(const struct sink_stream *out)
{
	return out->source.fd < 0 || out->failed ? NULL : &out->source;
}

/** Make the sink that @config describes. @host: outlives the sink; NULL without a relay. */
struct sink *sink_new(const struct sink_config *config, const struct sink_host *host);
struct sink *sink_free(struct sink *sink);

/** Add a stream to the sink. @done, @data: called after SINK_SENDING. */
struct sink_stream *sink_stream_open(struct sink *sink, const struct stream_config *config,
				     uint32_t cpu, sink_done done, void *data);
/** Close and free the stream. Return: negative errno: its end was not synced or sent. */
int sink_stream_close(struct sink_stream *out, enum sink_end how);

/* Parts of sink_new(), one for each kind. */
struct sink *null_sink_new(void);
struct sink *file_sink_new(void);
struct sink *relay_sink_new(const struct sink_config *config, const struct sink_host *host);
struct sink *spool_sink_new(const struct sink_config *config, const struct sink_host *host);

/* The spool's alone, SINK_SPOOLS. */

/** A request to the relay failed: data goes to the files. */
void spool_sink_link_failed(struct sink *sink, int error);
/** See sink_drain(), sink_state(). */
int spool_sink_drain(struct sink *sink, uint64_t now) MUST_CHECK;
/** See sink_flush_store(), sink_keeps_trace(). */
void spool_sink_flush(struct sink *sink);
bool spool_sink_keeps_trace(const struct sink *sink, const struct chunk_trace *trace);
struct sink_state spool_sink_state(const struct sink *sink);

/** The stream's files. @out: a stream of a file sink. */
struct chunk_stream *file_sink_file(struct sink_stream *out);

/* The relay. */

/** Make the output work again, also while there is nothing to write. Return: 0 or negative
 *  errno. */
int sink_revive(struct sink *sink) MUST_CHECK;
/** Whether the relay must know all streams before it receives more data. */
bool sink_attaches_all(const struct sink *sink);
/** The result of a request to the relay. Return: that of the output. */
int sink_link_result(struct sink *sink, int error) MUST_CHECK;
/** Send a beacon: all data up to @time, of all streams, has been written. Return: 0 or negative
 *  errno. */
int sink_beacon(struct sink *sink, uint64_t time) MUST_CHECK;
/** Check whether the relay closed the connection. Return: 0: no; 1: yes, and the sink stores the
 *  data elsewhere; negative errno: yes. */
int sink_check(struct sink *sink) MUST_CHECK;
/** Send some stored data. Return: enum sink_drained, or negative errno: the relay failed. */
int sink_drain(struct sink *sink, uint64_t now) MUST_CHECK;
struct sink_state sink_state(const struct sink *sink);
/** See relay_conn_epoch(); 0 without a relay. */
uint32_t sink_epoch(const struct sink *sink) MUST_CHECK;
/** See relay_conn_facts(); all 0 without a relay. Any thread. */
struct relay_facts sink_relay(const struct sink *sink) MUST_CHECK;
/** Bytes that wait for the relay; likewise copies of those that it has, until they are in its
 *  store. Any thread. */
static inline uint64_t sink_waiting(const struct sink *sink)
{
	return __atomic_load_n(&sink->spooled.waiting, __ATOMIC_RELAXED);
}
static inline uint64_t sink_kept(const struct sink *sink)
{
	return __atomic_load_n(&sink->spooled.kept, __ATOMIC_RELAXED);
}
/** The relay's store is awaited: its relay does not collect more data first. */
void sink_flush_store(struct sink *sink);
/** Whether the sink has copies of packets of this trace. */
bool sink_keeps_trace(const struct sink *sink, const struct chunk_trace *trace);
/** A stream ends whose last losses no packet counts. */
void sink_note_gap(struct sink *sink);
/** Called before the streams are closed. @failing: the output does not work. */
void sink_begin_end(struct sink *sink, bool failing);

/* Calls of the entries of struct sink_ops that may be NULL. */

static inline int sink_settle(struct sink *sink)
{
	return sink->ops->settle ? sink->ops->settle(sink) : 0;
}

static inline int sink_place(struct sink_stream *out, const struct ring_reader *old,
			     struct packet_header *ret_last, uint64_t *cut)
{
	if (out->sink->ops->place)
		return out->sink->ops->place(out, old, ret_last, cut);
	return old ? SINK_SKIP : SINK_SAME;
}

#endif
