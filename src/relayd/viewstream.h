/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewstream.h - how far one viewer is: in a session, its traces and their streams. Owned by
 * the viewer's connection; runs in the viewers' thread. Packets are found by the index
 * files; the file of the packet that is being fetched is open, no other.
 */
#ifndef RELAYD_VIEWSTREAM_H
#define RELAYD_VIEWSTREAM_H

#include "live.h"
#include "proto/viewproto.h"

/** Descriptors that all viewers together may have open for packets. */
struct view_files {
	unsigned int nr, max;
};

/** A session that a viewer follows. */
struct vsession {
	struct list_node node;
	struct live_session *session;
	uint64_t id;	       /* for the viewer: its serial */
	uint64_t known;	       /* serial of the last stream that was reported to the viewer */
	uint64_t begin_behind; /* streams up to here are shown from now on, not from their begin */
	uint64_t since;	       /* trace clock: packets that end before are known to the viewer */
	bool notified;	       /* of new streams, which it has not requested yet */
	uint64_t reported_ts;  /* the latest that was reported of any stream */
	struct list_node traces;
};

/** A trace of it, which waits for us (see live.h). Its metadata counts as a stream. */
struct vtrace {
	struct list_node node;
	struct vsession *vsession;
	struct live_trace *trace;
	uint64_t id;	 /* of the metadata stream, too */
	uint64_t sent;	 /* bytes of metadata */
	uint64_t needed; /* so much is to be fetched before packets */
	unsigned int nr_active;
	struct list_node streams;
};

struct vstream {
	struct list_node node;
	struct vtrace *vtrace;
	struct live_stream *stream;
	uint64_t id;
	bool ended;
	uint64_t file, entry; /* the next packet's, counted from 0 */
	uint64_t reported_ts; /* the viewer knows everything up to here */
	uint64_t joined_ts;   /* and this of the other streams, before it knew of this one */
	bool has_header;      /* of the last packet */
	struct packet_header header;

	/* the packet that is being fetched */
	struct view_files *files;
	int fd; /* -1: it is `empty`, or there is none */
	uint64_t offset, bytes;
	struct packet_header empty;
};

/** @since: packets that end before need not be shown; 0: all are. Return: NULL: there is no such
 *  session, or no more. */
struct vsession *vsession_new(struct live *live, uint64_t id, const struct view_acl *view_acl,
			      bool from_begin, uint64_t since);
void vsession_free(struct vsession *vsession);

/** The next stream that was not reported to the viewer. @next_id: ids of the viewer's.
 *  Return: NULL: there is none. */
struct vstream *vsession_next(struct vsession *vsession, struct view_files *files,
			      uint64_t *next_id);
/** Nothing more will ever come. */
bool vsession_is_over(const struct vsession *vsession);

/** Bytes of metadata that the viewer does not have. */
uint64_t vtrace_news(const struct vtrace *vtrace);
/** Read @len of them and count them as sent. Return: 0 or negative errno. */
int vtrace_read(struct vtrace *vtrace, void *buf, size_t len) MUST_CHECK;

/**
 * vstream_index() - what comes next. At the end of a trace, @vs is freed.
 * Return: 0, or -ESTALE: an event is older than the time up to which all events were reported.
 */
int vstream_index(struct vstream *vs, struct view_index *ret) MUST_CHECK;
/** Read of the packet that is being fetched. Return: 0 or negative errno. */
int vstream_read(struct vstream *vs, uint64_t offset, void *buf, size_t len) MUST_CHECK;
/** All of it has been read. */
void vstream_close(struct vstream *vs);

#endif
