/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doorbell.h - a worker's wait on two futex words at once. One lies in a page
 * that the applications of the session map: to wake the worker, they increment the
 * word and call futex wake. The other is private to the consumer, for commands. A malicious
 * application can wake the worker too often, or overwrite the shared word so that a wake-up by
 * another application is missed; it can't delay a command.
 */
#ifndef CONSUMERD_DOORBELL_H
#define CONSUMERD_DOORBELL_H

#include <stdint.h>

#include "base/macros.h"

struct doorbell {
	uint32_t *shared; /* the page's first word; compared only, as applications may change it */
	uint32_t own;	  /* the private word */
	int fd;		  /* memfd of the page, sent to the applications */
};

/** Both words as read before the worker last checked its ring sets and commands. */
struct doorbell_seen {
	uint32_t shared;
	uint32_t own;
};

#define DOORBELL_FOREVER UINT64_MAX

/** @fd: page of an earlier consumer, which is owned from now on; -1: create one. */
int doorbell_init(struct doorbell *doorbell, int fd) MUST_CHECK;
void doorbell_fini(struct doorbell *doorbell);

/** Wake the worker for a command; called by the main thread. */
void doorbell_ring(struct doorbell *doorbell);
/** Wake the worker as a producer does, by the shared word. */
void doorbell_ring_shared(struct doorbell *doorbell);

/** Read both words, to be passed to doorbell_wait() later. */
struct doorbell_seen doorbell_snapshot(const struct doorbell *doorbell);
/** Sleep until a word differs from @seen, or until @until_ns (CLOCK_MONOTONIC). */
void doorbell_wait(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns);
/** The same, for the private word only: wake-ups by applications are ignored. */
void doorbell_wait_own(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns);

#endif
