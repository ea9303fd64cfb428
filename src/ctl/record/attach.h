/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attach.h - programs that run already, for `lttctl record`: the named ones, or all. They are
 * checked before anything is created, tracked by the session, and waited for. Of lttctl's only
 * thread.
 */
#ifndef CTL_RECORD_ATTACH_H
#define CTL_RECORD_ATTACH_H

#include "ctl/ctl.h"
#include "ctl/names.h"
#include "run.h"

/** A thread of a process; @vtid: its id in its own namespace. */
struct attach_thread {
	uint32_t pid, tid, vtid;
};

/**
 * struct attach
 * @pids: the processes, without repetitions; @nr is 0: all that the session's owner may record.
 * @threads: of these processes, only these threads; @nr_threads is 0: all.
 * @fds: a pidfd of each.
 * @limit_ns: end of the recording after its start; 0: none.
 * @silent: number of processes that had not registered at the end, or after some seconds; set by
 *	attach_wait().
 */
struct attach {
	uint32_t *pids;
	int *fds;
	size_t nr;
	struct attach_thread *threads;
	size_t nr_threads;
	uint64_t limit_ns;
	size_t silent;
};

/** Parse the option --for. Return: 0 or the code in @err. */
int attach_limit(struct attach *attach, const char *text, struct err *err) MUST_CHECK;
/** Find the processes @pids, and those of the threads @tids, that a user has named. @need_libltt:
 *  each must have libltt. Return: 0 or the code in @err. */
int attach_find(struct attach *attach, const struct names *pids, const struct names *tids,
		bool need_libltt, struct err *err) MUST_CHECK;
void attach_fini(struct attach *attach);
/** The name of the session, without the time; allocated. */
char *attach_name(const struct attach *attach);

/** The filter of applications that selects the threads, with @filter, which may be NULL;
 *  allocated; NULL: none. */
char *attach_filter(const struct attach *attach, const char *filter);
/** Let the session record only these processes, or of the kernel only these threads. Return: 0 or
 *  the code in ctl->err. */
int attach_track(struct ctl *ctl, const struct attach *attach, const char *session,
		 enum domain_id domain) MUST_CHECK;
/** Wait until the named processes or the time have ended, or a signal has arrived. @libltt: report
 *  processes that do not register. */
void attach_wait(struct ctl *ctl, struct attach *attach, const char *session, struct run *run,
		 bool libltt);

#endif
