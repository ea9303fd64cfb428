/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linger.h - wait for processes that a recorded program leaves behind, as daemons do: for as
 * long as they record. Of lttctl's only thread.
 */
#ifndef CTL_RECORD_LINGER_H
#define CTL_RECORD_LINGER_H

#include "run.h"
#include "ctl/ctl.h"

/**
 * struct others - the processes to wait for. @session, @scope: of the program and its children.
 * @run: of the program, which has ended. A signal that it receives ends the waiting; its watch
 * callback connects to the successor of a daemon that has ended.
 * @no_wait: only count them.
 */
struct others {
	const char *session;
	const char *scope;
	struct run *run;
	bool no_wait;
};

/** Whether a process, by its directory in /proc, has libltt. */
bool linger_has_libltt(const char *pid);
/** Age of a process; UINT64_MAX: it has ended. */
uint64_t linger_age_ms(int pid);
/** Whether a process has begun just now, so that it may have libltt soon. */
bool linger_is_young(const char *pid);
/** Whether a process has begun just now, and may be a shell's child that will execute its
 *  program. */
bool linger_awaits_exec(int pid);
/** Return: 1: a process is a descendant of this one; 0: not; negative: it has ended, or one of its
 *  ancestors did in the meantime. */
int linger_is_descendant(int pid) MUST_CHECK;
/** Return: the number of them that still record; 0: none, or unknown, with ERR_NO_ANSWER in
 *  ctl->err. */
unsigned int linger(struct ctl *ctl, const struct others *others);

#endif
