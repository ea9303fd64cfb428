/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader.h - one ring as the consumer sees it. The producer's words may hold
 * anything: applications can scribble over them. Each reading is copied once,
 * compared with what the reader itself knows, and clamped; nothing in here
 * follows an offset or a length that was found in shared memory. Owned by a ring set,
 * used by the worker of its output.
 */
#ifndef CONSUMERD_RING_READER_H
#define CONSUMERD_RING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "ltt_ring.h"

/** `pub` of a ring that is made at @ts: nothing published, the epoch of now. */
static inline uint64_t reader_first_pub(uint64_t ts)
{
	return (ts >> LTT_TS_BITS) << LTT_PUB_EPOCH_SHIFT;
}

enum { LOST_FULL, LOST_SIZE, LOST_BUSY, LOST_KINDS };

/** Words as they lie in the ring: believed of nobody. */
struct ring_words {
	uint64_t pub;
	uint64_t last_ts;
	uint64_t count;
	uint64_t lost[LOST_KINDS];
};

/**
 * struct ring_reader
 * @pos: end of what is published, 64 bits; taken <= pos <= taken + size, always.
 * @taken: up to here the data is the consumer's no more.
 * @count, @last_ts, @lost: at @pos; they never go back.
 * @taken_count: @count at @taken.
 * @raw: the words behind them, to tell what is new.
 * @invalid_bytes, @invalid_count: dropped because a word made no sense; the
 *                  records among them that had been counted before.
 * @lies: words that made no sense.
 */
struct ring_reader {
	const struct ltt_ring_prod *prod;
	const uint8_t *data; /* mapped twice in a row */
	struct ltt_ring_cons *cons;
	uint64_t size;
	uint64_t subbuf_size;
	uint32_t max_record;
	uint32_t clock; /* enum ltt_clock_kind */

	uint64_t pos;
	uint64_t taken;
	uint64_t count;
	uint64_t taken_count;
	uint64_t last_ts;
	uint64_t lost[LOST_KINDS];
	struct ring_words raw;
	uint64_t looked_ns; /* CLOCK_MONOTONIC of the last reading */
	uint64_t invalid_bytes;
	uint64_t invalid_count;
	uint64_t invalid_words;
};

enum {
	READER_OK = 0,
	READER_TORN = 1, /* the words did not stand still; nothing was changed */
};

/** @start_ts: the clock when the ring was made. */
void reader_init(struct ring_reader *reader, const struct ltt_ring_desc *desc,
		 const struct ltt_ring_prod *prod, const uint8_t *data, struct ltt_ring_cons *cons,
		 uint64_t start_ts);

/**
 * reader_snapshot() - learn what is published now.
 * @last_chance: take a reading that did not stand still for what it is; no
 *               producer that keeps the rules makes us need this.
 * Return: READER_OK or READER_TORN.
 */
int reader_snapshot(struct ring_reader *reader, bool last_chance) MUST_CHECK;

/** Is anything published that the last look did not see? One load. */
bool reader_has_news(const struct ring_reader *reader);
/** Has the producer entered another sub-buffer since the last take? One load. */
bool reader_has_crossed(const struct ring_reader *reader);

/** Will it be full before long? One load. */
bool reader_is_half_full(const struct ring_reader *reader);

static inline uint64_t reader_pending(const struct ring_reader *reader)
{
	return reader->pos - reader->taken;
}

static inline uint64_t reader_pending_count(const struct ring_reader *reader)
{
	return reader->count - reader->taken_count;
}

/** The pending bytes, contiguous. */
static inline const uint8_t *reader_bytes(const struct ring_reader *reader)
{
	return reader->data + (reader->taken & (reader->size - 1));
}

/** Read a ring that is not new: what it has lost so far, it lost in an unknown time. */
void reader_adopt(struct ring_reader *reader);

/**
 * reader_continue() - go on in a ring that somebody emptied before.
 * @words: where and with which counters; `pub` is a position of 64 bits.
 */
void reader_continue(struct ring_reader *reader, const struct ring_words *words);
/** The same, where no reader wrote down its place: all that is there counts as taken. */
void reader_skip(struct ring_reader *reader);

/** Give the space up to @pos back to the producer. */
void reader_take(struct ring_reader *reader);

/** The same up to @pos, which has @count records before it: where it once ended. */
void reader_take_until(struct ring_reader *reader, uint64_t pos, uint64_t count);

/** May a counter of losses have grown by @delta within @elapsed_ns? */
bool reader_plausible_lost(uint64_t delta, uint64_t elapsed_ns);
/** Copy the words once. Return: whether they stood still. */
bool reader_copy_words(const struct ltt_ring_prod *prod, struct ring_words *ret);

#endif
