/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linger.h - wait for processes that a recorded program leaves behind, as daemons do: for as
 * long as they record. Of lttctl's only thread.
 */
#ifndef CTL_LINGER_H
#define CTL_LINGER_H

#include "run.h"
#include "verb.h"

/**
 * struct others - what is waited for.
 * @session, @scope: of the program and all that it starts.
 * @run: of the program, which has ended. A signal of it ends the waiting; its mend() finds
 *       the successor of a daemon that is gone.
 * @no_wait: only count them.
 */
struct others {
	const char *session;
	const char *scope;
	struct run *run;
	bool no_wait;
};

/** Return: how many of them record on; 0: none, or with ERR_NO_ANSWER in ctl->err it is not
 *  known. */
unsigned int linger(struct ctl *ctl, const struct others *others);

#endif
