/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rseq.h - this process's use of restartable sequences.
 *
 * One word, ring_rseq_area, says where a thread's rseq area is, relative to the
 * thread pointer: libc's where it registered one, else a thread-local one of
 * our own, which each thread registers at its first record. It always points
 * to an area, if perhaps one that the kernel does not know: its cpu_id is then
 * out of range and no sequence writes anything.
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
 * ring_rseq_lend() - the calling thread's area is about to serve a child that has the
 * thread's memory and thread pointer (vfork), while the thread itself is suspended.
 *
 * The kernel keeps a registration per task: it would neither store the child's CPU there
 * nor restart the child's sequences. The thread's registration ends, the area names no
 * CPU, and the child registers it for itself at its first record. Signals are blocked.
 * Return: what ring_rseq_take_back() needs; kept in a register, as the child writes to
 * the memory.
 */
uint64_t ring_rseq_lend(void);
/** The child has ended or left the memory: the area is the calling thread's again. */
void ring_rseq_take_back(uint64_t lent);

/**
 * ring_stop_sequences() - what is bound from now on can't be recorded to by sequences
 * (ring_binding()): a task is about to run whose area can't be known to be its own.
 * The daemon sends exclusive sets, as after ring_give_up_rseq().
 */
void ring_stop_sequences(void);
int ring_sequences_stopped(void);

/** Register with membarrier(2) to wait for sequences: cheap while the process has one thread;
 *  with more it costs milliseconds. A forked child inherits it. */
void ring_register_waits(void);

/** The CPU that the kernel stored last for this thread; out of range if it never did. */
uint32_t ring_rseq_cpu(void);

/** Stop relying on sequences: the helper thread sees it in ring_producer() and
 *  the daemon sends exclusive sets. Shared sets are recorded to until then. */
void ring_give_up_rseq(void);
/** @call: is called then; async-signal safe. Set once, before ring_init(). */
void ring_call_when_given_up(void (*call)(void));

#endif
