/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - the state of live sessions for viewers: the sessions, their traces and streams, the
 * position up to which each is stored, and the time up to which it is complete. The relay's workers
 * write it on messages of senders, each for its own sessions; the viewers' thread reads it. One
 * lock protects it, which is never held across a system call that waits. The viewers' thread reads
 * packets from the files.
 *
 * After a turn to the next chunk (turn.h), a stream has another part: viewers read the earlier ones
 * to their ends, as they read file after file.
 *
 * A trace is kept until its streams have ended and every viewer that was attached meanwhile
 * has read it; a session until it has ended and no viewer is attached. So a viewer receives also
 * the traces of short-lived programs. A session that began before this relay started is kept with
 * all its traces for a minute, as its viewers may reconnect.
 */
#ifndef RELAYD_VIEWER_LIVE_H
#define RELAYD_VIEWER_LIVE_H

#include <pthread.h>

#include "base/idmap.h"
#include "base/list.h"
#include "store/chunk_stream.h"

struct live_session;

/** The sessions that a viewer may see. */
struct view_acl {
	bool all;
	char **hosts; /* sessions of these hosts; NULL: sessions that all local users may view */
	unsigned int nr_hosts;
};

bool view_acl_covers(const struct view_acl *view_acl, const struct live_session *session);
void view_acl_fini(struct view_acl *view_acl);

struct live {
	pthread_mutex_t lock;
	struct list_node sessions; /* struct live_session */
	uint64_t next_serial;
	unsigned int nr_kept;		  /* sessions kept for viewers that may reconnect */
	unsigned int nr_fds;		  /* descriptors of traces' directories */
	const unsigned int *nr_other_fds; /* atomic: descriptors of sessions that are received */
	unsigned int max_fds;		  /* limit of the sum of both */
};

struct live_session {
	struct list_node node;
	struct live *live;
	uint64_t id; /* for viewers; with VIEW_LASTING_ID */
	char *path, *host, *name;
	int dir_fd; /* of its directory; -1: not available */
	uint32_t period_us;
	bool open_to_all;  /* all local users may read its directory */
	bool ctf_2;	   /* a trace has metadata in CTF 2 */
	bool lacks_traces; /* there were too many for viewers to get all */
	bool ended;	   /* no more data will be received */
	uint64_t away_ns;  /* time at which the sender disconnected; 0: it is connected */
	uint64_t beacon;   /* trace clock: the session is complete up to here; 0: unknown */
	unsigned int nr_viewers;
	uint64_t kept_until_ns;	  /* kept for viewers that may reconnect; 0: not kept */
	uint64_t last_serial;	  /* serial of its newest stream */
	struct list_node streams; /* struct live_stream, by serial */
	struct idmap trace_paths; /* traces to which streams may be added */
	struct idmap stream_serials, stream_files;
};

/** The directories of a trace in one chunk. */
struct live_dirs {
	unsigned int refs; /* under the lock */
	int dir_fd, index_fd;
	dev_t device; /* of dir_fd */
	ino_t inode;
};

/** The files of a stream in one chunk. All under the lock, but @dirs for viewers that have it. */
struct live_part {
	unsigned int refs;
	struct live_dirs *dirs;
	struct live_part *next; /* NULL: it is the last */
	uint64_t file;		/* number of the file that is being written, from 0 */
	uint64_t first_name;	/* the number in the name of file 0; wraps around */
	uint64_t index_bytes;	/* size of that file's index, with its header; 0: none */
};

/** Constant, except fields marked as under the lock. */
struct live_trace {
	struct idmap_node path_node; /* of the session */
	struct live_session *session;
	uint64_t serial;
	char *path;
	uint8_t uuid[16];
	/* under the lock */
	struct live_dirs *dirs;
	struct list_node streams; /* struct live_stream */
	uint64_t metadata_bytes;
	bool is_past;		/* for one viewer only: see live_add_past() */
	unsigned int nr_active; /* streams that have not ended */
	unsigned int waiters;	/* viewers that have not read all of it */
	unsigned int readers;	/* of these, those that know a stream of it */
};

struct live_stream {
	struct list_node node;			  /* of the session */
	struct list_node trace_node;		  /* of the trace */
	struct idmap_node serial_node, file_node; /* of the session */
	struct live_trace *trace;
	uint64_t serial;
	struct stream_config config; /* owns channel; trace, disk and link are not set */
	uint32_t cpu;
	uint64_t since; /* the session's beacon when the stream was opened */
	/* under the lock */
	bool ended;
	struct live_part *part;	 /* the last */
	struct live_part *first; /* the first that a viewer may need which does not know it */
	struct packet_header last; /* header of the last stored packet; not set: there is none */
};

/** @nr_other_fds: descriptors in use by others, which count towards @max_fds. */
void live_init(struct live *live, const unsigned int *nr_other_fds, unsigned int max_fds);
/** No viewer and no sender may be connected any more. */
void live_fini(struct live *live);

/* --- called by the relay's workers; with @session or @stream NULL they do nothing ------------- */

/** Add a session that a sender has opened, or find it again. @path, @dir_fd: its directory; the
 *  descriptor is duplicated. @base: @path without the number of a namesake of the same second: each
 *  of those that are live gets a name of its own. @is_old: it existed before this relay started. */
struct live_session *live_session_open(struct live *live, const char *base, const char *path,
				       int dir_fd, const char *host, const char *name,
				       uint32_t period_us, bool open_to_all, bool is_old);
/** HOST/SESSION, as viewers see it; allocated; empty without @session. */
char *live_session_name(const struct live_session *session) MUST_CHECK;
/** Report that the sender has disconnected; @ended: for good. The session may be freed. */
void live_session_close(struct live_session *session, bool ended);
/** Number of descriptors of all traces. */
unsigned int live_fds(struct live *live);
/** Whether a session with the directory @path has viewers, or may get some. */
bool live_knows(struct live *live, const char *path);
void live_beacon(struct live_session *session, uint64_t time);
void live_metadata(struct live_session *session, const struct chunk_trace *dir);
/** Add a stream, or find it again, perhaps after a turn. @file: its current state. Return: NULL: it
 *  can't be shown to viewers. */
struct live_stream *live_stream_open(struct live_session *session, const struct chunk_stream *file,
				     const struct packet_header *last);
/** Report that another packet is stored. */
void live_stored(struct live_stream *stream, const struct chunk_stream *file,
		 const struct packet_header *last);
void live_stream_end(struct live_stream *stream);

/* --- called by the viewers' thread ---------------------------------------------------------- */

/** A consistent snapshot of a stream's state, and of one of its parts. */
struct live_state {
	bool ended;  /* no more packets will be received */
	bool turned; /* there is a next part */
	uint64_t file, first_name, index_bytes;
	uint64_t beacon;
	uint64_t metadata_bytes;
	struct packet_header last; /* its sequence number is 0 if there is no packet */
	uint64_t unknown_since;	   /* @since of the first stream that the viewer does not know */
	bool is_unknown;	   /* there is such a stream */
};

/** @known: serial of the last stream that was reported to the viewer. */
void live_state(const struct live_stream *stream, const struct live_part *part, uint64_t known,
		struct live_state *ret);
/** The part with which a viewer begins, @newest: the last one. It stays until live_part_done(). */
struct live_part *live_part_begin(struct live_stream *stream, bool newest);
/** Go on from @part to the next one, which is there. */
struct live_part *live_part_next(struct live_stream *stream, struct live_part *part);
void live_part_done(struct live_stream *stream, struct live_part *part);
/** Open the trace's metadata. Return: descriptor or negative errno. */
int live_open_metadata(struct live_trace *trace);
/** A viewer has got the first stream of the trace. */
void live_trace_known(struct live_trace *trace);
uint64_t live_metadata_bytes(const struct live_trace *trace);

/** Whether a trace of it has metadata in CTF 2. */
bool live_session_is_ctf_2(const struct live_session *session);
/** Trace clock: the time up to which the session is complete; 0: unknown; UINT64_MAX: it has
 *  ended. */
uint64_t live_session_beacon(const struct live_session *session);
/** Whether the session has ended, also because its sender stays away. */
bool live_session_is_over(const struct live_session *session);
/** Attach a viewer: its session's traces are kept until live_trace_done(). Return: NULL: no such
 *  session. */
struct live_session *live_attach(struct live *live, uint64_t id, const struct view_acl *view_acl);
/** Detach a viewer. @known: as above: traces of later streams are not kept for the viewer. */
void live_detach(struct live_session *session, uint64_t known);
/** Serial of the newest stream. */
uint64_t live_last_stream(const struct live_session *session);
/** Report that the viewer has read all of the trace. */
void live_trace_done(struct live_trace *trace);
/** Whether all streams that have data up to a beacon are registered, or none will be any more. */
bool live_is_settled(const struct live_session *session);
/** Whether the session has traces that viewers do not get, as there are too many. */
bool live_lacks_traces(const struct live_session *session);

/** The files of a stream that is not received any more. */
struct live_past {
	struct stream_config config; /* the same as of a live stream; trace: open */
	uint32_t cpu;
	uint64_t nr_files, first_name; /* as of a live stream */
	uint64_t index_bytes;	       /* of the last file */
};

/** Add a stream that has ended, for one viewer, which is attached. @trace: the trace of such a
 *  stream, in and out; NULL: it is not known yet. *@ret: NULL: the viewer has the stream already.
 *  Return: 0, or -EMFILE: there are too many traces. */
int live_add_past(struct live_session *session, const struct live_past *past,
		  struct live_trace **trace, struct live_stream **ret) MUST_CHECK;
/** The next stream after serial @known; NULL: none. Valid while its trace is kept for the
 *  viewer. */
struct live_stream *live_next_stream(const struct live_session *session, uint64_t known);

/** Call @visit for each session that can be attached. */
void live_each(struct live *live, const struct view_acl *view_acl,
	       void (*visit)(const struct live_session *session, unsigned int streams, void *data),
	       void *data);

#endif
