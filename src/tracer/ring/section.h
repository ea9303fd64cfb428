/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section.h - the restartable sequences that record events, for each architecture.
 *
 * Each architecture's file provides
 *
 *   SECTION_SUPPORTED      1 if it has sequences
 *   SECTION_SIG            signature with which rseq is registered
 *   section_thread_pointer()
 *   section_read_cycles()  reads the cycle counter; the fallback producer's clock
 *
 * and, for record.c only (SECTION_FUNCTIONS), three functions that differ in the source of the
 * clock and in the code that handles the result:
 *
 *   ring_record()     the cycle counter, read inside the sequence; no preparation; calls
 *                     record_unusual() unless the record is complete
 *   section_cycles()  the cycle counter; returns the result
 *   section_given()   the clock was read before; returns the result
 *
 * and, if SECTION_HAS_GIVEN, section_record_given(), which is ring_record() with such a clock;
 *
 * if SECTION_HAS_IMAGE, section_admitted(), and section_image(), section_image_cycles() and
 * section_image_given(), which put an image of contexts in front of the payload.
 *
 * The results are RES_* (set.h). The steps of a sequence, in order:
 *
 *   load binding, set, id; bound the CPU; compare the preparation; bound the payload; check the
 *   state;
 *   if the ring is full, count the loss (by another sequence), unless threads wait, and return;
 *   clock, never behind last_ts; store last_ts;
 *   header (compact, wide or extended) and payload;
 *   count[!parity]; region entry when the record's end is in another sub-buffer;
 *   store pub: this must be the LAST instruction of the sequence.
 *
 * If the thread is preempted, migrated or interrupted by a signal before that store,
 * the kernel continues it at the abort handler, which restarts the sequence, at most
 * SECTION_RESTARTS times. All data that is reached through the binding is loaded
 * inside the sequence: reader_synchronize() restarts all sequences that still use it.
 *
 * Counters (counter.h) have a sequence of their own: it finds this CPU's part and adds; the
 * addition is the commit. So has the count of events that are not sampled, in this CPU's ring, if
 * recording is on.
 *
 * Extended headers are used if the clock's epoch is not the one in `pub`, or
 * if so much time has passed that the 24 bits of the epoch could wrap around.
 *
 * A clock value before last_ts is recorded as last_ts, so that times in a stream never decrease:
 * another thread has read its clock later and recorded first, or the counter is wrong. In the first
 * case last_ts is a time within this call, too.
 *
 * Once the counter went back, the consumer sets LTT_RING_SHIFTED, with which all records leave the
 * usual way for one that adds clock_add to the counter. So it costs other sessions nothing.
 */
#ifndef TRACER_RING_SECTION_H
#define TRACER_RING_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include <ltt/site.h>

#include "context.h"
#include "hook.h"
#include "set.h"

#define SECTION_RESTARTS 64
#define SECTION_ALIAS_BITS 50	      /* a step of the clock below 2^50 can't alias */
#define SECTION_HINT_REACH 1073741824 /* hint_end is ahead by less than 2^31 */

/* Offsets of members as plain numbers for assembly, since gcc allows only thirty operands. */
#define O_SITE_ONLY 32
#define O_HOOK_BINDING 0
#define O_HOOK_COUNTER 16
#define O_COUNTER_WORDS 0
#define O_COUNTER_STRIDE 8
#define O_COUNTER_NR_CPUS 16
#define O_COUNTER_FIELD 20
#define O_BINDING_NR_CYCLES 0
#define O_BINDING_ID 4
#define O_BINDING_PAYLOAD_END 8
#define O_BINDING_STRIDE 16
#define O_BINDING_BASE 24
#define O_BINDING_DATA_MASK 32
#define O_BINDING_SET 40
#define O_BINDING_NR_GIVEN 52
#define O_BINDING_NR_WORDS 56
#define O_BINDING_PREPARATION 60
#define O_SET_LIMIT 0
#define O_SET_STEP_MASK 8
#define O_SET_DATA_MASK 16
#define O_SET_REGION_BACK 24
#define O_SET_SUBBUF_SHIFT 32
#define O_SET_ELSEWHERE 36
#define O_SET_MAX_PAYLOAD 48
#define O_SET_SUBBUF_MASK 104
#define O_SET_BLOCKING 128
#define O_IMAGE_KEY 0
#define O_IMAGE_SIZE 8
#define O_IMAGE_HAS_LATE 12
#define O_IMAGE_CPU_AT 16
#define O_IMAGE_IP_AT 20
#define O_IMAGE_BYTES 24
#define O_PROD_PUB 0
#define O_PROD_LAST_TS 8
#define O_PROD_COUNT 16
#define O_PROD_LOST_FULL 32
#define O_PROD_HINT_END 56
#define O_PROD_HINT_EPOCH 64
#define O_PROD_NOT_SAMPLED 72
#define O_PROD_REGION 128
#define O_CONS_CONSUMED -2048 /* from the producer block of the same ring */
#define O_CONS_STATE -2040
#define O_CONS_CLOCK_ADD -2000
#define O_CONS_ON 1
#define O_CONS_SHIFTED 4
#define O_CONS_RESULT 3 /* bits of the state that are in a result */

#define O_CHECK(number, type, member) _Static_assert(number == offsetof(type, member), #member)
#ifdef __LP64__ /* where there are sequences */
O_CHECK(O_SITE_ONLY, struct ltt_site, only);
O_CHECK(O_BINDING_NR_WORDS, struct binding, nr_words);
O_CHECK(O_BINDING_PREPARATION, struct binding, preparation);
O_CHECK(O_HOOK_BINDING, struct hook, binding);
O_CHECK(O_HOOK_COUNTER, struct hook, counter);
O_CHECK(O_COUNTER_WORDS, struct counter, words);
O_CHECK(O_COUNTER_STRIDE, struct counter, stride);
O_CHECK(O_COUNTER_NR_CPUS, struct counter, nr_cpus);
O_CHECK(O_COUNTER_FIELD, struct counter, field);
O_CHECK(O_BINDING_NR_CYCLES, struct binding, nr_cycles);
O_CHECK(O_BINDING_ID, struct binding, id);
O_CHECK(O_BINDING_PAYLOAD_END, struct binding, payload_end);
O_CHECK(O_BINDING_STRIDE, struct binding, stride);
O_CHECK(O_BINDING_BASE, struct binding, base);
O_CHECK(O_BINDING_DATA_MASK, struct binding, data_mask);
O_CHECK(O_BINDING_SET, struct binding, set);
O_CHECK(O_BINDING_NR_GIVEN, struct binding, nr_given);
O_CHECK(O_SET_LIMIT, struct ring_set, limit);
O_CHECK(O_SET_STEP_MASK, struct ring_set, step_mask);
O_CHECK(O_SET_SUBBUF_MASK, struct ring_set, subbuf_mask);
O_CHECK(O_SET_BLOCKING, struct ring_set, blocking_us);
O_CHECK(O_SET_DATA_MASK, struct ring_set, data_mask);
O_CHECK(O_SET_REGION_BACK, struct ring_set, region_back);
O_CHECK(O_SET_SUBBUF_SHIFT, struct ring_set, subbuf_shift);
O_CHECK(O_SET_ELSEWHERE, struct ring_set, elsewhere);
O_CHECK(O_SET_MAX_PAYLOAD, struct ring_set, max_payload);
#endif
O_CHECK(O_IMAGE_KEY, struct context_image, key);
O_CHECK(O_IMAGE_SIZE, struct context_image, size);
O_CHECK(O_IMAGE_HAS_LATE, struct context_image, has_late);
O_CHECK(O_IMAGE_CPU_AT, struct context_image, cpu_at);
O_CHECK(O_IMAGE_IP_AT, struct context_image, ip_at);
O_CHECK(O_IMAGE_BYTES, struct context_image, bytes);
_Static_assert(CONTEXT_IMAGE == 64, "the sequences copy up to four times 16 bytes");
O_CHECK(O_PROD_PUB, struct ltt_ring_prod, pub);
O_CHECK(O_PROD_LAST_TS, struct ltt_ring_prod, last_ts);
O_CHECK(O_PROD_COUNT, struct ltt_ring_prod, count);
O_CHECK(O_PROD_LOST_FULL, struct ltt_ring_prod, lost_full);
O_CHECK(O_PROD_HINT_END, struct ltt_ring_prod, hint_end);
O_CHECK(O_PROD_HINT_EPOCH, struct ltt_ring_prod, hint_epoch);
O_CHECK(O_PROD_NOT_SAMPLED, struct ltt_ring_prod, not_sampled);
O_CHECK(O_PROD_REGION, struct ltt_ring_prod, region);
O_CHECK(O_CONS_CONSUMED + 4096, struct ltt_ring_cons, consumed);
O_CHECK(O_CONS_STATE + 4096, struct ltt_ring_cons, state);
O_CHECK(O_CONS_CLOCK_ADD + 4096, struct ltt_ring_cons, clock_add);
_Static_assert(sizeof(struct ltt_ring_cons) == 4096, "one ring's consumer words");
_Static_assert(O_CONS_ON == LTT_RING_ON, "bit that the sequence tests");
_Static_assert(O_CONS_SHIFTED == LTT_RING_SHIFTED, "the same");
_Static_assert(O_CONS_RESULT == (LTT_RING_ON | LTT_RING_WAKE), "bits of the result");
_Static_assert(sizeof(struct ltt_ring_region) == 16, "the sequence shifts by 4");

#define N(number) N_(number)
#define N_(number) #number

/** @preparation: the preparation that was run (prepare.h); 0: none. */
uint32_t section_cycles(const struct hook *hook, const void *payload, size_t len,
			uint32_t preparation);
uint32_t section_given(const struct hook *hook, const void *payload, size_t len,
		       uint32_t preparation, uint64_t ts);
/** ring_record() with a clock that was read before, if the architecture has it
 *  (SECTION_HAS_GIVEN). */
void section_record_given(const struct hook *hook, const void *payload, size_t len, uint64_t ts);
/** section_cycles() for an event that a filter has admitted, without contexts; calls
 *  record_image_unusual() unless the record is complete. */
void section_admitted(const struct hook *hook, const void *payload, size_t len,
		      uint32_t preparation);
/** The same with the contexts of @image in front of the payload; @payload: its address less the
 *  size of the image, @len: with that size. If the image's key is not @key, as a signal handler may
 *  have changed it, the result is RES_ELSEWHERE alone. The first calls record_image_unusual()
 *  unless the record is complete; the others return the result. */
void section_image(const struct hook *hook, const void *payload, size_t len, uint32_t preparation,
		   const struct context_image *image, uint64_t key);
uint32_t section_image_cycles(const struct hook *hook, const void *payload, size_t len,
			      uint32_t preparation, const struct context_image *image,
			      uint64_t key, const void *ip);
uint32_t section_image_given(const struct hook *hook, const void *payload, size_t len,
			     uint32_t preparation, const struct context_image *image, uint64_t key,
			     const void *ip, uint64_t ts);
/** For counter.c (SECTION_ADD), if the architecture has it (SECTION_HAS_ADD): add to a word of the
 *  hook's counter, in this CPU's part, if it counts @field.
 *  Return: 0; 1: not possible, the word has not changed. */
uint32_t section_add(const struct hook *hook, uint64_t word, uint64_t value, uint32_t field);
/** For admit.c (SECTION_SKIP), if the architecture has it (SECTION_HAS_SKIP): count an event that
 *  is not sampled. Return: 0; 1: not possible, it was not counted. */
uint32_t section_skip(const struct hook *hook);
void record_unusual(const struct hook *hook, const void *payload, size_t len, uint32_t res);
void record_image_unusual(const struct hook *hook, const void *payload, size_t len, uint32_t res,
			  uint32_t preparation);

#if defined(__x86_64__) && !defined(__ILP32__)
#include "section_x86_64.h"
#elif defined(__aarch64__) && !defined(__ILP32__) && defined(__AARCH64EL__)
#include "section_aarch64.h"
#else
#include "section_none.h"
#endif

#endif
