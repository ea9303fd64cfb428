/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prepare.h - the steps before a record: a filter decides about the event (admit.h), and contexts
 * are put in front of its payload (context.h).
 *
 * Both are encoded in one number, 0 for neither. Each binding has it, and each sequence compares it
 * with the number for which the record was prepared: so a record is always prepared as its binding
 * demands, also while a binding is replaced.
 */
#ifndef TRACER_RING_PREPARE_H
#define TRACER_RING_PREPARE_H

#include <stdint.h>

#define PREPARATION_CONTEXT_BITS 8
#define PREPARATION_CONTEXT_SETS (1u << PREPARATION_CONTEXT_BITS)
#define PREPARATION_FILTERS (1u << (31 - PREPARATION_CONTEXT_BITS))

/** In a hook's number only: records of its binding have a clock that is read before the sequence. A
 *  hint, which saves the attempt that finds it out. */
#define PREPARATION_GIVEN (1u << 31)

/** @filter: admit_filter(), or 0. @contexts: context_set(), or 0. */
static inline uint32_t preparation(uint32_t filter, uint32_t contexts)
{
	return filter << PREPARATION_CONTEXT_BITS | contexts;
}

static inline uint32_t preparation_contexts(uint32_t number)
{
	return number % PREPARATION_CONTEXT_SETS;
}

static inline uint32_t preparation_filter(uint32_t number)
{
	return number >> PREPARATION_CONTEXT_BITS;
}

#endif
