/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring.h - the producer's side of a ring set (see abi/ltt_ring.h).
 *
 * A ring set is mapped by the helper thread and recorded to from any thread
 * and any signal handler. Nothing here allocates or locks while an event is recorded; errno is
 * preserved.
 */
#ifndef TRACER_RING_RING_H
#define TRACER_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook.h"

/** The producer of this process: selected once by ring_init(). */
enum ring_producer {
	RING_RSEQ,     /* one restartable sequence per record, per-CPU exclusion */
	RING_FALLBACK, /* private rings, one writer at a time */
};

/**
 * ring_init() - select the producer by the features of the machine (rseq, membarrier, clock).
 * Registers rseq for the calling thread if libc has not. Idempotent. LTT_NO_RSEQ=1 in the
 * environment selects the fallback.
 */
enum ring_producer ring_init(void);

/** The producer that ring_init() selected; RING_FALLBACK after ring_give_up_rseq(). */
enum ring_producer ring_producer(void);

/**
 * ring_set_map() - map a ring set.
 * @data_fd, @ctl_fd: the two memfds; not needed after the call.
 * @doorbell: futex word that the consumer sleeps on; outlives the set.
 * @exclusive: the set belongs to this process only and is written by the
 *             fallback producer. A set that is not exclusive is never written
 *             by the fallback producer: such records are counted as lost_busy.
 *
 * Checks all numbers of struct ltt_ring_desc against the sizes of the memfds.
 * Return: 0 or a negative errno; the mappings count only against the limits of the process.
 */
int ring_set_map(int data_fd, int ctl_fd, uint32_t *doorbell, int exclusive,
		 struct ring_set **ret_set);

/** Replace the doorbell that the consumer sleeps on. A thread that has read the old one may still
 *  write to it; reader_synchronize() waits for such threads. */
void ring_set_doorbell(struct ring_set *set, uint32_t *doorbell);
/** No thread waits for space in the set after @end_ns of CLOCK_MONOTONIC; 0: no limit (wait.h). */
void ring_set_wait_until(struct ring_set *set, uint64_t end_ns);
/** Wake the consumer of the set unconditionally. */
void ring_set_ring(const struct ring_set *set);

/**
 * ring_set_switch() - have the consumer end the packets of a ring set that have new events.
 * @all: those of all rings; else that of this CPU's.
 * Between reader_enter() and reader_exit(). Async-signal safe. Return: whether there are any.
 */
bool ring_set_switch(const struct ring_set *set, bool all);

/** struct ring_facts - of a ring set, for the program. @on: the consumer has switched it on. */
struct ring_facts {
	uint32_t nr_rings;
	uint32_t num_subbuf;
	uint64_t subbuf_size;
	bool overwrite;
	bool on;
};

/** Return: false: this process does not record into the set, which is its parent's. */
bool ring_set_facts(const struct ring_set *set, struct ring_facts *ret);

/** ring_set_unmap() - unmap a set, after reader_synchronize(). NULL is allowed. The address
 *  space is kept for the next set (place.h has the reason). */
void ring_set_unmap(struct ring_set *set);

/** Stop recording into a set, in a forked child: the set belongs to the parent. Events are counted
 *  as lost_busy. Bindings of a set that is not exclusive have to be stopped, too, by
 *  site_stop_set(). */
void ring_set_disown(struct ring_set *set);

/** Make a binding, the target of hook->binding; constant, may be copied. */
struct binding ring_binding(struct ring_set *set, uint32_t id, uint32_t session);
/** The same, with a preparation before each record (prepare.h), or 0. */
struct binding ring_binding_prepared(struct ring_set *set, uint32_t id, uint32_t session,
				     uint32_t preparation);
/** Disable @binding for all sequences that begin from now on. */
static inline void ring_binding_stop(struct binding *binding)
{
	__atomic_store_n(&binding->nr_cycles, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&binding->nr_given, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&binding->nr_words, 0, __ATOMIC_RELAXED);
}

/**
 * ring_record() - write a record into the ring of this CPU.
 * @hook: its binding names set and id; loaded inside the sequence, may be cleared at any time.
 * @payload: @len bytes, readable for LTT_PAYLOAD_SLACK bytes more. Rejected records are counted
 * in the ring.
 */
void ring_record(const struct hook *hook, const void *payload, size_t len);

/**
 * ring_record_prepared() - the same, if a filter accepts the event, with the values of contexts
 * before the payload.
 * @preparation: value that was read from hook->preparation; the binding may have a newer one, which
 *               is used.
 * @extra: bytes after the payload that are not recorded; for the filter.
 * @ip: address of the call site, for the context of this name; NULL: unknown.
 */
void ring_record_prepared(const struct hook *hook, uint32_t preparation, const void *payload,
			  size_t len, size_t extra, const void *ip);

/** ring_record_image() - the same with a preparation without a filter, of whose contexts the thread
 *  has an image (context_has_image()). */
void ring_record_image(const struct hook *hook, uint32_t preparation, const void *payload,
		       size_t len);

extern bool ring_clock_is_given __attribute__((visibility("hidden")));
/** Whether the set that was mapped last has a clock that is read before the sequence: a hint. */
static inline bool ring_is_clock_given(void)
{
	return __atomic_load_n(&ring_clock_is_given, __ATOMIC_RELAXED);
}

/** ring_record_given() and ring_record_image_given() - ring_record() and ring_record_image() for
 *  hooks with PREPARATION_GIVEN. */
void ring_record_given(const struct hook *hook, const void *payload, size_t len);
void ring_record_image_given(const struct hook *hook, uint32_t preparation, const void *payload,
			     size_t len);

/** Count a loss that happened before there was a payload (ltt_stage()). */
void ring_lose_oversize(const struct hook *hook);

/** Count an event that a rule's sampling left out, where section_skip() can't. */
void ring_count_not_sampled(const struct hook *hook);

/** The session of a hook's binding, read safely; 0: the hook has no binding. */
uint32_t ring_hook_session(const struct hook *hook);

/** Largest payload of a record in the set, in bytes. */
size_t ring_set_max_payload(const struct ring_set *set);

/* --- readers (probes, fallback) and their grace period -------------------- */

/** Return: a token for reader_exit(). Async-signal safe; may nest. If a thread leaves by
 *  longjmp() or ends in between, reader_synchronize() in other threads never returns. */
unsigned int reader_enter(void);
/** The same for a function that calls none of the program and exits itself. @frame: its
 *  __builtin_frame_address(0). If it is left by siglongjmp(), the thread's next call here finds
 *  that out, mostly: reader_synchronize() returns then. */
unsigned int reader_enter_in(const void *frame);
void reader_exit(unsigned int token);
/** The same for a function that calls code of the program, which may enter again and may leave by
 *  longjmp(): the thread's next call here, from a frame that is not below @frame, finds that
 *  out. */
unsigned int reader_enter_calling(const void *frame);
void reader_exit_calling(unsigned int token);

/**
 * reader_synchronize() - wait until no thread uses a hook that was removed before.
 * Never call it from a signal handler, a probe, or between enter and exit.
 */
void reader_synchronize(void);
/** The same before code is unloaded: a thread that does not leave within 10 s is not waited for,
 *  nor by later calls. */
void reader_synchronize_code(void);
/** reader_synchronize() for at most 0.4 s, and hardly at all if the last such call was in vain.
 *  Also in a probe. Return: false: a thread may still use the hook; to be called again later. */
bool reader_synchronize_soon(void);

/** Whether a thread waits for readers, and the calling thread is one of them. Async-signal safe. */
bool reader_is_awaited_here(void);

/** In a forked child: reset the counts of readers in the parent's other threads. @may_call: seccomp
 *  filters allow system calls. */
void reader_after_fork_child(bool may_call);

/** ring_mark_process() - recognize children that no hook reports, as clone() made them directly.
 *  Not in two threads at once.
 *  Return: a byte that is 1 in this process, and 0 in children with memory of their own until they
 *  call this; NULL: before Linux 4.14, or for lack of memory. */
const uint8_t *ring_mark_process(void);

#endif
