/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_counts.h - memory in which applications count events, and the table of keys that the kernel
 * module has of its own for each event that it counts by keys.
 *
 * One memfd for a user's applications in a session, created and sealed by the
 * session daemon: one part for each CPU and one shared part at the end, all of the same size. A
 * counter has the same offset in each part, and its value is the sum over all parts. A restartable
 * sequence adds to the part of the CPU that it is on, by plain additions; code without one
 * adds to the shared part, atomically. Applications may overwrite the whole memory: readers must
 * accept any value in any word.
 *
 * A counter of hits is one word; one with a histogram is struct ltt_counts.
 *
 * A counter with keys has a memfd of its own. After its parts comes an open-addressed hash table of
 * keys, struct ltt_counts_slot, which is common to all CPUs. Each part begins with struct
 * ltt_counts_rest, then has the values of each slot, in the table's order: the hits; with a
 * histogram, the hits and the sum of the field's values. With a histogram the number of the value's
 * bucket belongs to the key. Slots are never freed. While a thread writes a key into a slot, other
 * threads skip that slot, so one key may have two slots: readers add them up.
 */
#ifndef LTT_ABI_COUNTS_H
#define LTT_ABI_COUNTS_H

#include <stdint.h>

#define LTT_COUNTS_BUCKETS 65

/** struct ltt_counts - a counter with a histogram; each word wraps at 2^64. */
struct ltt_counts {
	uint64_t count;			      /* hits */
	uint64_t sum;			      /* sum of the field's values */
	uint64_t negative;		      /* values below 0, which are in no bucket */
	uint64_t missed;		      /* hits whose value could not be read */
	uint64_t buckets[LTT_COUNTS_BUCKETS]; /* 0: value 0; k: values 2^(k-1) to 2^k - 1 */
};

#define LTT_COUNTS_BY_MAX 2u	/* most fields of a key */
#define LTT_COUNTS_KEY_WORDS 7u /* 64-bit words of a key */
#define LTT_COUNTS_TEXT_MAX 48u /* most bytes of the text of a key; half for each of two fields */
#define LTT_COUNTS_PROBES 64u	/* slots that are searched for a key, starting at its hash */
#define LTT_COUNTS_HIT_SLOTS 1024u	 /* slots of the table of a counter of hits */
#define LTT_COUNTS_HISTOGRAM_SLOTS 4096u /* slots of the table of a counter with a histogram */
#define LTT_COUNTS_KERNEL_SLOTS 4096u	 /* slots of each table in the kernel */

#define LTT_COUNTS_NO_SLOT 0xffffffffu

#define LTT_COUNTS_TAG_FREE 0u	  /* the slot has no key */
#define LTT_COUNTS_TAG_WRITING 1u /* a thread is writing the key */
#define LTT_COUNTS_TAG_HASH 2u	  /* bit that is set in each hash, so that it is above 1 */

/** struct ltt_counts_slot - @tag: LTT_COUNTS_TAG_FREE, LTT_COUNTS_TAG_WRITING, or the key's hash.
 *  @key: first word: LTT_COUNTS_HEAD(); then each field: an integer in one word, a text padded with
 *  zeros to whole words. */
struct ltt_counts_slot {
	uint64_t tag;
	uint64_t key[LTT_COUNTS_KEY_WORDS];
};

/** Kinds of a key's fields. */
enum ltt_counts_kind {
	LTT_COUNTS_NONE = 0,
	LTT_COUNTS_SIGNED = 1,
	LTT_COUNTS_UNSIGNED = 2,
	LTT_COUNTS_TEXT = 3,
	LTT_COUNTS_CUT = 4, /* a text of which only the beginning is in the key */
};
/* The first word of a key: the kinds and the texts' lengths of fields 0 and 1, and the bucket. */
#define LTT_COUNTS_HEAD(number, kind, bytes) \
	((uint64_t)(kind) << 8 * (number) | (uint64_t)(bytes) << (16 + 8 * (number)))
#define LTT_COUNTS_HEAD_KIND(head, number) ((uint8_t)((head) >> 8 * (number)))
#define LTT_COUNTS_HEAD_BYTES(head, number) ((uint8_t)((head) >> (16 + 8 * (number))))
#define LTT_COUNTS_HEAD_BUCKET_SHIFT 32
#define LTT_COUNTS_HEAD_BUCKET(head) ((uint16_t)((head) >> LTT_COUNTS_HEAD_BUCKET_SHIFT))

/** struct ltt_counts_rest - hits that are in no slot. */
struct ltt_counts_rest {
	uint64_t overflow; /* there was no slot for the key */
	uint64_t missed;   /* the key or the value could not be read */
};

#define LTT_COUNTS_REST_WORDS ((uint32_t)(sizeof(struct ltt_counts_rest) / sizeof(uint64_t)))

/*
 * Fine buckets, of histograms with keys: one for each value from 0 to 63, then 32 of equal size
 * from each power of two to the next. The value 2 * first * last / (first + last) differs from each
 * value of its bucket by less than 1/65.
 */
#define LTT_COUNTS_FINE 1920u
#define LTT_COUNTS_NEGATIVE LTT_COUNTS_FINE /* in keys: a value below 0 */

static inline uint32_t ltt_counts_fine(uint64_t value)
{
	uint32_t shift = value < 64 ? 0 : 58 - (uint32_t)__builtin_clzll(value);

	return shift * 32 + (uint32_t)(value >> shift);
}

static inline uint64_t ltt_counts_fine_first(uint32_t bucket)
{
	uint32_t shift = bucket < 64 ? 0 : bucket / 32 - 1;

	return (uint64_t)(bucket - shift * 32) << shift;
}

static inline uint64_t ltt_counts_fine_last(uint32_t bucket)
{
	uint32_t shift = bucket < 64 ? 0 : bucket / 32 - 1;

	return ltt_counts_fine_first(bucket) + ((1ull << shift) - 1);
}

static inline uint64_t ltt_counts_bucket(uint64_t value, uint32_t kind)
{
	return kind == LTT_COUNTS_SIGNED && (int64_t)value < 0 ? LTT_COUNTS_NEGATIVE :
								 ltt_counts_fine(value);
}

/*
 * Keys and their slots, the same for applications and the kernel: any thread, signal handler,
 * interrupt or NMI may search a key while another one writes it.
 */

/* The load has the width of the preceding store, so that the processor forwards the stored
 * value. */
static inline uint64_t ltt_counts_load(const unsigned char *from, uint32_t bytes)
{
	uint64_t value = 0;
	uint32_t word;
	uint16_t half;

	switch (bytes) {
	case 8:
		__builtin_memcpy(&value, from, sizeof(value));
		return value;
	case 4:
		__builtin_memcpy(&word, from, sizeof(word));
		return word;
	case 2:
		__builtin_memcpy(&half, from, sizeof(half));
		return half;
	case 1:
		return *from;
	default:
		__builtin_memcpy(&value, from, bytes);
		return value;
	}
}

static inline uint64_t ltt_counts_extend(uint64_t value, uint32_t bytes)
{
	uint32_t shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* Append a text to a key, as its field number @position. Return: words of the key. */
static inline uint32_t ltt_counts_put_text(uint64_t *key, uint32_t words, uint32_t position,
					   const char *text, uint32_t len, uint32_t max)
{
	enum ltt_counts_kind kind = len > max ? LTT_COUNTS_CUT : LTT_COUNTS_TEXT;
	uint32_t bytes = len > max ? max : len, at;

	for (at = 0; at < bytes; at += sizeof(*key)) {
		uint32_t rest = bytes - at;

		key[words] = 0;
		__builtin_memcpy(&key[words++], text + at,
				 rest < sizeof(*key) ? rest : (uint32_t)sizeof(*key));
	}
	key[0] |= LTT_COUNTS_HEAD(position, kind, bytes);
	return words;
}

static inline uint64_t ltt_counts_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static inline uint64_t ltt_counts_hash(const uint64_t *key, uint32_t words)
{
	uint64_t hash = 0;
	uint32_t i;

	for (i = 0; i < words; i++)
		hash = ltt_counts_hash_word(hash, key[i]);
	return hash | LTT_COUNTS_TAG_HASH;
}

/* @mask: slots of the table, a power of two, less one. */
static inline uint32_t ltt_counts_first_slot(uint64_t tag, uint32_t mask)
{
	return (uint32_t)(tag >> 8) & mask;
}

static inline int ltt_counts_slot_has(const struct ltt_counts_slot *slot, const uint64_t *key,
				      uint32_t words)
{
	uint32_t i;

	for (i = 0; i < words; i++)
		if (__atomic_load_n(&slot->key[i], __ATOMIC_RELAXED) != key[i])
			return 0;
	return 1;
}

/* Write the key into a free slot. Return: whether the slot has the key now, also if another thread
 * wrote it. */
static inline int ltt_counts_slot_take(struct ltt_counts_slot *slot, uint64_t tag,
				       const uint64_t *key, uint32_t words)
{
	uint64_t found = LTT_COUNTS_TAG_FREE;
	uint32_t i;

	if (!__atomic_compare_exchange_n(&slot->tag, &found, LTT_COUNTS_TAG_WRITING, 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return found == tag && ltt_counts_slot_has(slot, key, words);
	for (i = 0; i < words; i++)
		__atomic_store_n(&slot->key[i], key[i], __ATOMIC_RELAXED);
	__atomic_store_n(&slot->tag, tag, __ATOMIC_RELEASE);
	return 1;
}

/* Find or make the slot of a key. Return: its number; LTT_COUNTS_NO_SLOT: there is no room. */
static inline uint32_t ltt_counts_search(struct ltt_counts_slot *slots, uint32_t mask, uint64_t tag,
					 const uint64_t *key, uint32_t words)
{
	uint32_t i;

	for (i = 0; i < LTT_COUNTS_PROBES; i++) {
		uint32_t at = (ltt_counts_first_slot(tag, mask) + i) & mask;
		uint64_t now = __atomic_load_n(&slots[at].tag, __ATOMIC_ACQUIRE);

		if ((now == tag && ltt_counts_slot_has(&slots[at], key, words)) ||
		    (now == LTT_COUNTS_TAG_FREE &&
		     ltt_counts_slot_take(&slots[at], tag, key, words)))
			return at;
	}
	return LTT_COUNTS_NO_SLOT;
}

#define LTT_COUNTS_WORDS ((uint32_t)(sizeof(struct ltt_counts) / sizeof(uint64_t)))

/* The same in programs of 32 bits. */
_Static_assert(sizeof(struct ltt_counts) == 552 && sizeof(struct ltt_counts_slot) == 64 &&
		       sizeof(struct ltt_counts_rest) == 16,
	       "the layout of 64 bits");

#endif
