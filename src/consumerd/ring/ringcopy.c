/* SPDX-License-Identifier: GPL-2.0-only */
#include "ringcopy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "consumerd/now.h"
#include "trace/packet.h"

#define STEP_BYTES (64u << 10)
#define WORK_NS 400000u /* between two rests */
#define REST_NS 1000
#define REST_SLACK_NS 1ul    /* the default of 50 us would be most of a rest */
#define DEFAULT_SLACK_NS 0ul /* so that other waits may end together */
#define TRIES 4		     /* while less than half of the ring was copied */

/** A position at which reading can start. */
struct entry {
	uint64_t back;	/* bytes before the end */
	uint64_t count; /* the ring's `count` there */
	uint64_t pub;
	bool whole; /* the start of the ring */
};

/* --- entries --------------------------------------------------------------------- */

/*
 * The bytes in front of `pub` that the producer may be writing. The first record of a sub-buffer
 * begins up to a record's size behind its start, and the producer stores the sub-buffer's region
 * before it gets there: hence twice that size. Machines that reorder stores order them only once a
 * sub-buffer.
 */
static uint64_t reach(const struct ring_reader *r)
{
	uint64_t bytes = 2 * (uint64_t)r->max_record + LTT_RING_SLACK;

#if !defined(__x86_64__)
	bytes += r->subbuf_size + r->max_record;
#endif
	if (r->kept && !r->overwrite) /* nothing is released, and so nothing is written over */
		return 0;
	return MIN(bytes, r->size);
}

static uint32_t nr_regions(const struct ring_reader *r)
{
	return (uint32_t)(r->size / r->subbuf_size);
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* The whole epoch of which a word has the low 24 bits, not later than @last_ts. */
static uint64_t epoch_start(uint64_t pub, uint64_t last_ts)
{
	uint64_t last = last_ts >> LTT_TS_BITS;
	uint64_t back = (last - (pub >> LTT_PUB_EPOCH_SHIFT)) & 0xffffff;

	return (last - MIN(back, last)) << LTT_TS_BITS;
}

static bool is_possible(const struct ring_reader *r, const struct entry *e,
			const struct ring_words *words, uint64_t safe)
{
	uint64_t records = words->count - e->count;

	return e->count && e->back && e->back <= safe &&
	       records >= (e->back + r->max_record - 1) / r->max_record &&
	       records <= e->back / LTT_HDR_COMPACT;
}

/* Applications can overwrite regions: the position and the number of records must be possible. */
static bool is_plausible(const struct ring_reader *r, uint32_t subbuf, const struct entry *e,
			 const struct ring_words *words, uint64_t safe)
{
	return (e->pub & (r->size - 1)) / r->subbuf_size == subbuf &&
	       is_possible(r, e, words, safe);
}

/* Consistent, also while the worker clears the ring. */
static struct ltt_ring_clear last_clear(const struct ring_reader *r, uint64_t *ret_clears)
{
	struct ltt_ring_clear clear;
	uint64_t clears;

	do {
		const struct ltt_ring_clear *from;

		clears = load(&r->cons->clears);
		from = &r->cons->clear[clears & 1];
		clear = (struct ltt_ring_clear){ load(&from->pub), load(&from->count),
						 load(&from->records) };
	} while (load(&r->cons->clears) != clears);
	*ret_clears = clears;
	return clear;
}

/* The records behind the last clear. Return: whether there are any, and all are there. */
static bool entry_at_clear(const struct ring_reader *r, const struct ltt_ring_clear *clear,
			   const struct ring_words *words, uint64_t safe, struct entry *ret)
{
	*ret = (struct entry){ (words->pub - clear->pub) & LTT_POS_MASK, clear->count, clear->pub,
			       false };
	return is_possible(r, ret, words, safe);
}

/* Whether all records before the entry are older than @since. */
static bool is_behind(const struct entry *e, uint64_t last_ts, uint64_t since)
{
	return epoch_start(e->pub, last_ts) + (1ull << LTT_TS_BITS) <= since;
}

/* The earliest entry within @safe bytes before the end, or the latest one that is behind @since, if
 * there is one. Without any: the end itself. */
static struct entry find_entry(const struct ring_reader *r, const struct ltt_ring_region *regions,
			       const struct ring_words *words, uint64_t safe, uint64_t since)
{
	uint64_t pos = words->pub & LTT_POS_MASK, clears;
	struct ltt_ring_clear clear = last_clear(r, &clears);
	struct entry best = { 0, words->count, words->pub, false }, cleared;
	bool behind = since && words->last_ts < since;

	if (behind)
		return best;
	/* the region of the first sub-buffer is stored when the producer comes round */
	if (!clear.count && pos <= safe && !load(&regions[0].count) &&
	    words->count <= pos / LTT_HDR_COMPACT)
		best = (struct entry){ pos, 0, 0, true };
	if (entry_at_clear(r, &clear, words, safe, &cleared)) {
		best = cleared;
		behind = since && is_behind(&cleared, words->last_ts, since);
	}
	for (uint32_t i = 0; i < nr_regions(r); i++) {
		uint64_t pub = load(&regions[i].pub);
		struct entry e = { (pos - pub) & LTT_POS_MASK, load(&regions[i].count), pub,
				   false };
		bool old;

		if (e.count < clear.count || !is_plausible(r, i, &e, words, safe))
			continue;
		old = is_behind(&e, words->last_ts, since);
		if (old ? !behind || e.back < best.back : !behind && e.back > best.back)
			best = e;
		behind |= old;
	}
	return best;
}

/* --- copying --------------------------------------------------------------------- */

int ring_copy_init(struct ring_copy *copy, const struct ring_reader *r)
{
	uint64_t regions = nr_regions(r) * sizeof(struct ltt_ring_region);
	uint64_t bytes = r->size + regions;
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (room == MAP_FAILED)
		return -errno;
	*copy = (struct ring_copy){ .room = room, .room_bytes = bytes };
	return 0;
}

void ring_copy_fini(struct ring_copy *copy)
{
	if (copy->room)
		munmap(copy->room, copy->room_bytes);
	copy->room = NULL;
}

void ring_copy_rest(uint64_t *since_ns)
{
	const struct timespec moment = { .tv_nsec = REST_NS };

	if (now_ns() - *since_ns < WORK_NS)
		return;
	(void)prctl(PR_SET_TIMERSLACK, REST_SLACK_NS);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	(void)prctl(PR_SET_TIMERSLACK, DEFAULT_SLACK_NS);
	*since_ns = now_ns();
}

/* The newest first: a reader that is put off its CPU keeps those that it had copied. @to: @len
 * bytes, of which the last ones are filled. Return: number of these. */
static uint64_t copy_backwards(const struct ring_reader *r, uint64_t pos, uint8_t *to, uint64_t len)
{
	uint64_t got = 0, since = now_ns();

	while (got < len) {
		uint64_t step = MIN((uint64_t)STEP_BYTES, len - got);
		uint64_t from = (pos - got - step) & (r->size - 1), ahead;

		memcpy(to + len - got - step, r->data + from, step);
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* copied before `pub` is read */
		ahead = (load(&r->prod->pub) - pos) & LTT_POS_MASK;
		if (got + step + ahead + reach(r) > r->size)
			break;
		got += step;
		ring_copy_rest(&since);
	}
	return got;
}

bool ring_copy_bytes(const struct ring_reader *r, uint64_t pos, uint64_t len, uint8_t *to)
{
	memcpy(to, r->data + (pos & (r->size - 1)), len);
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* copied before `pub` is read */
	return ((load(&r->prod->pub) - pos) & LTT_POS_MASK) + reach(r) <= r->size;
}

/* They lie behind the data. */
static struct ltt_ring_region *copy_regions(const struct ring_copy *copy,
					    const struct ring_reader *r)
{
	struct ltt_ring_region *regions = (struct ltt_ring_region *)(void *)(copy->room + r->size);

	memcpy(regions, r->prod->region, nr_regions(r) * sizeof(*regions));
	return regions;
}

/* @since: as for find_entry(). Return: whether at least half of the records are copied. */
static bool copy_from(struct ring_copy *copy, const struct ring_reader *r,
		      const struct ring_words *words, const struct ltt_ring_region *regions,
		      const struct entry *wanted, uint64_t since, struct entry *ret)
{
	uint64_t got = copy_backwards(r, words->pub & LTT_POS_MASK, copy->room, wanted->back);

	*ret = got == wanted->back ? *wanted : find_entry(r, regions, words, got, since);
	copy->at = copy->room + wanted->back - ret->back;
	return ret->back >= wanted->back / 2;
}

static bool try_copy(struct ring_copy *copy, const struct ring_reader *r,
		     const struct ring_words *words, struct entry *ret)
{
	const struct ltt_ring_region *regions = copy_regions(copy, r);
	uint64_t since = copy->last ? copy->taken_ts - MIN(copy->last, copy->taken_ts) : 0;
	uint64_t safe = r->size - reach(r);
	struct entry wanted = find_entry(r, regions, words,
					 copy->limit ? MIN(copy->limit, safe) : safe, since);

	return copy_from(copy, r, words, regions, &wanted, since, ret);
}

/* The newest @records records, which have @bytes, if the ring has them all; or those of them that
 * it has. */
static struct entry newest(const struct ring_reader *r, const struct ltt_ring_region *regions,
			   const struct ring_words *words, uint64_t records, uint64_t bytes)
{
	uint64_t safe = r->size - reach(r);

	if (bytes > safe)
		return find_entry(r, regions, words, safe, 0);
	return (struct entry){ .back = bytes, .count = words->count - records };
}

uint64_t ring_overwritten(const struct ring_reader *r, const struct ring_words *words,
			  uint64_t records, uint64_t bytes, uint64_t *ret_bytes)
{
	struct entry e = newest(r, r->prod->region, words, records, bytes);

	*ret_bytes = bytes - MIN(bytes, e.back);
	return records - MIN(records, words->count - e.count);
}

/* A record's short clock is completed by that of the record before it. */
static uint64_t copy_begin(const struct ring_copy *copy, const struct entry *e, uint64_t last_ts)
{
	const struct packet_header bounds = { .timestamp_begin = epoch_start(e->pub, last_ts),
					      .timestamp_end = last_ts };

	return packet_first_ts(&bounds, copy->at, e->back);
}

void ring_copy_pending(struct ring_copy *copy, struct ring_reader *r)
{
	const struct ltt_ring_region *regions;
	struct entry wanted, entry;
	uint64_t records;

	for (int i = 1;; i++) {
		regions = copy_regions(copy, r);
		wanted = newest(r, regions, &r->raw, reader_pending_count(r), reader_pending(r));
		if (copy_from(copy, r, &r->raw, regions, &wanted, 0, &entry) || i == TRIES ||
		    reader_snapshot(r, false) == READER_TORN)
			break;
	}
	records = MIN(r->raw.count - entry.count, reader_pending_count(r));
	copy->len = entry.back;
	copy->count = records;
	copy->end = r->raw.count;
	copy->end_ts = r->last_ts;
	copy->begin_ts = entry.back < reader_pending(r) ? copy_begin(copy, &entry, r->last_ts) : 0;
	reader_skip_overwritten(r, reader_pending(r) - entry.back,
				reader_pending_count(r) - records);
}

static void describe(struct ring_copy *copy, const struct ring_reader *r,
		     const struct ring_words *words, const struct entry *entry, uint64_t start_ts)
{
	struct packet_header bounds = { 0 };
	uint64_t clears, cleared = last_clear(r, &clears).count;

	copy->len = entry->back;
	copy->count = words->count - entry->count;
	copy->before = entry->count - MIN(cleared, entry->count);
	copy->end = words->count;
	copy->whole = entry->whole;
	copy->end_ts = MAX(reader_limit_ts(r, words->last_ts), start_ts);
	/* the short clock of the first record is completed by this */
	bounds.timestamp_end = copy->end_ts;
	bounds.timestamp_begin = entry->whole ? start_ts >> LTT_TS_BITS << LTT_TS_BITS :
						epoch_start(entry->pub, copy->end_ts);
	copy->begin_ts = entry->whole ? bounds.timestamp_begin :
					packet_first_ts(&bounds, copy->at, copy->len);
}

void ring_copy_take(struct ring_copy *copy, const struct ring_reader *r, uint64_t start_ts)
{
	struct entry entry = { 0 };
	struct ring_words words = { 0 };

	for (int i = 0; i < TRIES; i++) {
		copy->taken_ts = reader_now(r);
		if (!reader_read_words(r, &words)) { /* no correct producer causes that */
			words.count = r->raw.count;
			entry = (struct entry){ .count = words.count };
			break;
		}
		if (try_copy(copy, r, &words, &entry))
			break;
	}
	describe(copy, r, &words, &entry, start_ts);
}

/* --- counts ---------------------------------------------------------------------- */

uint64_t ring_unsaved(const struct ring_reader *r, const struct ring_words *words)
{
	struct entry e = find_entry(r, r->prod->region, words, r->size - reach(r), 0);
	uint64_t kept = words->count - e.count;
	uint64_t since = words->count - load(&r->cons->saved_end);

	return MIN(kept, since);
}

void ring_divide(const struct ring_reader *r, const struct ring_words *words, bool ended,
		 struct stats *stats)
{
	uint64_t saved, unsaved, clears;
	struct ltt_ring_clear clear;

	do {
		clear = last_clear(r, &clears);
		stats->bytes = load(&r->cons->saved_bytes);
		stats->packets = load(&r->cons->saved_packets);
		saved = load(&r->cons->saved_records);
		unsaved = ended ? 0 : ring_unsaved(r, words);
	} while (load(&r->cons->clears) != clears);
	stats_divide(stats, saved, unsaved, clear.records);
}

static void add(uint64_t *word, uint64_t more)
{
	__atomic_store_n(word, *word + more, __ATOMIC_RELAXED);
}

uint64_t ring_used(const struct ring_reader *r, const struct ring_words *words)
{
	uint64_t clears, bytes;
	struct ltt_ring_clear clear = last_clear(r, &clears);

	bytes = (words->pub - clear.pub) & LTT_POS_MASK;
	if (words->count - clear.count > bytes / LTT_HDR_COMPACT) /* positions have wrapped */
		return r->size;
	return MIN(bytes, r->size);
}

/* A single store removes and counts the records: a consumer that is killed has done both, or
 * none. */
uint64_t ring_clear(const struct ring_reader *r)
{
	struct ltt_ring_clear *next, clear;
	struct ring_words words;
	uint64_t clears, records;

	if (!reader_read_words(r, &words)) /* no correct producer causes that */
		return 0;
	clear = last_clear(r, &clears);
	records = r->kept ? ring_unsaved(r, &words) : 0;
	next = &r->cons->clear[(clears + 1) & 1];
	__atomic_store_n(&next->pub, words.pub, __ATOMIC_RELEASE);
	__atomic_store_n(&next->count, words.count, __ATOMIC_RELEASE);
	__atomic_store_n(&next->records, clear.records + records, __ATOMIC_RELEASE);
	__atomic_store_n(&r->cons->clears, clears + 1, __ATOMIC_RELEASE);
	if (r->kept && !r->overwrite)
		__atomic_store_n(&r->cons->consumed, words.pub & LTT_POS_MASK, __ATOMIC_RELEASE);
	return records;
}

/* Records that a clear has removed from the ring meanwhile are counted by that. */
void ring_set_saved(const struct ring_reader *r, uint64_t records, uint64_t end, uint64_t bytes)
{
	struct ltt_ring_cons *cons = r->cons;
	uint64_t clears, since = MAX(cons->saved_end, last_clear(r, &clears).count);

	add(&cons->saved_records, MIN(records, end - MIN(since, end)));
	add(&cons->saved_bytes, bytes);
	add(&cons->saved_packets, bytes != 0);
	__atomic_store_n(&cons->saved_end, end, __ATOMIC_RELEASE);
}
