/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fallback.h - the producer without restartable sequences.
 *
 * It writes exclusive sets only: rings of this process alone, each with one
 * writer at a time behind a try-lock that is private to the process. A writer that finds a ring
 * locked tries the next one, so a signal handler never waits for the thread that it interrupted. A
 * ring that was locked by an event of this thread that will never end, since a signal handler has
 * left it by siglongjmp(), is taken over; its record is counted as lost unless it was published. So
 * is that of a cancelled thread, by a later one with its memory.
 * Runs in any thread, between reader_enter() and reader_exit().
 */
#ifndef TRACER_RING_FALLBACK_H
#define TRACER_RING_FALLBACK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "hook.h"
#include "set.h"

/** Return: RES_* as a sequence returns it (set.h); RES_ELSEWHERE if no ring was free. */
uint32_t ring_fallback_record(const struct binding *binding, const void *payload, size_t len,
			      uint32_t preparation);

/** The mark of this thread in the frame of a function, for a lock; its bit 0 is 0. 0: none. */
uint64_t ring_mark(const void *frame);
/** The same for all marks of a thread. */
uint32_t ring_mark_hash(uint64_t mark);
bool ring_mark_is_same_thread(uint64_t a, uint64_t b);
/** Whether the frame of @owner has ended, as far as this thread, in the frame of @mark, knows. */
bool ring_mark_has_ended(uint64_t owner, uint64_t mark);

/** Whether the thread is in a handler on an alternate stack, or that can't be known. */
int ring_is_on_other_stack(void);
/** It can't be known from now on. */
void ring_stacks_hidden(void);

/** Offset of this process's CLOCK_MONOTONIC from the machine's. */
extern uint64_t ring_clock_ahead_ns __attribute__((visibility("hidden")));

/** The machine's CLOCK_MONOTONIC in ns, inlined into the path of an event. */
static inline uint64_t ring_clock_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
	       __atomic_load_n(&ring_clock_ahead_ns, __ATOMIC_RELAXED);
}

/** The set's clock, read now. */
uint64_t ring_clock_read(uint32_t clock);
/** Find the time namespace of this process, if it is not known. As this takes 25 us of a program's
 *  start, it is done when a daemon is there, or before the program forbids it. Allocates nothing,
 *  preserves errno. */
void ring_clock_find_namespace(void);
/** The process may be in another one: a child of fork() in one that its parent has created. Nothing
 *  if it was not known. */
void ring_clock_find_namespace_again(void);

#endif
