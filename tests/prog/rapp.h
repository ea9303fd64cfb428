/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rapp.h - the file of counters and the bytes that an event must have, for the load generator
 * (rapp) and its checker (rapp_check).
 *
 * The counter file outlives a SIGKILL: a call of the tracepoint is `begun` before
 * it and `returned` after it, so begun - returned is 1 for a call in flight.
 */
#ifndef TESTS_RAPP_H
#define TESTS_RAPP_H

#include <stdint.h>

#define RAPP_MAGIC 0x31504152u /* "RAP1" */

struct rapp_slot {
	uint64_t begun;
	uint64_t returned;
	uint32_t thread; /* number that is in the slot's events; unique */
	uint32_t used;
	uint64_t pad[5];
};

struct rapp_file {
	uint32_t magic;
	uint32_t nr_slots;
	uint32_t pid;
	uint32_t running; /* 1 once every thread has begun */
	uint64_t pad[6];
	struct rapp_slot slot[];
};

static inline uint64_t rapp_mix(uint32_t thread, uint64_t seq)
{
	uint64_t x = seq * 0x9e3779b97f4a7c15ull + thread * 0xbf58476d1ce4e5b9ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* Length, bytes and checksum of event @seq of @thread. */
static inline uint16_t rapp_length(uint64_t mix, uint32_t most)
{
	return (uint16_t)(most ? mix % (most + 1) : 0);
}

static inline uint8_t rapp_byte(uint64_t mix, unsigned int i)
{
	return (uint8_t)((mix >> (i % 8 * 8)) + i);
}

static inline uint32_t rapp_sum(uint64_t mix, uint16_t length)
{
	return (uint32_t)(mix >> 32) ^ length;
}

#endif
