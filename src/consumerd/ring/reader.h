/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader.h - reads one ring, for the consumer. The producer's words may have any value, as
 * applications can overwrite them. Each word is copied once, compared with the reader's own state,
 * and limited; no offset or length from shared memory is used without a check. Owned by a ring set,
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

/** Words as they are in the ring: untrusted. */
struct ring_words {
	uint64_t pub;
	uint64_t last_ts;
	uint64_t count;
	uint64_t lost[LOST_KINDS];
};

/**
 * struct reader_reclaim - memory of a ring's data that is given back, see reclaim.h. Owned by the
 * ring set.
 * @fd: file of the data, which begins there at @base; -1: all memory stays. @page: its pages.
 * @at_release: the pages of records are removed before these are released.
 * @passed_ns: for each sub-buffer: CLOCK_MONOTONIC when its last records were released; NULL: the
 *             memory of free ones stays.
 * @done: position up to which free sub-buffers have no memory.
 */
struct reader_reclaim {
	int fd;
	uint64_t base;
	uint32_t page;
	bool at_release;
	uint64_t *passed_ns;
	uint64_t done;
};

/**
 * struct ring_reader
 * @pos: end of the published records, 64 bits; released <= pos <= released + size, always, but of a
 *       ring that is overwritten: ring_copy_pending() skips those that it does not have any more.
 * @released: end of the space that was returned to the producer.
 * @count, @last_ts, @lost: at @pos; they never go back.
 * @released_count: @count at @released.
 * @not_sampled: events that sampling left out; @raw_not_sampled: their number in the ring.
 * @raw: the ring words of the last snapshot, to detect a change.
 * @invalid_bytes, @invalid_count: data dropped because a ring word was impossible; @invalid_count:
 *                  the records among it that had been counted before.
 * @invalid_words: number of ring words with an impossible value; @backward_words: those of them
 *                  that a clock that goes back causes, too.
 * @overwrite: the producer overwrites the oldest records.
 * @overwritten, @skipped: records that it overwrote before they were released, and their bytes:
 *                         part of @released_count and @released.
 * @kept: only snapshots take from the ring, as always with @overwrite: no data is ever pending, and
 *        @pos has only the bits of a position in the ring's words.
 */
struct ring_reader {
	const struct ltt_ring_prod *prod;
	const uint8_t *data; /* mapped twice in a row */
	struct ltt_ring_cons *cons;
	uint64_t size;
	uint64_t subbuf_size;
	uint32_t max_record;
	uint32_t clock; /* enum ltt_clock_kind */
	bool overwrite, kept;
	struct reader_reclaim reclaim;

	uint64_t pos;
	uint64_t released;
	uint64_t count;
	uint64_t released_count;
	uint64_t overwritten, skipped;
	uint64_t last_ts;
	uint64_t lost[LOST_KINDS];
	uint64_t not_sampled, raw_not_sampled;
	struct ring_words raw;
	uint64_t snapshot_ns; /* CLOCK_MONOTONIC before the words of the last snapshot */
	uint64_t switches;    /* of struct ltt_ring_prod, at that time */
	uint64_t invalid_bytes;
	uint64_t invalid_count;
	uint64_t invalid_words;
	uint64_t backward_words;
};

enum {
	READER_OK = 0,
	READER_TORN = 1, /* the words changed while they were copied; the reader is unchanged */
};

/** @start_ts: the clock when the ring was made. */
void reader_init(struct ring_reader *reader, const struct ltt_ring_desc *desc,
		 const struct ltt_ring_prod *prod, const uint8_t *data, struct ltt_ring_cons *cons,
		 uint64_t start_ts);

/**
 * reader_snapshot() - read the current position and counters of the producer.
 * @last_chance: accept an inconsistent copy of the words. A correct producer never
 *               causes one repeatedly.
 * Return: READER_OK or READER_TORN.
 */
int reader_snapshot(struct ring_reader *reader, bool last_chance) MUST_CHECK;

/** Whether data was published since the last snapshot. One load. */
bool reader_has_data(const struct ring_reader *reader);
/** Whether the producer has entered another sub-buffer since the last release, or has requested
 *  the end of the packet. */
bool reader_has_crossed(const struct ring_reader *reader);

/** Whether at least half of the ring is in use. One load. */
bool reader_is_half_full(const struct ring_reader *reader);

/** Number of words that only a damaged ring has. */
static inline uint64_t reader_damage(const struct ring_reader *reader)
{
	return reader->invalid_words - reader->backward_words;
}

static inline uint64_t reader_pending(const struct ring_reader *reader)
{
	return reader->pos - reader->released;
}

static inline uint64_t reader_pending_count(const struct ring_reader *reader)
{
	return reader->count - reader->released_count;
}

/** The pending bytes, contiguous. */
static inline const uint8_t *reader_bytes(const struct ring_reader *reader)
{
	return reader->data + (reader->released & (reader->size - 1));
}

/** Start to read a ring that is not new: its counts of lost records are accepted as they are. */
void reader_adopt(struct ring_reader *reader);

/**
 * reader_continue() - resume reading a ring that an earlier consumer has read.
 * @words: position and counters at which it stopped; `pub` is a position of 64 bits.
 */
void reader_continue(struct ring_reader *reader, const struct ring_words *words);
/** The same without a saved position: all published data counts as released. */
void reader_skip(struct ring_reader *reader);
/** Where the position is that of files without the last packets, and the producer has overwritten
 *  these since: skip all published data. Return: the number of skipped records. */
uint64_t reader_skip_missing(struct ring_reader *reader);

/** The oldest of the pending records were overwritten. */
void reader_skip_overwritten(struct ring_reader *reader, uint64_t bytes, uint64_t records);

/** Release the space up to @pos, so that the producer can reuse it. */
void reader_release(struct ring_reader *reader);

/** The same up to @pos, an earlier end of the published data, with @count records before it. */
void reader_release_until(struct ring_reader *reader, uint64_t pos, uint64_t count);

/** Whether a counter of losses can have grown by @delta within @elapsed_ns. */
bool reader_plausible_lost(uint64_t delta, uint64_t elapsed_ns);
/** Number of events that sampling left out, as it is in the ring: untrusted. */
uint64_t reader_not_sampled(const struct ltt_ring_prod *prod);
/** The ring's clock now. */
uint64_t reader_now(const struct ring_reader *reader);
/** The clock @raw of a ring word, limited to values that a correct producer can have stored. */
uint64_t reader_limit_ts(const struct ring_reader *reader, uint64_t raw);
/** Copy the words consistently. Return: false: they kept changing. */
bool reader_read_words(const struct ring_reader *reader, struct ring_words *ret);
/** Copy the words once. Return: whether the copy is consistent. */
bool reader_copy_words(const struct ltt_ring_prod *prod, struct ring_words *ret);

#endif
