/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rseq.h - this process's use of restartable sequences.
 *
 * One word, ring_rseq_area, is the offset of a thread's rseq area, relative to the
 * thread pointer: libc's area, if it registered one; else a thread-local area of
 * libltt, which each thread registers at its first record. In a thread that has not
 * registered it, the area's cpu_id is out of range, so that no sequence writes.
 */
#ifndef TRACER_RING_RSEQ_H
#define TRACER_RING_RSEQ_H

#include <stddef.h>
#include <stdint.h>

#include "ring.h"

extern ptrdiff_t ring_rseq_area;

/** Whether any thread of this process may ever have run a sequence. */
int ring_rseq_used(void);

/** Register the calling thread. Return: 1 if it may run sequences, else 0. */
int ring_rseq_adopt_thread(void);

/**
 * ring_rseq_lend() - transfer the calling thread's area to a child that will have the thread's
 * memory and thread pointer (vfork), while the thread is suspended.
 *
 * The kernel has a registration for each task: it would neither store the child's CPU in the area
 * nor restart the child's sequences. So the thread's registration ends, cpu_id is set out of range,
 * and the child registers the area at its first record. Signals are blocked.
 * Return: the argument of ring_rseq_take_back(); kept in a register, as the child writes to the
 * memory.
 */
uint64_t ring_rseq_lend(void);
/** Return the area to the calling thread, when the child has ended or called exec. */
void ring_rseq_take_back(uint64_t lent);

/**
 * ring_stop_sequences() - disable sequences for bindings made from now on (ring_binding()), before
 * a task runs that may share the area of another task. The daemon sends exclusive sets, as after
 * ring_give_up_rseq().
 */
void ring_stop_sequences(void);
int ring_sequences_stopped(void);

/** Register the process with membarrier(2), by which reader_synchronize() restarts sequences: cheap
 *  while the process has one thread; with more it costs milliseconds. A forked child inherits the
 *  registration. */
void ring_register_membarrier(void);

/** The CPU that the kernel stored last for this thread; out of range if it never did. */
uint32_t ring_rseq_cpu(void);

/** Replace sequences by the fallback producer: the helper thread reads this from ring_producer(),
 *  and the daemon sends exclusive sets. Until then, events are recorded into shared sets. */
void ring_give_up_rseq(void);
/** Set the function that ring_give_up_rseq() calls; async-signal safe. Once, before ring_init(). */
void ring_on_rseq_given_up(void (*call)(void));

#endif
