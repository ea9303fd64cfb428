/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader.h"

#include <string.h>

#include "consumerd/now.h"
#include "reclaim.h"

/* The words share a cache line: once it is here, reading them takes a few ns,
 * and the producer needs longer than that to get it back. */
#define SNAPSHOT_TRIES 1000

/* Clocks of CPUs differ a little; this is seconds, with any clock. */
#define FUTURE_TICKS (1ull << 32)

void reader_init(struct ring_reader *reader, const struct ltt_ring_desc *desc,
		 const struct ltt_ring_prod *prod, const uint8_t *data, struct ltt_ring_cons *cons,
		 uint64_t start_ts)
{
	*reader = (struct ring_reader){
		.prod = prod,
		.data = data,
		.cons = cons,
		.size = desc->data_size,
		.subbuf_size = desc->subbuf_size,
		.max_record = desc->max_record,
		.clock = desc->clock,
		.overwrite = desc->mode == LTT_RING_OVERWRITE,
		.kept = desc->mode == LTT_RING_OVERWRITE,
		.last_ts = start_ts,
		.raw.pub = reader_first_pub(start_ts),
		.raw.last_ts = start_ts,
		.snapshot_ns = now_ns(),
	};
}

uint64_t reader_not_sampled(const struct ltt_ring_prod *prod)
{
	return __atomic_load_n(&prod->not_sampled, __ATOMIC_RELAXED) +
	       __atomic_load_n(&prod->not_sampled_apart, __ATOMIC_RELAXED);
}

bool reader_copy_words(const struct ltt_ring_prod *prod, struct ring_words *ret)
{
	uint64_t pub = __atomic_load_n(&prod->pub, __ATOMIC_ACQUIRE);

	/* acquire: each of them is read before `pub` is read again */
	ret->pub = pub;
	ret->last_ts = __atomic_load_n(&prod->last_ts, __ATOMIC_ACQUIRE);
	ret->count = __atomic_load_n(&prod->count[!!(pub & LTT_PUB_PARITY)], __ATOMIC_ACQUIRE);
	ret->lost[LOST_FULL] = __atomic_load_n(&prod->lost_full, __ATOMIC_ACQUIRE) +
			       __atomic_load_n(&prod->lost_full_apart, __ATOMIC_ACQUIRE);
	ret->lost[LOST_SIZE] = __atomic_load_n(&prod->lost_size, __ATOMIC_ACQUIRE);
	ret->lost[LOST_BUSY] = __atomic_load_n(&prod->lost_busy, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&prod->pub, __ATOMIC_RELAXED) == pub;
}

bool reader_read_words(const struct ring_reader *r, struct ring_words *ret)
{
	for (int i = 0; i < SNAPSHOT_TRIES; i++)
		if (reader_copy_words(r->prod, ret))
			return true;
	return false;
}

/* Each of these updates the reader from one ring word, clamped, and keeps the raw value. */

/* After an impossible position, the data before it can't be distinguished from garbage: all of it
 * is dropped, and the stream continues there. A correct producer can then record again. */
static void drop_all(struct ring_reader *r, uint64_t delta)
{
	r->invalid_bytes += reader_pending(r) + MIN(delta, r->size);
	r->invalid_count += reader_pending_count(r);
	r->invalid_words++;
	r->pos += delta;
	reader_release(r);
}

static void reader_update_pos(struct ring_reader *r, uint64_t pub)
{
	uint64_t delta = (pub - r->pos) & LTT_POS_MASK;

	r->raw.pub = pub;
	if (reader_pending(r) + delta > r->size)
		drop_all(r, delta);
	else
		r->pos += delta;
}

static uint64_t least_records(const struct ring_reader *r, uint64_t bytes)
{
	return (bytes + r->max_record - 1) / r->max_record;
}

/* Records have a least and a greatest size, so bytes bound their number. */
static bool fits_bytes(const struct ring_reader *r, uint64_t records, uint64_t bytes)
{
	return records >= least_records(r, bytes) && records <= bytes / LTT_HDR_COMPACT;
}

static void reader_update_count(struct ring_reader *r, uint64_t raw, uint64_t bytes)
{
	uint64_t delta = raw - r->raw.count;

	if (!fits_bytes(r, delta, bytes)) {
		delta = least_records(r, bytes);
		r->invalid_words++;
	}
	r->count += delta;
	r->raw.count = raw;
}

uint64_t reader_now(const struct ring_reader *r)
{
	return now_of_ring(r->clock) + __atomic_load_n(&r->cons->clock_add, __ATOMIC_RELAXED);
}

uint64_t reader_limit_ts(const struct ring_reader *r, uint64_t raw)
{
	uint64_t now = reader_now(r);

	return raw > now + FUTURE_TICKS ? now : raw;
}

static void reader_update_ts(struct ring_reader *r, uint64_t raw)
{
	r->raw.last_ts = raw;
	if (raw < r->last_ts) {
		r->invalid_words++;
		r->backward_words++;
	} else if (raw - r->last_ts > FUTURE_TICKS && raw != reader_limit_ts(r, raw)) {
		r->invalid_words++;
		r->last_ts = MAX(r->last_ts, reader_now(r));
	} else {
		r->last_ts = raw;
	}
}

/* No producer loses more than one record a nanosecond. */
bool reader_plausible_lost(uint64_t delta, uint64_t elapsed_ns)
{
	return delta <= elapsed_ns + 1000;
}

static void reader_update_lost(struct ring_reader *r, const uint64_t raw[LOST_KINDS],
			       uint64_t elapsed_ns)
{
	for (int i = 0; i < LOST_KINDS; i++) {
		uint64_t delta = raw[i] - r->raw.lost[i];

		if (reader_plausible_lost(delta, elapsed_ns))
			r->lost[i] += delta;
		else
			r->invalid_words++;
		r->raw.lost[i] = raw[i];
	}
}

static void reader_update_not_sampled(struct ring_reader *r, uint64_t raw, uint64_t elapsed_ns)
{
	uint64_t delta = raw - r->raw_not_sampled;

	if (reader_plausible_lost(delta, elapsed_ns))
		r->not_sampled += delta;
	else
		r->invalid_words++;
	r->raw_not_sampled = raw;
}

/* Any number of laps can have passed, so the bytes do not bound the number of records: the time
 * does. */
static void reader_follow(struct ring_reader *r, const struct ring_words *words,
			  uint64_t elapsed_ns)
{
	uint64_t delta = words->count - r->raw.count;

	if (reader_plausible_lost(delta, elapsed_ns))
		r->count += delta;
	else
		r->invalid_words++;
	r->raw.count = words->count;
	r->raw.pub = words->pub;
	r->pos = r->released = words->pub & LTT_POS_MASK;
	r->released_count = r->count;
}

/* The same of one whose records are written: more may be pending than the ring has. An impossible
 * number of records can't be counted. */
static void reader_follow_written(struct ring_reader *r, const struct ring_words *words,
				  uint64_t elapsed_ns)
{
	uint64_t bytes = (words->pub - r->pos) & LTT_POS_MASK, wraps = 0;
	uint64_t records = words->count - r->raw.count;

	r->raw.pub = words->pub;
	r->raw.count = words->count;
	if (!reader_plausible_lost(records, elapsed_ns) || records < least_records(r, bytes)) {
		drop_all(r, bytes);
		return;
	}
	if (records > bytes / LTT_HDR_COMPACT)
		wraps = (records * LTT_HDR_COMPACT - bytes + LTT_POS_MASK) >> LTT_POS_BITS;
	r->pos += bytes + (wraps << LTT_POS_BITS);
	r->count += records;
}

static uint64_t reader_switches(const struct ring_reader *r)
{
	return __atomic_load_n(&r->prod->switches, __ATOMIC_ACQUIRE);
}

int reader_snapshot(struct ring_reader *r, bool last_chance)
{
	struct ring_words words;
	uint64_t not_sampled, elapsed;
	uint64_t before = r->pos, invalid_words = r->invalid_words;
	uint64_t switches = reader_switches(r); /* before the words: their events are in them */
	uint64_t began = now_ns(); /* later records are of the next snapshot's time */

	if (!reader_read_words(r, &words) && !last_chance)
		return READER_TORN;
	not_sampled = reader_not_sampled(r->prod);
	elapsed = now_ns() - r->snapshot_ns;
	if (r->kept)
		reader_follow(r, &words, elapsed);
	else if (r->overwrite)
		reader_follow_written(r, &words, elapsed);
	else
		reader_update_pos(r, words.pub);
	if (r->kept || r->overwrite)
		; /* counted */
	else if (r->invalid_words != invalid_words)
		r->raw.count = words.count; /* how many were dropped is unknowable */
	else
		reader_update_count(r, words.count, r->pos - before);
	reader_update_ts(r, words.last_ts);
	reader_update_lost(r, words.lost, elapsed);
	reader_update_not_sampled(r, not_sampled, elapsed);
	r->snapshot_ns = began;
	r->switches = switches;
	return READER_OK;
}

bool reader_has_data(const struct ring_reader *r)
{
	return __atomic_load_n(&r->prod->pub, __ATOMIC_ACQUIRE) != r->raw.pub;
}

bool reader_has_crossed(const struct ring_reader *r)
{
	bool switches = reader_switches(r) != r->switches;
	uint64_t pub = __atomic_load_n(&r->prod->pub, __ATOMIC_ACQUIRE);
	uint64_t since = (pub - r->released) & LTT_POS_MASK;

	return pub != r->raw.pub &&
	       (switches || (r->released & (r->subbuf_size - 1)) + since >= r->subbuf_size);
}

bool reader_is_half_full(const struct ring_reader *r)
{
	uint64_t pub = __atomic_load_n(&r->prod->pub, __ATOMIC_RELAXED);

	return ((pub - r->released) & LTT_POS_MASK) >= r->size / 2;
}

static void reader_release_to(struct ring_reader *r, uint64_t pos, uint64_t count)
{
	uint64_t before = r->released;

	r->released = pos;
	r->released_count = count;
	reclaim_note_release(r, before);
	reclaim_restore(r);
}

void reader_release(struct ring_reader *r)
{
	reader_release_to(r, r->pos, r->count);
}

void reader_skip_overwritten(struct ring_reader *r, uint64_t bytes, uint64_t records)
{
	r->skipped += bytes;
	r->overwritten += records;
	reader_release_to(r, r->released + bytes, r->released_count + records);
}

void reader_release_until(struct ring_reader *r, uint64_t pos, uint64_t count)
{
	if (pos <= r->released) /* all of it was dropped since */
		return;
	reclaim_released(r, pos);
	reader_release_to(r, pos, count);
}

void reader_continue(struct ring_reader *r, const struct ring_words *words)
{
	r->pos = words->pub;
	r->count = words->count;
	r->last_ts = words->last_ts;
	memcpy(r->lost, words->lost, sizeof(r->lost));
	r->raw = *words;
	r->raw.pub = ~reader_first_pub(words->last_ts); /* the next snapshot finds a change */
	reader_release(r);
}

void reader_adopt(struct ring_reader *r)
{
	r->snapshot_ns = 0;
}

void reader_skip(struct ring_reader *r)
{
	struct ring_words words;

	(void)!reader_copy_words(r->prod, &words);
	words.pub &= LTT_POS_MASK;
	words.last_ts = MIN(words.last_ts, reader_now(r));
	reader_continue(r, &words);
}

uint64_t reader_skip_missing(struct ring_reader *r)
{
	struct ring_words words;
	uint64_t bytes, records;

	if (r->overwrite || !reader_read_words(r, &words))
		return 0;
	bytes = (words.pub - r->pos) & LTT_POS_MASK;
	records = words.count - r->count;
	if (bytes <= r->size || !fits_bytes(r, records, bytes))
		return 0;
	words.pub = r->pos + bytes;
	words.last_ts = MIN(words.last_ts, reader_now(r));
	reader_continue(r, &words);
	return records;
}
