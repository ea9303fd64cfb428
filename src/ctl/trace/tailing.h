/* SPDX-License-Identifier: GPL-2.0-only */
/* tailing.h - `view --follow`: has a session write its buffers while its trace is read. */
#ifndef CTL_TRACE_TAILING_H
#define CTL_TRACE_TAILING_H

#include "ctl/ctl.h"
#include "read/live/tail.h"

/** @session: allocated; NULL: no session of the daemon writes the trace. @output: of it.
 *  @reported: the session can't write its buffers for now, and this was reported. */
struct tailing {
	struct ctl *ctl;
	char *session;
	char *output;
	bool reported;
	unsigned int away; /* rests without a daemon, one after the other */
};

/** Find the session that writes the trace in @path. Return: 0; the code in ctl->err. */
int tailing_begin(struct ctl *ctl, const char *path, struct tailing *ret) MUST_CHECK;
void tailing_end(struct tailing *tailing);
/** For struct tail_session. */
enum tail_cut tailing_cut(void *priv);

#endif
