/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doorbell.h - what a worker sleeps on: two words at once. One lies in a page
 * that the applications of the session map and ring (word + 1, then a futex
 * wake); the other is our own, for commands. An application can ring too often
 * or spoil the word, so that an application's ring is missed; it can never make
 * us miss a command.
 */
#ifndef CONSUMERD_DOORBELL_H
#define CONSUMERD_DOORBELL_H

#include <stdint.h>

#include "base/macros.h"

struct doorbell {
	uint32_t *shared; /* the page's first word; never believed, only compared */
	uint32_t own;
	int fd; /* of the page, for the applications */
};

/** Both words as they were before the last look at rings and commands. */
struct doorbell_seen {
	uint32_t shared;
	uint32_t own;
};

#define DOORBELL_FOREVER UINT64_MAX

/** @fd: page of an earlier consumer, taken over; -1: make one. */
int doorbell_init(struct doorbell *doorbell, int fd) MUST_CHECK;
void doorbell_fini(struct doorbell *doorbell);

/** Ring from the main thread. */
void doorbell_ring(struct doorbell *doorbell);
/** The same in a producer's place. */
void doorbell_ring_shared(struct doorbell *doorbell);

struct doorbell_seen doorbell_snapshot(const struct doorbell *doorbell);
/** Sleep until a word is no longer as seen, or @until_ns (CLOCK_MONOTONIC). */
void doorbell_wait(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns);
/** The same, deaf to applications. */
void doorbell_wait_own(struct doorbell *doorbell, struct doorbell_seen seen, uint64_t until_ns);

#endif
