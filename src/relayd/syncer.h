/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syncer.h - has on the disk itself what a relay is about to acknowledge: a thread for each
 * file system syncs the files of all connections that wait, so that the loop does not wait
 * for the disk. Owned by the relay; all but the thread's own part runs on the relay's loop.
 */
#ifndef RELAYD_SYNCER_H
#define RELAYD_SYNCER_H

#include <pthread.h>
#include <sys/types.h>

#include "io/loop.h"

#define SYNCER_NONE UINT32_MAX	/* period of what is not synced */
#define SYNCER_MOST_US 1000000u /* senders wait for their acknowledgement meanwhile */

struct syncer;

/** struct syncer_waiter - is called when something that it has joined for is on the disk. */
struct syncer_waiter {
	struct list_node node;
	/** All commits up to @commit are done; @error: the last one failed. It may leave. */
	void (*synced)(struct syncer_waiter *waiter, uint64_t commit, int error);
};

/** @fd: a directory on the file system; stays the caller's. @top_fd: the directories above it are
 *  not synced; stays the caller's, and open. Return: 0 or negative errno. */
int syncer_new(struct syncer **ret, struct loop *loop, int fd, int top_fd) MUST_CHECK;
/** Waits for the sync that is being made. */
struct syncer *syncer_free(struct syncer *syncer);
dev_t syncer_device(const struct syncer *syncer);

void syncer_add(struct syncer *syncer, struct syncer_waiter *waiter);
/** The next commit is to have a file, or a directory and those above it; the descriptor stays the
 *  caller's. Return: 0 or negative errno. */
int syncer_file(struct syncer *syncer, int fd) MUST_CHECK;
int syncer_dirs(struct syncer *syncer, int fd) MUST_CHECK;
/** Make that commit after @within_us at the latest. Return: its number. */
uint64_t syncer_join(struct syncer *syncer, uint64_t within_us);

#endif
