/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * viewstream.h - the position of one viewer in a session, its traces and their streams. Owned by
 * the viewer's connection; runs in the viewers' thread. Packets are found by the index
 * files; only the file of the packet that is being fetched is open.
 */
#ifndef RELAYD_VIEWER_VIEWSTREAM_H
#define RELAYD_VIEWER_VIEWSTREAM_H

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
	uint64_t id;	       /* sent to the viewer: the session's serial */
	uint64_t known;	       /* serial of the last stream that was reported to the viewer */
	uint64_t begin_behind; /* streams up to this serial start with their next packet */
	uint64_t since;	       /* trace clock: packets that end before are not shown */
	bool seeks_past;       /* it may lack streams that have ended: viewpast_find() */
	bool lacks_past;       /* some of those can't be shown */
	struct list_node
		past;	      /* struct live_stream: those, until they are reported to the viewer */
	bool notified;	      /* the viewer was notified of new streams */
	uint64_t reported_ts; /* latest time that was reported, of any stream */
	struct list_node traces;
};

/** A trace of a followed session, kept for the viewer (see live.h). Its metadata has a stream
 *  id. */
struct vtrace {
	struct list_node node;
	struct vsession *vsession;
	struct live_trace *trace;
	uint64_t id;	 /* of the trace and of its metadata stream */
	uint64_t sent;	 /* bytes of metadata that were sent */
	uint64_t needed; /* bytes of metadata that the viewer must fetch before packets */
	unsigned int nr_active;
	struct list_node streams;
};

struct vstream {
	struct list_node node;
	struct vtrace *vtrace;
	struct live_stream *stream;
	uint64_t id;
	bool ended;
	struct live_part *part; /* the part that is being read */
	uint64_t file, entry;	/* the next packet: numbers of file and index entry, from 0 */
	uint64_t reported_ts; /* time up to which packets or beacons were sent */
	uint64_t joined_ts;   /* the session's reported_ts when this stream was reported */
	bool has_header;      /* @header is that of the last packet */
	struct packet_header header;

	/* The packet that is being fetched. */
	struct view_files *files;
	int fd; /* -1: it is `empty`, or there is none */
	uint64_t offset, bytes;
	struct packet_header empty;
};

/** @since: packets that end before are not shown; 0: all are shown. Return: NULL: there is no such
 *  session. */
struct vsession *vsession_new(struct live *live, uint64_t id, const struct view_acl *view_acl,
			      bool from_begin, uint64_t since);
void vsession_free(struct vsession *vsession);

/** The next stream that was not reported to the viewer. @next_id: next id to be assigned.
 *  Return: NULL: there is none. */
struct vstream *vsession_next(struct vsession *vsession, struct view_files *files,
			      uint64_t *next_id);
/** Whether vsession_next() has another stream. */
bool vsession_has_next(const struct vsession *vsession);
/** Whether the session has ended and the viewer has read all of it. */
bool vsession_is_over(const struct vsession *vsession);

/** Bytes of metadata that the viewer does not have. */
uint64_t vtrace_unsent(const struct vtrace *vtrace);
/** Read the next @len bytes of metadata and count them as sent. Return: 0 or negative errno. */
int vtrace_read(struct vtrace *vtrace, void *buf, size_t len) MUST_CHECK;

/**
 * vstream_index() - the next packet or beacon. At the end of a trace, @vs is freed.
 * Return: 0, or -ESTALE: an event is older than the time up to which all events were reported.
 */
int vstream_index(struct vstream *vs, struct view_index *ret) MUST_CHECK;
/** Read from the packet that is being fetched. Return: 0 or negative errno. */
int vstream_read(struct vstream *vs, uint64_t offset, void *buf, size_t len) MUST_CHECK;
/** End the fetching of a packet. */
void vstream_close(struct vstream *vs);

#endif
