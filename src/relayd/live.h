/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - what viewers may know of live sessions: which there are, their traces and streams,
 * how much of each is stored, and up to when nothing is missing. The relay's workers write it as
 * senders tell, each for its own sessions; the viewers' thread reads.
 * One lock, held for a few instructions, never across a system call that waits. Files
 * are read by the viewers themselves, from the disk.
 *
 * A trace is kept until its streams have ended and every viewer that was attached meanwhile
 * is through with it; a session until it has ended and no viewer is attached. So a viewer
 * misses no program, however short it lived. A session that began at an earlier relay is kept with
 * all its traces for a minute as if a viewer were attached: those of that relay may come back.
 */
#ifndef RELAYD_LIVE_H
#define RELAYD_LIVE_H

#include <pthread.h>

#include "base/idmap.h"
#include "base/list.h"
#include "store/streamfile.h"

struct live_session;

/** The sessions that a viewer may see. */
struct view_acl {
	bool all;
	char **hosts; /* those of these hosts; NULL: those that are open to everybody here */
	unsigned int nr_hosts;
};

bool view_acl_covers(const struct view_acl *view_acl, const struct live_session *session);
void view_acl_fini(struct view_acl *view_acl);

struct live {
	pthread_mutex_t lock;
	struct list_node sessions; /* struct live_session */
	uint64_t next_serial;
	unsigned int nr_kept;		  /* sessions that are held for viewers that come back */
	unsigned int nr_fds;		  /* directories of traces */
	const unsigned int *nr_other_fds; /* atomic: of the sessions that are received */
	unsigned int max_fds;		  /* of both together */
};

struct live_session {
	struct list_node node;
	struct live *live;
	uint64_t serial;
	char *path, *host, *name;
	uint32_t period_us;
	bool open_to_all; /* its directory is */
	bool ended;	  /* nothing more comes */
	uint64_t away_ns; /* time at which the sender disconnected; 0: it is connected */
	uint64_t beacon;  /* trace clock: up to here nothing is missing; 0: not known */
	unsigned int nr_viewers;
	uint64_t kept_until_ns;	  /* for viewers that come back; 0: it is not held */
	uint64_t last_serial;	  /* of its streams */
	struct list_node streams; /* struct live_stream, by serial */
	struct idmap trace_paths; /* of traces that get streams still */
	struct idmap stream_serials, stream_files;
};

/** Does not change but for what is said to be under the lock. */
struct live_trace {
	struct idmap_node path_node; /* of the session */
	struct live_session *session;
	uint64_t serial;
	char *path;
	uint8_t uuid[16];
	int dir_fd, index_fd;
	/* under the lock */
	struct list_node streams; /* struct live_stream */
	uint64_t metadata_bytes;
	bool hides;		/* as the trace on the disk */
	unsigned int nr_active; /* streams */
	unsigned int waiters;	/* viewers that are not through with it */
};

struct live_stream {
	struct list_node node;			  /* of the session */
	struct list_node trace_node;		  /* of the trace */
	struct idmap_node serial_node, file_node; /* of the session */
	struct live_trace *trace;
	uint64_t serial;
	struct stream_config config; /* channel is its own; trace, disk and link are not set */
	uint32_t cpu;
	uint64_t since; /* the session's beacon when it came */
	/* under the lock */
	bool ended;
	uint64_t file;	      /* which one is being written, counted from 0 */
	uint64_t first_name;  /* the number in the name of file 0; wraps around */
	uint64_t index_bytes; /* of that one's index, header included; 0: there is none */
	bool has_last;
	struct packet_header last; /* that is stored */
};

/** @nr_other_fds: descriptors that are in use besides, of the @max_fds. */
void live_init(struct live *live, const unsigned int *nr_other_fds, unsigned int max_fds);
/** Neither a viewer nor a sender is connected any more. */
void live_fini(struct live *live);

/* --- the relay's workers: @session, @stream may be NULL, then nothing is done ---------------- */

/** A session that a sender announces, again or for the first time. @path: its directory.
 *  @is_old: it was there before this relay began. */
struct live_session *live_session_open(struct live *live, const char *path, const char *host,
				       const char *name, uint32_t period_us, bool open_to_all,
				       bool is_old);
/** Its sender is gone; @ended: and will not come back. The session may be freed. */
void live_session_close(struct live_session *session, bool ended);
/** How many descriptors all of it holds. */
unsigned int live_fds(struct live *live);
/** Is there a session whose directory @path is, that viewers follow or may follow? */
bool live_knows(struct live *live, const char *path);
void live_beacon(struct live_session *session, uint64_t time);
void live_metadata(struct live_session *session, const struct tracedir *dir);
/** @file: as it was found. Return: NULL: viewers do without. */
struct live_stream *live_stream_open(struct live_session *session, const struct stream_file *file,
				     const struct packet_header *last);
/** Another packet is stored. */
void live_stored(struct live_stream *stream, const struct stream_file *file,
		 const struct packet_header *last);
void live_stream_end(struct live_stream *stream);

/* --- viewers ------------------------------------------------------------------------------ */

/** The state of a stream that a viewer needs to go on, of one instant. */
struct live_state {
	bool ended; /* nothing more comes of it */
	uint64_t file, first_name, index_bytes;
	uint64_t beacon;
	uint64_t metadata_bytes;
	struct packet_header last; /* of which the sequence number is 0 where there is none */
	uint64_t unknown_since;	   /* when the first stream came that the viewer has not heard of */
	bool is_unknown;	   /* there is one */
};

/** @known: serial of the last stream that was reported to the viewer. */
void live_state(const struct live_stream *stream, uint64_t known, struct live_state *ret);
uint64_t live_metadata_bytes(const struct live_trace *trace);
/** Do its packets have form 2? */
bool live_hides(const struct live_trace *trace);

/** Trace clock: up to here nothing is missing; 0: not known; UINT64_MAX: the stream has ended. */
uint64_t live_session_beacon(const struct live_session *session);
/** Has it ended, one way or another? */
bool live_session_is_over(const struct live_session *session);
/** Attach: from here on its traces wait for the viewer. Return: NULL: no such session. */
struct live_session *live_attach(struct live *live, uint64_t serial,
				 const struct view_acl *view_acl);
/** @known: as above: nobody waits for the traces any more that came later. */
void live_detach(struct live_session *session, uint64_t known);
/** Serial of the newest stream. */
uint64_t live_last_stream(const struct live_session *session);
/** The viewer is through with it. */
void live_trace_done(struct live_trace *trace);
/** The next stream behind @known; NULL: none. It lives while its trace waits for the viewer. */
struct live_stream *live_next_stream(const struct live_session *session, uint64_t known);

/** Sessions that can be attached, as the caller wants them. */
void live_each(struct live *live, const struct view_acl *view_acl,
	       void (*visit)(const struct live_session *session, unsigned int streams, void *data),
	       void *data);

#endif
