/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kept.h - buffers of processes that have ended, in sessions for snapshots: the next snapshots have
 * their last events, too. The last KEPT_MOST processes' are kept, as long as the quota has room for
 * the buffers of another process. Part of struct user_session.
 */
#ifndef DOMAIN_USER_KEPT_H
#define DOMAIN_USER_KEPT_H

#include <stdint.h>

#define KEPT_MOST 16u

struct user_session;

/** Ids of processes, the first that ended first. */
struct kept {
	uint64_t apps[KEPT_MOST];
	uint32_t nr;
};

/** The process has ended: keep its own buffers, or close them. */
void kept_add(struct user_session *us, uint64_t app);

#endif
