/* SPDX-License-Identifier: GPL-2.0-only */
#include "reclaim.h"

#include <fcntl.h>
#include <sched.h>

#include "consumerd/now.h"

/* While so many are removed, the producers have less space: a few microseconds. */
#define RECLAIM_CHUNK (256u << 10)

/* Without an effect where the kernel refuses it: the memory stays. */
static void reclaim_remove_pages(const struct ring_reader *r, uint64_t from, uint64_t to)
{
	const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	while (from < to) {
		uint64_t at = from & (r->size - 1), bytes = MIN(to - from, r->size - at);

		(void)!fallocate(r->reclaim.fd, how, (off_t)(r->reclaim.base + at), (off_t)bytes);
		from += bytes;
	}
}

/*
 * Because of the gap, no producer writes to the other bytes of the first page, which were released
 * before. The page with @pos has newer records. The word is compared as it is the one that the
 * producers heed.
 */
void reclaim_released(const struct ring_reader *r, uint64_t pos)
{
	const uint64_t mask = ~((uint64_t)r->reclaim.page - 1);
	uint64_t consumed = __atomic_load_n(&r->cons->consumed, __ATOMIC_RELAXED);

	if (r->reclaim.at_release && r->reclaim.fd >= 0 &&
	    consumed == (r->released & LTT_POS_MASK) && pos - r->released <= r->size)
		reclaim_remove_pages(r, r->released & mask, pos & mask);
}

static uint64_t *reclaim_passed(const struct ring_reader *r, uint64_t pos)
{
	return &r->reclaim.passed_ns[(pos & (r->size - 1)) / r->subbuf_size];
}

void reclaim_note_release(struct ring_reader *r, uint64_t before)
{
	uint64_t end = r->released & ~(r->subbuf_size - 1), now;

	if (!r->reclaim.passed_ns || (before ^ r->released) < r->subbuf_size)
		return;
	now = now_ns();
	before = MAX(before & ~(r->subbuf_size - 1), end - MIN(end, r->size));
	for (; before < end; before += r->subbuf_size)
		*reclaim_passed(r, before) = now;
}

/* The producer's position, or behind all that is plausible. */
static uint64_t reclaim_pub(const struct ring_reader *r)
{
	uint64_t pub = __atomic_load_n(&r->prod->pub, __ATOMIC_ACQUIRE);

	return r->released + ((pub - r->released) & LTT_POS_MASK);
}

/* Producers write to the sub-buffer of the position without reading `consumed`, as they know that
 * there is space. */
static uint64_t reclaim_first(const struct ring_reader *r)
{
	return (reclaim_pub(r) | (r->subbuf_size - 1)) + 1;
}

/* Whole pages of free sub-buffers that were not given back before. */
static void reclaim_range(const struct ring_reader *r, uint64_t *ret_from, uint64_t *ret_to)
{
	const uint64_t unit = MAX(r->subbuf_size, (uint64_t)r->reclaim.page);

	*ret_from = MAX(reclaim_first(r), r->reclaim.done);
	*ret_from = (*ret_from + unit - 1) & ~(unit - 1);
	*ret_to = (r->released + r->size) & ~(unit - 1);
}

bool reclaim_is_due(const struct ring_reader *r, uint64_t age_ns, uint64_t now,
		    uint64_t *ret_due_ns)
{
	uint64_t from, to, passed;

	*ret_due_ns = UINT64_MAX;
	if (!r->reclaim.passed_ns || r->reclaim.fd < 0)
		return false;
	reclaim_range(r, &from, &to);
	if (from >= to)
		return false;
	passed = *reclaim_passed(r, from);
	if (now - passed >= age_ns)
		return true;
	*ret_due_ns = passed + age_ns;
	return false;
}

void reclaim_lower(const struct ring_reader *r, uint64_t from)
{
	__atomic_store_n(&r->cons->lowered, LTT_RING_LOWERED | (r->released & LTT_POS_MASK),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&r->cons->consumed, (from - r->size) & LTT_POS_MASK, __ATOMIC_SEQ_CST);
}

void reclaim_restore(const struct ring_reader *r)
{
	__atomic_store_n(&r->cons->consumed, r->released & LTT_POS_MASK, __ATOMIC_RELEASE);
	__atomic_store_n(&r->cons->lowered, 0, __ATOMIC_RELEASE);
}

uint64_t reclaim_position(const struct ltt_ring_cons *cons)
{
	uint64_t consumed, lowered;

	do {
		consumed = __atomic_load_n(&cons->consumed, __ATOMIC_ACQUIRE);
		lowered = __atomic_load_n(&cons->lowered, __ATOMIC_ACQUIRE);
	} while (consumed != __atomic_load_n(&cons->consumed, __ATOMIC_RELAXED));
	return (lowered ? lowered : consumed) & LTT_POS_MASK;
}

/* The CPU is read before the position: a sequence that began before has restarted, or its record is
 * in front of the position. */
static bool reclaim_chunk(const struct ring_reader *r, uint64_t from, uint64_t to, int cpu)
{
	bool safe;

	reclaim_lower(r, from);
	safe = sched_getcpu() == cpu && reclaim_first(r) <= from;
	if (safe)
		reclaim_remove_pages(r, from, to);
	reclaim_restore(r);
	return safe;
}

/* From the end, so that the producers have as much space as possible meanwhile. */
bool reclaim_free(struct ring_reader *r, uint64_t age_ns, uint64_t now, int cpu)
{
	uint64_t from, to, at;

	if (!r->reclaim.passed_ns || r->reclaim.fd < 0)
		return true;
	reclaim_range(r, &from, &to);
	for (at = from; at < to && now - *reclaim_passed(r, at) >= age_ns; at += r->subbuf_size)
		;
	to = MIN(at, to) & ~((uint64_t)r->reclaim.page - 1);
	for (at = to; at > from;) {
		uint64_t end = at;

		at -= MIN(at - from, (uint64_t)RECLAIM_CHUNK);
		if (!reclaim_chunk(r, at, end, cpu))
			return false;
	}
	r->reclaim.done = MAX(r->reclaim.done, to);
	return true;
}
