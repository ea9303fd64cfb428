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
#include "store/chunk_stream.h"
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
	void (*watch)(void *data, int fd);    /* call sink_check() when the peer closes @fd */
	void *data;
};

/** Arguments of sink_start(). */
struct sink_start {
	int dir_fd;    /* of the output's directory, owned by the worker; -1: none */
	bool leftover; /* the data of an earlier session is in the spool; none will be added */
	bool connect;  /* the relay must be reachable now */
};

/** Outcome of write(); or negative errno: the stream must write the packet again. */
enum sink_fate {
	SINK_SENDING,	/* sink_done will report the outcome */
	SINK_STORED,	/* the packet's space may be reused */
	SINK_DISCARDED, /* there is no output: the packet is not counted */
};

/** Outcome of attach(): the packets that the relay has; or negative errno: the request failed. */
enum sink_knowledge {
	SINK_SAME,	/* all packets that it has acknowledged */
	SINK_HAS,	/* only the packets up to @ret_last; later ones that it had acknowledged are
			 * lost */
	SINK_CONTINUES, /* the stream's position was unknown: it continues after @ret_last */
};

/** Position at which a stream continues that an earlier consumer wrote; or negative errno. */
enum sink_position {
	SINK_BEGIN,   /* nothing was stored */
	SINK_AFTER,   /* after @ret_last */
	SINK_SKIP,    /* after all data that is in the buffer */
	SINK_UNKNOWN, /* only the relay knows: attach() returns it */
};

/** Outcome of drain(). */
enum sink_drained {
	SINK_NOTHING, /* no data is stored, or it is not time for the next attempt */
	SINK_MORE,    /* some of the stored data was sent */
	SINK_DRAINED, /* all stored data was sent */
};

/** How a sink or stream ends. */
enum sink_end {
	SINK_LEFT,	/* the next consumer will continue it */
	SINK_ABANDONED, /* the buffer is lost; stored data is still sent */
	SINK_ENDED,	/* all data was written */
};

/** Message when the size limit of a sink on this host is reached: the texts before and after the
 *  size. */
struct sink_full {
	const char *before, *behind;
};

/**
 * struct sink_ops - one kind of output. For an entry that is NULL, the functions at the end of this
 * file do nothing and return 0, false or "", except where noted.
 *
 * @on_disk: calls may wait for a file system of this host.
 * @recovers: a failure may be temporary, for example while a relay is restarted.
 * @attaches_first: attach() must be called before a packet is made, as its position depends on it.
 * @keeps_packet: a packet whose write failed must be written again unchanged.
 */
struct sink_ops {
	bool on_disk, recovers, attaches_first, keeps_packet;
	struct sink_full full;

	/* The output. Results: 0 or negative errno, except where noted. */
	/** NULL: free(). */
	void (*free)(struct sink *sink);
	/** Return: 0 or the code in @err. */
	int (*start)(struct sink *sink, const struct sink_start *start, struct err *err);
	/** Make the output work again, also while there is nothing to write. */
	int (*revive)(struct sink *sink);
	/** Whether the relay must know all streams before it receives more data. */
	bool (*attaches_all)(const struct sink *sink);
	/** Handle an error of attach(). Return: @error; 0: the sink stores the data elsewhere. */
	int (*link_failed)(struct sink *sink, int error);
	/** Wait for the outcome of all packets in flight. Return: 0: each is stored, or its stream
	 *  may write it again; negative errno: the output failed. */
	int (*await_outcomes)(struct sink *sink);
	/** Send a beacon: all data up to @time, of all streams, has been written. */
	int (*beacon)(struct sink *sink, uint64_t time);
	/** Check whether the relay closed the connection. Return: 0: no; 1: yes, and the sink
	 *  stores the data elsewhere; negative errno: yes. */
	int (*check)(struct sink *sink);
	/** Send some stored data. Return: enum sink_drained, or negative errno: the relay
	 *  failed. */
	int (*drain)(struct sink *sink, uint64_t now);
	/** When to call drain() again (ns); UINT64_MAX: never. */
	uint64_t (*drain_due)(const struct sink *sink);
	/** Whether data waits in the sink for its relay. */
	bool (*is_behind)(const struct sink *sink);
	/** Bytes that wait. Any thread. */
	uint64_t (*waiting)(const struct sink *sink);
	/** Sync to this host's disk. */
	int (*sync)(struct sink *sink);
	/** The reason why the output fails, a sentence. */
	const char *(*problem)(const struct sink *sink);
	/** Negative errno of the relay while the output works without it; *@ret_text: a
	 *  sentence. */
	int (*trouble)(const struct sink *sink, const char **ret_text);
	/** See relay_conn_clock(). Any thread. */
	void (*clock)(struct sink *sink, int64_t *ret_offset_ns, uint64_t *ret_error_ns);
	/** Called before the streams are closed. @failing: the output does not work. */
	void (*prepare_end)(struct sink *sink, bool failing);
	/** Called after the streams were closed. Data that could not be sent is reported in
	 *  @err. */
	void (*end)(struct sink *sink, enum sink_end how, struct err *err);

	/* Traces. */
	int (*open_trace)(struct sink *sink, struct chunk_trace *dir);
	/** Truncate the metadata to @bytes: the rest was never acknowledged. NULL: truncate its
	 *  file. */
	int (*cut_metadata)(struct sink *sink, struct chunk_trace *dir, uint64_t bytes);
	/** Find the streams that an earlier consumer stored. */
	void (*find_streams)(struct sink *sink, const struct chunk_trace *dir);
	/** Append metadata. NULL: to its file. */
	int (*append)(struct sink *sink, struct chunk_trace *dir, const void *text, uint32_t len);
	/** End a trace. Return: bytes of its files that stay on this host. */
	uint64_t (*close_trace)(struct sink *sink, struct chunk_trace *dir);

	/* Streams. */
	/** Allocate a stream. Its files, if any, are created with the first packet. */
	struct sink_stream *(*open)(struct sink *sink, const struct stream_config *config,
				    uint32_t cpu);
	/** Find the position at which the stream continues. @reader: reads its buffer. @ret_last:
	 *  for SINK_AFTER. @cut: bytes that were cut off files are added. Return: enum
	 *  sink_position. */
	int (*adopt)(struct sink_stream *out, const struct ring_reader *reader,
		     struct packet_header *ret_last, uint64_t *cut);
	/** Open the stream on the current connection. @ret_last: last packet that the relay has;
	 *  magic 0: none. Return: enum sink_knowledge. */
	int (*attach)(struct sink_stream *out, struct packet_header *ret_last);
	/** Write a packet. @header: its checksum is not set yet. @header and @body must not change
	 *  until the outcome is known. Return: enum sink_fate. */
	int (*write)(struct sink_stream *out, const struct packet_header *header,
		     const uint8_t *body);
	/** Number of events that the sink lost after it had accepted their packets. */
	uint64_t (*missed)(const struct sink_stream *out);
	/** Close and free the stream. */
	void (*close)(struct sink_stream *out, enum sink_end how);
};

/** struct sink - common part of all kinds. */
struct sink {
	const struct sink_ops *ops;
	bool live;		  /* viewers may follow its session at the relay */
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
/** Return: NULL. */
struct sink_stream *sink_stream_close(struct sink_stream *out, enum sink_end how);

/* Parts of sink_new(), one for each kind. */
struct sink *null_sink_new(void);
struct sink *file_sink_new(void);
struct sink *relay_sink_new(const struct sink_config *config, const struct sink_host *host);
struct sink *spool_sink_new(const struct sink_config *config, const struct sink_host *host);

/** The stream's files. @out: a stream of a file sink. */
struct chunk_stream *file_sink_file(struct sink_stream *out);

/* Calls of the entries of struct sink_ops that may be NULL. */

static inline int sink_start(struct sink *sink, const struct sink_start *start, struct err *err)
{
	return sink->ops->start ? sink->ops->start(sink, start, err) : 0;
}

static inline int sink_revive(struct sink *sink)
{
	return sink->ops->revive ? sink->ops->revive(sink) : 0;
}

static inline bool sink_attaches_all(const struct sink *sink)
{
	return sink->ops->attaches_all && sink->ops->attaches_all(sink);
}

static inline int sink_await_outcomes(struct sink *sink)
{
	return sink->ops->await_outcomes ? sink->ops->await_outcomes(sink) : 0;
}

static inline int sink_beacon(struct sink *sink, uint64_t time)
{
	return sink->ops->beacon ? sink->ops->beacon(sink, time) : 0;
}

static inline int sink_check(struct sink *sink)
{
	return sink->ops->check ? sink->ops->check(sink) : 0;
}

static inline int sink_drain(struct sink *sink, uint64_t now)
{
	return sink->ops->drain ? sink->ops->drain(sink, now) : 0;
}

static inline uint64_t sink_drain_due(const struct sink *sink)
{
	return sink->ops->drain_due ? sink->ops->drain_due(sink) : UINT64_MAX;
}

static inline bool sink_is_behind(const struct sink *sink)
{
	return sink->ops->is_behind && sink->ops->is_behind(sink);
}

static inline uint64_t sink_waiting(const struct sink *sink)
{
	return sink->ops->waiting ? sink->ops->waiting(sink) : 0;
}

static inline int sink_sync(struct sink *sink)
{
	return sink->ops->sync ? sink->ops->sync(sink) : 0;
}

static inline const char *sink_problem(const struct sink *sink)
{
	return sink->ops->problem ? sink->ops->problem(sink) : "";
}

static inline int sink_trouble(const struct sink *sink, const char **ret_text)
{
	return sink->ops->trouble ? sink->ops->trouble(sink, ret_text) : 0;
}

static inline void sink_clock(struct sink *sink, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	*ret_offset_ns = 0;
	*ret_error_ns = 0;
	if (sink->ops->clock)
		sink->ops->clock(sink, ret_offset_ns, ret_error_ns);
}

static inline void sink_prepare_end(struct sink *sink, bool failing)
{
	if (sink->ops->prepare_end)
		sink->ops->prepare_end(sink, failing);
}

static inline void sink_finish(struct sink *sink, enum sink_end how, struct err *err)
{
	if (sink->ops->end)
		sink->ops->end(sink, how, err);
}

static inline int sink_open_trace(struct sink *sink, struct chunk_trace *dir)
{
	return sink->ops->open_trace ? sink->ops->open_trace(sink, dir) : 0;
}

static inline int sink_cut_metadata(struct sink *sink, struct chunk_trace *dir, uint64_t bytes)
{
	return sink->ops->cut_metadata ? sink->ops->cut_metadata(sink, dir, bytes) :
					 chunk_trace_cut(dir, bytes, false);
}

static inline int sink_append(struct sink *sink, struct chunk_trace *dir, const void *text,
			      uint32_t len)
{
	return sink->ops->append ? sink->ops->append(sink, dir, text, len) :
				   chunk_append(dir, text, len);
}

static inline uint64_t sink_close_trace(struct sink *sink, struct chunk_trace *dir)
{
	return sink->ops->close_trace ? sink->ops->close_trace(sink, dir) : 0;
}

static inline void sink_find_streams(struct sink *sink, const struct chunk_trace *dir)
{
	if (sink->ops->find_streams)
		sink->ops->find_streams(sink, dir);
}

static inline int sink_attach(struct sink_stream *out, struct packet_header *ret_last)
{
	return out->sink->ops->attach ? out->sink->ops->attach(out, ret_last) : SINK_SAME;
}

static inline uint64_t sink_missed(const struct sink_stream *out)
{
	return out->sink->ops->missed ? out->sink->ops->missed(out) : 0;
}

#endif
