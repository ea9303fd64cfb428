/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tail.h - reads a trace below a local directory while a session writes it, in the order of time.
 * Streams grow up to the end of their index; files of new streams, new traces and those of an
 * archive are found by searching again. As no file contains the time up to which a silent stream is
 * complete, the session is made to write its buffers: of events that were recorded before such a
 * request none is missing when it is answered. So those up to the latest time that was in the files
 * before it are shown. Belongs to a view, runs in its thread and waits there.
 */
#ifndef READ_LIVE_TAIL_H
#define READ_LIVE_TAIL_H

#include <signal.h>

#include "read/view.h"

enum tail_cut {
	TAIL_WRITTEN,	/* all events that were recorded before are in the files */
	TAIL_UNCHANGED, /* not now */
	TAIL_ENDED,	/* nothing will be written any more */
};

/**
 * struct tail_session - the writer of a trace.
 * @cut: have it write its buffers, after a rest.
 * @stop: set by a signal handler: the view ends; may be NULL.
 */
struct tail_session {
	enum tail_cut (*cut)(void *priv);
	void *priv;
	volatile sig_atomic_t *stop;
};

/** view_open_tail() - as view_open(), of traces that are being written. A directory that is removed
 *  meanwhile is reported, and is the end. */
int view_open_tail(const char *dir, const struct tail_session *session, view_report_fn report,
		   void *priv, struct view **ret_view) __attribute__((warn_unused_result));

#endif
