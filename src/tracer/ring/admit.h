/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.h - filters that decide whether an event is recorded.
 *
 * A filter is one or several programs of abi/ltt_filter.h; it admits an event if one of them
 * accepts it. Where none does, but the sampling of one has left the event out, the event is counted
 * (ltt_ring.h: not_sampled). Equal filters have one number. The first ones, as long as they take
 * little memory, are never freed, so that a thread may run them without protection; further ones
 * run between reader_enter() and reader_exit(), which costs some 20 ns, and are freed when nothing
 * refers to them any more.
 *
 * All but admit_event(): helper thread only.
 */
#ifndef TRACER_RING_ADMIT_H
#define TRACER_RING_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fallback.h"
#include "filter/program.h"
#include "hook.h"
#include "prepare.h"

#define ADMIT_PERMANENT 4096u /* numbers of filters that are never freed */
#define ADMIT_TESTS 4u

/**
 * struct admit_test - a relation of an integer in the payload with a constant, as a range of the
 * values that the integer can have: it holds if the integer at @offset is at most @span more than
 * @first, modulo its width. @mask: the integer's own of the 64 bits there. @outside: the inverse.
 * The first bytes of a string are such an integer.
 */
struct admit_test {
	uint64_t first, span, mask;
	uint32_t offset;
	bool outside;
};

/** struct admit_tests - a filter that is nothing but relations which all have to hold, and
 *  (@samples) sampling behind them. @bytes: payloads of less have to be decided by the program. */
struct admit_tests {
	uint32_t nr, bytes;
	bool samples;
	struct admit_test test[ADMIT_TESTS];
};

/** By the number of a filter; NULL: it is another one, or has none. */
extern const struct admit_tests *admit_tests_of[ADMIT_PERMANENT];

/**
 * admit_filter() - the number of a filter, with one reference more; released by admit_unref().
 * @bytes: its programs, one behind the other, each with ltt_filter_padded() bytes; need not be
 *         aligned. @len: 0: no filter, number 0.
 * @contexts: names of the contexts that the programs use, in the order of their numbers,
 *            comma-separated.
 *
 * Return: false if a program is invalid, a context is unknown, or there is no memory.
 */
bool admit_filter(const void *bytes, size_t len, const char *contexts, uint32_t *ret_filter);
void admit_ref(uint32_t filter);
void admit_unref(uint32_t filter);

/** Filters without a reference, to be freed by admit_free() after a grace period
 *  (reader_synchronize()) that began after this call. */
struct admission *admit_retired(void);
/** The grace period had no end yet: they are admit_retired()'s again. NULL is allowed. */
void admit_retire(struct admission *all);
void admit_free(struct admission *retired);

/** Whether the filter of @preparation, read from @hook, admits an event. @len: of the payload,
 *  with the bytes that are not recorded. Any thread, any signal handler. */
bool admit_event(const struct hook *hook, uint32_t preparation, const void *payload, size_t len,
		 const void *ip);

enum admit_outcome {
	ADMIT_REJECTED,
	ADMIT_ADMITTED,
	ADMIT_UNDECIDED /* by admit_event() */
};

/** The same for most filters, without a call. @payload: LTT_PAYLOAD_SLACK bytes behind it are
 *  readable. */
static inline enum admit_outcome admit_at_once(uint32_t preparation, const void *payload,
					       size_t len)
{
	uint32_t filter = preparation_filter(preparation);
	const struct admit_tests *tests;

	if (!filter)
		return ADMIT_ADMITTED;
	if (filter >= ADMIT_PERMANENT)
		return ADMIT_UNDECIDED;
	tests = admit_tests_of[filter];
	if (!tests || len < tests->bytes)
		return ADMIT_UNDECIDED;
	for (uint32_t i = 0; i < tests->nr; i++) {
		const struct admit_test *test = &tests->test[i];
		uint64_t value;

		memcpy(&value, (const char *)payload + test->offset, sizeof(value));
		if ((((value - test->first) & test->mask) <= test->span) == test->outside)
			return ADMIT_REJECTED;
	}
	return tests->samples ? ADMIT_UNDECIDED : ADMIT_ADMITTED;
}

/** struct admit_sample - sampling that follows tests that have held, or none. @bytes: of the
 *  tests. */
struct admit_sample {
	struct ltt_filter_sampling at;
	uint32_t bytes;
};

/** By the number of a filter; NULL: it is no such filter. */
extern const struct admit_sample *admit_sample_of[ADMIT_PERMANENT];
extern __thread struct ltt_filter_samplers admit_samplers
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Of --first, and of --rate until a time. */
static inline bool admit_is_closed(const struct hook *hook, uint32_t preparation,
				   const struct ltt_filter_sampling *sample)
{
	uint64_t closed;

	if (__atomic_load_n(&hook->closed_for, __ATOMIC_ACQUIRE) != preparation)
		return false;
	closed = __atomic_load_n(&hook->closed, __ATOMIC_RELAXED);
	return closed == UINT64_MAX ||
	       (closed && sample->op == LTT_FILTER_RATE && ring_clock_read(sample->clock) < closed);
}

/* Of --by an integer. */
static inline bool admit_skips_value(const struct ltt_filter_sampling *sample, const void *payload,
				     size_t len)
{
	uint64_t value;

	if (len < sample->offset + (64u - sample->bits) / 8)
		return false;
	memcpy(&value, (const char *)payload + sample->offset, sizeof(value));
	value <<= sample->bits;
	value = sample->has_sign ? (uint64_t)((int64_t)value >> sample->bits) :
				   value >> sample->bits;
	return ltt_filter_mix(value) > sample->most;
}

/** Skip an event that sampling leaves out and that admit_at_once() did not reject, without a call
 *  but for the clock. @payload: as there. Return: false: it is not decided. */
static inline bool admit_skips(const struct hook *hook, uint32_t preparation, const void *payload,
			       size_t len)
{
	uint32_t filter = preparation_filter(preparation);
	const struct admit_sample *found =
		filter < ADMIT_PERMANENT ? admit_sample_of[filter] : NULL;
	const struct ltt_filter_sampling *sample = found ? &found->at : NULL;

	if (!sample || len < found->bytes)
		return false;
	if (sample->op == LTT_FILTER_SAMPLE_BY)
		return admit_skips_value(sample, payload, len);
	if (sample->op != LTT_FILTER_SAMPLE)
		return admit_is_closed(hook, preparation, sample);
	return ltt_filter_sampler_skips(&admit_samplers.of[sample->slot], sample->tag);
}

/** In the child after fork: its thread does not sample as its parent's thread does. */
void admit_after_fork_child(void);

#endif
