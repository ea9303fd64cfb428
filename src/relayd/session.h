/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - what a relay knows of a session that is being received: its directory, its
 * traces, its streams. It lives as long as its connection; the next one finds everything
 * in the files. Owned by its connection, and as that its worker's.
 */
#ifndef RELAYD_SESSION_H
#define RELAYD_SESSION_H

#include "base/err.h"
#include "base/idmap.h"
#include "proto/relay.h"
#include "relay.h"
#include "stream.h"

struct relconn;

struct relsession {
	struct idmap_node base_node; /* of the worker */
	struct relay *relay;
	struct relconn *conn; /* that has it */
	char *base;	      /* host and name, as they make a path: as others may have it */
	char *path;	      /* of its directory, below the relay's output */
	uint8_t id[RELAY_ID_BYTES];
	int fd;
	struct list_node traces; /* struct reltrace */
	struct list_node streams;
	struct idmap trace_ids, trace_paths;   /* of traces */
	struct idmap stream_ids, stream_files; /* of streams */
	struct live_session *live;	       /* NULL: viewers may not follow it */
	bool ended;			       /* its sender has said so */
};

enum {
	RELSESSION_NOBODYS = 0,
	RELSESSION_OPEN = 1,  /* its sender may come back */
	RELSESSION_ENDED = 2, /* it has said that it will not */
};

/** Is a directory a session's? */
int relsession_whose(int dir_fd);
/** @ret: NULL: the connection moves to the session's worker first, and asks again there.
 *  Return: 0 or the code in @err. */
int relsession_new(struct relconn *conn, const struct req_rel_session *req, struct relsession **ret,
		   struct err *err);
/** Files are closed; what they hold stays. */
void relsession_free(struct relsession *session);

int relsession_trace(struct relsession *session, const struct req_rel_trace *req,
		     uint64_t *ret_bytes, struct err *err);
int relsession_metadata(struct relsession *session, const struct req_rel_metadata *req,
			uint64_t *ret_bytes, struct err *err);
int relsession_stream(struct relsession *session, const struct req_rel_stream *req,
		      struct relstream **ret, struct err *err);
/** Note what is known of the sender's clock. */
void relsession_clock(const struct relsession *session, uint64_t now_ns,
		      const struct req_rel_clock *req);
int relsession_stream_end(struct relsession *session, uint32_t id, struct err *err);
/** If a packet of @bytes begins files of the stream, they are charged to @peer.
 *  Return: 0 or the code in @err. */
int relsession_make_files(struct relpeer *peer, const struct relstream *stream, uint64_t bytes,
			  struct err *err);
struct relstream *relsession_find_stream(const struct relsession *session, uint32_t id);

#endif
