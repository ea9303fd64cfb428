/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - a session that a relay is receiving: its directory, its traces, its
 * streams. It exists as long as its connection; the next connection reads the state from the
 * files. Owned by its connection; runs in the connection's worker.
 */
#ifndef RELAYD_STORE_SESSION_H
#define RELAYD_STORE_SESSION_H

#include "base/err.h"
#include "base/idmap.h"
#include "proto/relay.h"
#include "relayd/relay.h"
#include "stream.h"

struct relconn;

struct relsession {
	struct idmap_node base_node; /* of the worker */
	struct relay *relay;
	struct relconn *conn; /* its owner */
	char *base;	      /* host and name, as a path; later sessions may have the same */
	char *path;	      /* of its directory, below the relay's output */
	uint8_t id[RELAY_ID_BYTES];
	int fd;
	struct chunk chunk; /* in that directory; of a snapshot: in a hidden one there */
	struct list_node streams;
	struct idmap trace_ids, trace_paths;   /* of the chunk's traces */
	struct idmap stream_ids, stream_files; /* of streams */
	struct archived *archived;	       /* NULL: the relay has no store */
	struct live_session *live;	       /* NULL: viewers may not follow it */
	bool ended;			       /* its sender has reported its end */
};

enum {
	RELSESSION_NONE = 0,
	RELSESSION_OPEN = 1,  /* its sender may reconnect */
	RELSESSION_ENDED = 2, /* its sender has reported its end */
};

/** Whether a directory is a session's, and whether that has ended. */
int relsession_status_of_dir(int dir_fd);
/** Begin or continue a session. @ret: NULL: the connection first moves to the session's worker,
 *  which calls this again. Return: 0 or the code in @err. */
int relsession_new(struct relconn *conn, const struct req_rel_session *req, struct relsession **ret,
		   struct err *err);
/** Its sender has reported its end. A snapshot gets its name. Return: 0 or the code in @err. */
int relsession_end(struct relsession *session, bool unfinished, struct err *err);
/** Whether its traces are those of a snapshot. */
bool relsession_is_snapshot(const struct relsession *session);
/** Files are closed; their contents stay, but not those of a snapshot that has not ended. */
void relsession_free(struct relsession *session);

int relsession_trace(struct relsession *session, const struct req_rel_trace *req,
		     uint64_t *ret_bytes, struct err *err);
int relsession_metadata(struct relsession *session, const struct req_rel_metadata *req,
			uint64_t *ret_bytes, struct err *err);
int relsession_stream(struct relsession *session, const struct req_rel_stream *req,
		      struct relstream **ret, struct err *err);
/** Record the known properties of the sender's clock. */
void relsession_clock(const struct relsession *session, uint64_t now_ns,
		      const struct req_rel_clock *req);
int relsession_stream_end(struct relsession *session, uint32_t id, struct err *err);
/** If a packet of @bytes begins new files of the stream, charge them to @peer.
 *  Return: 0 or the code in @err. */
int relsession_make_files(struct relpeer *peer, const struct relstream *stream, uint64_t bytes,
			  struct err *err);
struct relstream *relsession_find_stream(const struct relsession *session, uint32_t id);

#endif
