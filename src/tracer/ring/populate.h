/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * populate.h - pages of a ring are mapped ahead of the records.
 *
 * The first store to a page of a ring is a page fault, which costs as much as a hundred events. The
 * thread that records has few of them: when it enters another step of a ring and little is
 * populated ahead, it wakes the helper thread, which populates the next pages. How much it does at
 * once grows with the amount that the process has written, so that a process of few events
 * populates nothing. Where the kernel or a filter of system calls refuses it, and where the helper
 * is late, the first store to a page populates it.
 */
#ifndef TRACER_RING_POPULATE_H
#define TRACER_RING_POPULATE_H

#include <stdbool.h>
#include <stdint.h>

struct ring_set;
struct populating;

#define POPULATE_ADVICE 23	  /* MADV_POPULATE_WRITE, since Linux 5.14 */
#define POPULATE_STEP (64u << 10) /* bytes; sub-buffers that are smaller are steps */

/** The state of @nr rings of a set; NULL: no memory. */
struct populating *populating_new(uint32_t nr);
/** NULL is allowed. */
void populating_free(struct populating *populating, uint32_t nr);

/** Set the function that wakes the helper; async-signal safe, keeps errno. Once. */
void populate_on_request(void (*wake)(void));

/** A record has entered another step: wake the helper if it is needed. Between reader_enter() and
 *  reader_exit(). */
void populate_request(const struct ring_set *set, uint32_t ring);

/** Whether there are requests since the last call. Helper thread only, as the next. */
bool populate_is_requested(void);
/** Populate the rings of @set for which there is a request. */
void populate_set(const struct ring_set *set);

/** In the child of a fork: pages of shared memory are not populated there. */
void populate_after_fork_child(const struct ring_set *set);

#endif
