/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ringcopy.h - the records that a ring still has, also those that a consumer has taken: their
 * number, and a copy of them that is made while the producer goes on recording. Used by the worker
 * of the ring's output; ring_unsaved() and ring_divide() by any thread.
 *
 * The producer may overwrite the oldest records at any time, so a copy begins with the newest ones,
 * and each part is used only if the producer can't have reached it by the end of copying it.
 */
#ifndef CONSUMERD_RING_RINGCOPY_H
#define CONSUMERD_RING_RINGCOPY_H

#include "reader.h"
#include "stats.h"

/**
 * struct ring_copy - records that a ring had at one moment: whole, in order, without a gap.
 * @room: memory of @room_bytes.
 * @limit: greatest @len, set by the caller; 0: none. The copy begins with a sub-buffer then.
 * @last: without sub-buffers that ended longer before now, set by the caller; 0: with all. Of the
 *        ring's clock; exact to LTT_TS_BITS of it.
 * @at: the records, @len bytes in @room.
 * @count: number of them; @before: number of earlier ones, since the last clear.
 * @end: value of the ring's `count` behind the last one.
 * @whole: no record was made before @begin_ts: the ring has not been round yet.
 * @begin_ts: clock of the first record; @whole: the start of the ring. @end_ts: not before the
 *            last record.
 * @taken_ts: when the copy was begun: all records up to then are in it.
 */
struct ring_copy {
	uint8_t *room;
	uint64_t room_bytes;
	uint64_t limit, last;
	const uint8_t *at;
	uint64_t len;
	uint64_t count, before, end;
	bool whole;
	uint64_t begin_ts, end_ts, taken_ts;
};

/** Allocate and populate the memory of a copy. Return: 0 or negative errno. */
int ring_copy_init(struct ring_copy *copy, const struct ring_reader *reader) MUST_CHECK;
void ring_copy_fini(struct ring_copy *copy);
/** Copy the ring. @start_ts: the clock when the ring was made. */
void ring_copy_take(struct ring_copy *copy, const struct ring_reader *reader, uint64_t start_ts);

/**
 * ring_copy_pending() - copy the pending records of a ring that is overwritten, and written to a
 * trace. Those that the producer has overwritten, or is about to, are counted and no longer
 * pending; @copy has the others, up to @reader->pos. @copy->begin_ts: 0 if none was overwritten.
 */
void ring_copy_pending(struct ring_copy *copy, struct ring_reader *reader);
/** Number of records of a ring that is overwritten, among the newest @records, which have @bytes,
 *  that it does not have any more; *@ret_bytes: their bytes. */
uint64_t ring_overwritten(const struct ring_reader *reader, const struct ring_words *words,
			  uint64_t records, uint64_t bytes, uint64_t *ret_bytes);

/** Copy @len bytes of a ring that is overwritten, from @pos. Return: whether the producer can't
 *  have reached them. */
bool ring_copy_bytes(const struct ring_reader *reader, uint64_t pos, uint64_t len, uint8_t *to);

/**
 * ring_copy_rest() - sleep for a moment if this thread has not for 0.4 ms. A thread that copies or
 * writes for long calls it between small parts: where it shares a CPU with a thread that records,
 * that thread goes on at once, and not when the time slice ends, milliseconds later; and at each
 * wakeup the scheduler chooses an idle CPU if there is one.
 * @since_ns: now_ns() of the last rest, which is updated; at first that of the beginning.
 */
void ring_copy_rest(uint64_t *since_ns);

/** Number of records that the ring has at @words and no snapshot has. */
uint64_t ring_unsaved(const struct ring_reader *reader, const struct ring_words *words);
/** Divide the records of a ring that is kept into those that snapshots have, those that the ring
 *  has (@words), and the others. @ended: it has none any more. */
void ring_divide(const struct ring_reader *reader, const struct ring_words *words, bool ended,
		 struct stats *stats);
/** Bytes of a ring that is kept, which records have at @words. */
uint64_t ring_used(const struct ring_reader *reader, const struct ring_words *words);
/** Remove all records: no copy has them any more. Of a ring that is kept, those that no snapshot
 *  has are counted, and the space of one that is not overwritten is released. Return: their
 *  number. */
uint64_t ring_clear(const struct ring_reader *reader);
/** Note that a snapshot has @records records, up to @end of the ring's `count`. @bytes: of its
 *  file. */
void ring_set_saved(const struct ring_reader *reader, uint64_t records, uint64_t end,
		    uint64_t bytes);

#endif
