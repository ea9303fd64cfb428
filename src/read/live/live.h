/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * live.h - traces that grow while they are read, and of these live sessions, from a relay or an
 * ltt-tunnel, by the protocol of viewers (proto/viewproto.h); tail.h has those of a local
 * directory. Streams are feeds whose packets arrive one by one; while one has none, its feed's time
 * is the one up to which the relay knows that there are no events. Belongs to a view, runs in its
 * thread and waits there. The relay is not trusted: its data is checked as that of a file is, but
 * for checksums, as relays change headers for their viewers.
 */
#ifndef READ_LIVE_LIVE_H
#define READ_LIVE_LIVE_H

#include <signal.h>

#include "read/view.h"

/**
 * struct live_session - the sessions to follow: several machines may have one name.
 * @fd: a connection, after the introductions; owned by the view, also if it can't be opened.
 * @ids: of the @nr sessions, in the machine's byte order; allocated, and owned like @fd.
 * @from_begin: with the events that the relay has already.
 * @rest_ms: longest wait between two requests; 0: 200.
 * @stop: set by a signal handler, installed without SA_RESTART: the view ends; may be NULL.
 */
struct live_session {
	int fd;
	uint64_t *ids;
	uint32_t nr;
	bool from_begin;
	int rest_ms;
	volatile sig_atomic_t *stop;
};

/**
 * view_open_live() - as view_open(), of sessions that are being recorded. The events end with the
 * last session, with @stop, or with the connection, which is reported.
 * Return: 0; -ENOENT: the relay does not have it, or it is not live; other negative errno.
 */
int view_open_live(const struct live_session *session, view_report_fn report, void *priv,
		   struct view **ret_view) __attribute__((warn_unused_result));

struct feed;
struct live;

/** Outcome of live_ops.next(), besides 0: the stream has ended; and negative errno. */
enum {
	LIVE_PACKET = 1, /* it is at feed->next_packet */
	LIVE_LATER = 2,	 /* feed->ns may have changed, and there may be new streams */
};

/**
 * struct live_ops - a kind of trace that grows while it is read.
 * @next: get the next packet of a stream, or wait for a moment.
 * @take_new: a stream that began since the last call; NULL: there is none.
 * @await_stream: no stream is there: wait for one for a moment. Return: 1; 0: the session has
 *                ended; negative errno.
 */
struct live_ops {
	int (*next)(struct feed *feed);
	struct feed *(*take_new)(struct live *live);
	int (*await_stream)(struct live *live);
	void (*free)(struct live *live);
};

/** struct live - the begin of each kind's own struct. */
struct live {
	const struct live_ops *ops;
};

#endif
