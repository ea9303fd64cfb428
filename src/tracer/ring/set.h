/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * set.h - a mapped ring set, as the files ring*.c see it.
 *
 * Made and unmapped by the helper thread; read by every thread, by signal
 * handlers and by the restartable sequence (section_*.h). Constant once made,
 * but for the fallback producer's locks, `disowned` and `doorbell`.
 *
 * Memory, in one place (place.h): a page with this structure, then
 * the rings, at equal distances, so that a multiplication finds one. A ring is
 *
 *   its page of the ctl file (read-only) | producer block | data | data again
 *
 * and a producer block of several pages (very many sub-buffers) comes whole in
 * front of that, and then its first page again in its place: a ring's words are
 * always one page before its data and one page behind the consumer's.
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
 * @limit: most bytes that may be unconsumed behind a record; more than a
 *         position can hold in overwrite mode.
 * @subbuf_mask: the bits of a position that number the sub-buffer, and above.
 * @data_mask: data_size - 1.
 * @region_back: from the page in front of a ring's data area back to the whole
 *               producer block, if that is longer; else 0.
 * @elsewhere: what a sequence answers that may not write: RES_ELSEWHERE and why.
 * @max_payload: a record of this payload and any header fits max_record.
 * @stride: from one ring's mapping to the next.
 * @base: page in front of the data area of ring 0.
 * @bytes: of the place (place.h) that the set is in.
 * @lock: the fallback producer's try-locks, one a ring; exclusive sets only.
 */
struct ring_set {
	uint64_t limit;
	uint64_t subbuf_mask;
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
	uint32_t *lock;
};

/*
 * The result of an attempt to record. 0: there is no listener, nothing to do.
 * Published: LTT_RING_ON and LTT_RING_WAKE as they were read, and perhaps
 * RES_CROSSED. Plain numbers: assembly takes them.
 */
#define RES_CROSSED 16	   /* published and entered another sub-buffer */
#define RES_REFUSED 32	   /* ring full; counted */
#define RES_TOO_LONG 64	   /* not counted yet */
#define RES_RESTARTS 128   /* the bound was hit; not counted yet */
#define RES_ELSEWHERE 256  /* no ring for this sequence; not counted yet */
#define RES_GIVEN 512	   /* ... the clock must be read before */
#define RES_EXCLUSIVE 1024 /* ... the fallback producer's set */
#define RES_RING_SHIFT 16  /* with RES_CROSSED: which ring */

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

static inline const struct ltt_ring_cons *ring_cons(const struct ring_set *set, uint32_t ring)
{
	return (const struct ltt_ring_cons *)(set->base + ring * set->stride - LTT_RING_PAGE);
}

static inline uint8_t *ring_data(const struct ring_set *set, uint32_t ring)
{
	return (uint8_t *)ring_prod(set, ring) + LTT_RING_PAGE;
}

#endif
