/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * set.h - a mapped ring set, private to the files of this folder.
 *
 * Made and unmapped by the helper thread; read by all threads, signal
 * handlers and restartable sequences (section_*.h). Constant once made,
 * except the fallback producer's locks, `disowned`, `doorbell` and `wait_until_ns`.
 *
 * Memory, in one range (place.h): a page with this structure, then
 * the rings, at equal distances. The mapping of a ring is
 *
 *   its page of the ctl file (read-only) | producer block | data | data again
 *
 * If the producer block has several pages (very many sub-buffers), it is mapped completely
 * before that, and its first page once more at its place: so a ring's producer words are
 * always one page before its data, and one page after the consumer's words. Rings that may have
 * large pages have gaps before them (ltt_ring_large_gap()).
 */
#ifndef TRACER_RING_SET_H
#define TRACER_RING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "ltt_ring.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define RING_MAX_RINGS 4096u /* a ring's number fits RES_RING_SHIFT's field */

/**
 * struct ring_set
 * @limit: most bytes that may be unconsumed after a record; in overwrite mode
 *         larger than any position.
 * @step_mask: the bits of a position above the offset in the step: the part of a sub-buffer after
 *             which a record has RES_STEPPED.
 * @subbuf_mask: the bits of a position above the offset in the sub-buffer.
 * @data_mask: data_size - 1.
 * @region_back: bytes from the complete producer block to its first page before the
 *               data, if the block has several pages; else 0.
 * @elsewhere: the result of a sequence that may not write: RES_ELSEWHERE and the reason.
 * @max_payload: a record of this payload and any header fits max_record.
 * @stride: bytes from one ring's mapping to the next.
 * @base: page before the data area of ring 0.
 * @bytes: size of the memory range (place.h) of the set.
 * @lock: the fallback producer's try-locks, one for each ring, 0 or the mark of the owner
 *        (fallback.c), shared with unreported children; exclusive sets only.
 * @populating: for populate.h, one for each ring; NULL: pages are populated by their first
 *              record, as those of rings that give memory back.
 * @blocking_us: longest time that a thread waits in a full ring; 0: none does, and the sequence
 *               counts the loss.
 * @wait_until_ns: of CLOCK_MONOTONIC: no thread waits longer; 0: no limit.
 * @own: a byte that is 1 in the process that mapped the set, 0 in children; NULL: not known.
 */
struct ring_set {
	uint64_t limit;
	uint64_t step_mask;
	uint64_t data_mask;
	uint64_t region_back;
	uint32_t subbuf_shift;
	uint32_t elsewhere;
	uint32_t nr_rings;
	uint32_t clock;
	uint64_t max_payload;
	uint64_t stride;
	uint8_t *base;
	size_t bytes;
	uint32_t *doorbell;
	uint32_t exclusive;
	uint32_t disowned;
	uint64_t *lock;
	uint64_t subbuf_mask;
	struct populating *populating;
	const uint8_t *own;
	uint32_t blocking_us;
	uint64_t wait_until_ns;
};

/*
 * The result of an attempt to record. 0: the hook has no binding. If the record was
 * published: LTT_RING_ON and LTT_RING_WAKE as they were read, and possibly
 * RES_STEPPED and RES_CROSSED. Plain numbers for assembly.
 */
#define RES_CROSSED 16	   /* published and entered another sub-buffer; with RES_STEPPED */
#define RES_REFUSED 32	   /* ring full; counted */
#define RES_TOO_LONG 64	   /* not counted yet */
#define RES_RESTARTS 128   /* SECTION_RESTARTS was reached; not counted yet */
#define RES_ELSEWHERE 256  /* this sequence can't write the set; not counted yet; the reason: */
#define RES_GIVEN 512	   /* the clock must be read before */
#define RES_EXCLUSIVE 1024 /* only the fallback producer writes the set */
#define RES_PREPARE 2048   /* the record needs another preparation; not counted */
#define RES_STEPPED 4096   /* published and entered another step */
#define RES_FULL 8192	   /* ring full, and the set has blocking_us; not counted yet */
#define RES_RING_SHIFT 16  /* with RES_STEPPED: the ring's number */

/** A ring's words. Only the first page: regions are elsewhere. */
static inline struct ltt_ring_prod *ring_prod(const struct ring_set *set, uint32_t ring)
{
	return (struct ltt_ring_prod *)(set->base + ring * set->stride);
}

static inline struct ltt_ring_region *ring_regions(const struct ring_set *set, uint32_t ring)
{
	uint8_t *words = set->base + ring * set->stride - set->region_back;

	return ((struct ltt_ring_prod *)words)->region;
}

/** The words (LTT_FILTER_WORDS) of rules with a rate or number, which all processes share. */
static inline uint64_t *ring_shared_words(const struct ring_set *set)
{
	uint64_t num_subbuf = (set->data_mask + 1) >> set->subbuf_shift;

	return (uint64_t *)&ring_regions(set, 0)[num_subbuf];
}

static inline const struct ltt_ring_cons *ring_cons(const struct ring_set *set, uint32_t ring)
{
	return (const struct ltt_ring_cons *)(set->base + ring * set->stride - LTT_RING_PAGE);
}

static inline uint8_t *ring_data(const struct ring_set *set, uint32_t ring)
{
	return (uint8_t *)ring_prod(set, ring) + LTT_RING_PAGE;
}

#endif
