/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.h - verifies and runs the programs of abi/ltt_filter.h.
 *
 * Used by libltt, by ltt.ko and by the session daemon. All state is in the caller's struct
 * ltt_filter_state; nothing is allocated, and only memchr(), memcmp() and memcpy() are called: any
 * thread, signal handler or interrupt may run a program.
 */
#ifndef FILTER_PROGRAM_H
#define FILTER_PROGRAM_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#include "ltt_filter.h"

enum ltt_filter_kind {
	LTT_FILTER_ABSENT = 0, /* the event is rejected if the value is needed */
	LTT_FILTER_INTEGER = 1,
	LTT_FILTER_NUMBER = 2, /* a double; user space only */
	LTT_FILTER_TEXT = 3
};

/** struct ltt_filter_value - a context's value. @length: bytes of @text, a NUL not included. */
struct ltt_filter_value {
	uint32_t kind; /* enum ltt_filter_kind */
	uint32_t length;
	union {
		int64_t integer;
#ifndef __KERNEL__
		double number;
#endif
		const char *text;
	};
};

/**
 * ltt_filter_verify() - check a program of unknown origin.
 * @bytes: a private copy that its sender cannot change; aligned to 8 bytes.
 * @length: bytes of the program; it is invalid if its header states another length.
 *
 * Return: the program, valid as long as @bytes; NULL: it is invalid.
 */
const struct ltt_filter *ltt_filter_verify(const void *bytes, size_t length);

/** Bytes of a program according to its header; it need not be verified. */
static inline size_t ltt_filter_bytes(const struct ltt_filter *program)
{
	return sizeof(*program) + program->head.nr_insns * sizeof(program->insns[0]) +
	       program->head.text_bytes;
}

/** Bytes of a program, padded so that another one may follow it. */
static inline size_t ltt_filter_padded(const struct ltt_filter *program)
{
	return (ltt_filter_bytes(program) + 7) / 8 * 8;
}

/**
 * struct ltt_filter_sampler - state of one instruction LTT_FILTER_SAMPLE, which accepts one of each
 * N events, at a random position.
 * @tag: identifies the instruction that uses the sampler.
 * @left: number of events that remain of the current N.
 * @take: the event is accepted that leaves this number.
 */
struct ltt_filter_sampler {
	uint32_t tag;
	uint32_t left;
	uint32_t take;
};

/** Whether an event is one of those that LTT_FILTER_SAMPLE skips, and count it; nearly all of them
 *  are found by this alone. @tag: of the instruction. */
static inline bool ltt_filter_sampler_skips(struct ltt_filter_sampler *sampler, uint32_t tag)
{
	uint32_t left = __atomic_load_n(&sampler->left, __ATOMIC_RELAXED);

	if (sampler->tag != tag || !left || left == sampler->take)
		return false;
	__atomic_store_n(&sampler->left, left - 1, __ATOMIC_RELAXED);
	return true;
}

/** struct ltt_filter_samplers - the samplers of one thread or CPU, initially zero.
 *  @random: state of the random number generator. */
struct ltt_filter_samplers {
	uint64_t random;
	struct ltt_filter_sampler of[LTT_FILTER_SAMPLERS];
};

/**
 * struct ltt_filter_state - the state of instructions that sample; owned by the caller.
 * @samplers: used by this thread or CPU only. A signal handler or interrupt that uses them
 *            meanwhile may change the decision that it interrupts; each decision is valid.
 * @words: returns LTT_FILTER_WORDS words that all processes of a ring set share; NULL: they are not
 *         available, and the event is accepted.
 * @now: returns the time of a clock (enum ltt_clock_kind).
 * @closed: events before this time are skipped without reading the words; 0: unknown; UINT64_MAX:
 *          all events are skipped. Set by a run, and valid for later runs of the same program with
 *          the same words.
 */
struct ltt_filter_state {
	struct ltt_filter_samplers *samplers;
	uint64_t *(*words)(struct ltt_filter_state *state);
	uint64_t (*now)(uint32_t clock);
	uint64_t closed;
};

enum ltt_filter_verdict {
	LTT_FILTER_REJECTED = 0,
	LTT_FILTER_ACCEPTED = 1,
	LTT_FILTER_SKIPPED = 2 /* the filter holds, but sampling leaves the event out */
};

/**
 * ltt_filter_decide() - decide on one event.
 * @program: returned by ltt_filter_verify().
 * @payload: the event's fields as struct ltt_event describes them, byte-packed, NOWRITE fields
 *           at the end; @length bytes in total. No byte after them is read.
 * @contexts: @program->head.nr_contexts values; may be NULL if that is 0.
 * @state: NULL: nothing is skipped.
 *
 * Never fails.
 */
enum ltt_filter_verdict ltt_filter_decide(const struct ltt_filter *program, const void *payload,
					  size_t length, const struct ltt_filter_value *contexts,
					  struct ltt_filter_state *state);

/** Decide on one event by a program that does not sample. Return: whether the event is accepted. */
bool ltt_filter_run(const struct ltt_filter *program, const void *payload, size_t length,
		    const struct ltt_filter_value *contexts);

/** Whether a program has instructions that skip events. */
bool ltt_filter_samples(const struct ltt_filter *program);

/**
 * struct ltt_filter_sampling - an instruction that samples, or two.
 * @op: LTT_FILTER_SAMPLE, with @tag and @slot of its sampler; LTT_FILTER_SAMPLE_BY, of the integer
 *      at @offset, with @bits of 64 that it does not have, where a hash of more than @most is
 *      skipped; LTT_FILTER_RATE, of @clock; LTT_FILTER_FIRST.
 */
struct ltt_filter_sampling {
	uint8_t op, bits, clock;
	bool has_sign;
	uint32_t tag, slot, offset;
	uint64_t most;
};

/** Return: whether a verified program samples at @in. */
bool ltt_filter_samples_at(const struct ltt_filter_insn *in, struct ltt_filter_sampling *ret);

/** The hash of an integer: the finalizer of MurmurHash3, where each bit of the result depends on
 *  each of the value. */
static inline uint64_t ltt_filter_mix(uint64_t value)
{
	value = (value ^ value >> 33) * 0xff51afd7ed558ccdull;
	value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ull;
	return value ^ value >> 33;
}

/** Compute as the instruction LTT_FILTER_COMPUTE does; used by the compiler for constants. With
 *  LTT_FILTER_FLOAT in @operation, operands and result are the bits of doubles. Return: false if
 *  there is no result: division by zero, or a shift count outside 0 to 63. */
bool ltt_filter_compute(uint64_t left, uint8_t operation, uint64_t right, uint64_t *ret_value);

#endif
