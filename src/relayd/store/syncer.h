/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syncer.h - syncs data to the disk before a relay acknowledges it: for each file system, a thread
 * syncs the files of all connections that wait for it. One such sync is a "commit". Owned by a
 * worker; these functions run on the worker's loop, which never waits for the thread.
 */
#ifndef RELAYD_STORE_SYNCER_H
#define RELAYD_STORE_SYNCER_H

#include <pthread.h>
#include <sys/types.h>

#include "io/loop.h"

#define SYNCER_NONE UINT32_MAX	/* instead of a period: data is not synced */
#define SYNCER_MOST_US 1000000u /* longest period, as senders wait for the acknowledgement */

struct syncer;

/** struct syncer_waiter - callback of a connection that waits for commits. */
struct syncer_waiter {
	struct list_node node;
	/** All commits up to @commit are done; @error: the last one failed. The waiter may be
	 *  removed from the list. */
	void (*synced)(struct syncer_waiter *waiter, uint64_t commit, int error);
};

/** @fd: a directory on the file system; owned by the caller. @top_fd: a directory whose parents are
 *  not synced; owned by the caller, and stays open. Return: 0 or negative errno. */
int syncer_new(struct syncer **ret, struct loop *loop, int fd, int top_fd) MUST_CHECK;
/** Wait for a commit in progress, and free. */
struct syncer *syncer_free(struct syncer *syncer);
dev_t syncer_device(const struct syncer *syncer);

void syncer_add(struct syncer *syncer, struct syncer_waiter *waiter);
/** Add a file, or a directory and its parents, to the next commit; the descriptor stays the
 *  caller's. Return: 0 or negative errno. */
int syncer_file(struct syncer *syncer, int fd) MUST_CHECK;
int syncer_dirs(struct syncer *syncer, int fd) MUST_CHECK;
/** Begin the next commit after @within_us at the latest. Return: its number. */
uint64_t syncer_join(struct syncer *syncer, uint64_t within_us);

#endif
