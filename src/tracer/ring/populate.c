// SPDX-License-Identifier: LGPL-2.1-or-later
#include "populate.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "context.h"
#include "ltt_ring.h"
#include "set.h"
#include "sys.h"

/* Bytes populated by one request, and by one system call: meanwhile mmap() waits in the program's
 * threads. */
#define LEAST (256u << 10)
#define MOST (4u << 20)
#define CHUNK (64u << 10)

#define VALID (1ull << 63)

/**
 * struct populating - of one ring.
 * @request_at: the helper is woken from this position on, with VALID; 0: by the first step.
 * @until: position up to which pages are populated; the helper's, as the next.
 * @bytes: populated in all.
 * @requested: the helper was woken and has not finished.
 * @done: all pages are populated, or it is not possible.
 */
struct populating {
	uint64_t request_at;
	uint64_t until;
	uint64_t bytes;
	uint32_t requested;
	uint32_t done;
};

static void (*wake_helper)(void);
static uint32_t requested; /* for any ring */
static bool refused;	   /* by the kernel, for all */

struct populating *populating_new(uint32_t nr)
{
	void *pages = mmap(NULL, nr * sizeof(struct populating), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void populating_free(struct populating *populating, uint32_t nr)
{
	if (populating)
		munmap(populating, nr * sizeof(*populating));
}

void populate_on_request(void (*wake)(void))
{
	wake_helper = wake;
}

/* Positions are compared modulo 2^39. */
static bool is_reached(uint64_t at, uint64_t position)
{
	return !((position - at) & (LTT_POS_MASK + 1) >> 1);
}

static uint64_t position_of(const struct ring_set *set, uint32_t ring)
{
	return __atomic_load_n(&ring_prod(set, ring)->pub, __ATOMIC_RELAXED) & LTT_POS_MASK;
}

void populate_request(const struct ring_set *set, uint32_t ring)
{
	struct populating *p = set->populating ? &set->populating[ring] : NULL;
	uint64_t at;

	if (!p || __atomic_load_n(&p->done, __ATOMIC_RELAXED))
		return;
	at = __atomic_load_n(&p->request_at, __ATOMIC_RELAXED);
	if ((at & VALID) && !is_reached(at, position_of(set, ring)))
		return;
	if (!wake_helper || !context_may_call(CONTEXT_CALLS_POPULATE) ||
	    __atomic_exchange_n(&p->requested, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_store_n(&requested, 1, __ATOMIC_RELEASE);
	wake_helper();
}

bool populate_is_requested(void)
{
	return __atomic_load_n(&requested, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&requested, 0, __ATOMIC_ACQUIRE);
}

/* An old kernel, or a filter that returns errors, refuses it for all memory; others for this. The
 * next request tries again after an error that may pass. */
static void heed_error(struct populating *p, long error)
{
	if (error == -EINTR || error == -EAGAIN)
		return;
	__atomic_store_n(&p->done, 1, __ATOMIC_RELAXED);
	if (error != -ENOMEM && error != -EFAULT && error != -EHWPOISON)
		refused = true;
}

/* The part of [@from, @to) that is one chunk, and contiguous. */
static uint64_t chunk_bytes(const struct ring_set *set, uint64_t from, uint64_t to)
{
	uint64_t bytes = CHUNK - (from & (CHUNK - 1));
	uint64_t end = set->data_mask + 1 - (from & set->data_mask);

	bytes = bytes < end ? bytes : end;
	return bytes < to - from ? bytes : to - from;
}

/* @to: beyond the position; a page that the producer has passed in the meantime is left out. */
static void populate_until(const struct ring_set *set, uint32_t ring, uint64_t from, uint64_t to)
{
	struct populating *p = &set->populating[ring];

	while (from != to) {
		uint64_t bytes = chunk_bytes(set, from, to);
		uint8_t *at = ring_data(set, ring) + (from & set->data_mask);
		long ret = ring_syscall(SYS_madvise, (long)at, (long)bytes, POPULATE_ADVICE, 0);

		if (ret) {
			heed_error(p, ret);
			return;
		}
		from += bytes;
		p->bytes += bytes;
	}
	p->until = to;
}

static void populate_ring(const struct ring_set *set, uint32_t ring)
{
	struct populating *p = &set->populating[ring];
	uint64_t size = set->data_mask + 1;
	uint64_t position = position_of(set, ring) & ~(uint64_t)(LTT_RING_PAGE - 1);
	uint64_t ahead = p->bytes < LEAST ? LEAST : p->bytes < MOST ? p->bytes : MOST;
	uint64_t known = p->request_at ? (p->until - position) & LTT_POS_MASK : 0;

	ahead = ahead < size ? ahead : size;
	known = known < ahead ? known : 0; /* else the producer was faster */
	populate_until(set, ring, position + known, position + ahead);
	if (p->bytes >= size)
		__atomic_store_n(&p->done, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&p->request_at, VALID | ((position + ahead / 2) & LTT_POS_MASK),
			 __ATOMIC_RELAXED);
}

void populate_set(const struct ring_set *set)
{
	for (uint32_t ring = 0; set->populating && ring < set->nr_rings; ring++) {
		struct populating *p = &set->populating[ring];

		if (!__atomic_load_n(&p->requested, __ATOMIC_ACQUIRE))
			continue;
		if (refused || !context_may_call(CONTEXT_CALLS_POPULATE))
			__atomic_store_n(&p->done, 1, __ATOMIC_RELAXED);
		if (!p->done)
			populate_ring(set, ring);
		__atomic_store_n(&p->requested, 0, __ATOMIC_RELEASE);
	}
}

void populate_after_fork_child(const struct ring_set *set)
{
	if (set->populating)
		memset(set->populating, 0, set->nr_rings * sizeof(*set->populating));
}
