// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A few slots in static memory, each taken and returned by one atomic operation; if all are taken,
 * a thread maps pages.
 *
 * A slot has the thread pointer of its owner, and the frame in which it was taken. If a thread
 * finds its own, of the same use, with a frame that is not above its own, a signal handler has left
 * that event by siglongjmp(), and the slot is taken over. The last calls on the way to spare_take()
 * are the same for one use, and each call before makes the frame lower by a unit at least, so the
 * frame of an event within another one is always lower.
 */
#include "spare.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include <ltt/site.h>

#include "fallback.h"
#include "ltt_ring.h"
#include "rseq.h"
#include "section.h"
#include "tracer/base/large.h"

#define NR_SLOTS 8u
#define SLOT_BYTES (LTT_RING_MAX_RECORD + LTT_PAYLOAD_SLACK)
#define FRAME_UNIT_BITS 4 /* stacks are aligned so */
#define FRAME_SHIFT 2	  /* above the use */
#define FRAME_MASK (((1ull << 20) - 1) << FRAME_SHIFT)
#define FRAME_REACH (1ull << 16 << FRAME_SHIFT) /* frames that far are of another stack */
#define THREAD_SHIFT 22
#define THREAD_UNIT_BITS 6
#define ADDRESS_BITS (64 - THREAD_SHIFT + THREAD_UNIT_BITS)

static unsigned char slots[NR_SLOTS][SLOT_BYTES] TRACER_LARGE __attribute__((aligned(64)));
static uint64_t owners[NR_SLOTS]; /* 0: free */

/* 0: there is none. */
static uint64_t spare_owner(enum spare_use use, const void *frame)
{
	uint64_t thread = (uint64_t)(uintptr_t)section_thread_pointer();
	uint64_t units = (uint64_t)(uintptr_t)frame >> FRAME_UNIT_BITS;

	if (thread >> ADDRESS_BITS)
		return 0;
	return thread >> THREAD_UNIT_BITS << THREAD_SHIFT | (units << FRAME_SHIFT & FRAME_MASK) |
	       use;
}

static bool spare_was_left(uint64_t owner, uint64_t me)
{
	return ((owner ^ me) & ~FRAME_MASK) == 0 && ((me - owner) & FRAME_MASK) <= FRAME_REACH &&
	       !ring_sequences_stopped() && !ring_is_on_other_stack();
}

static bool spare_take_slot(uint32_t slot, uint64_t me)
{
	uint64_t owner = __atomic_load_n(&owners[slot], __ATOMIC_RELAXED);

	return (!owner || spare_was_left(owner, me)) &&
	       __atomic_compare_exchange_n(&owners[slot], &owner, me, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void *map_pages(void)
{
	int saved = errno;
	void *pages =
		mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return pages == MAP_FAILED ? NULL : pages;
}

static void unmap_pages(void *pages)
{
	int saved = errno;

	munmap(pages, SLOT_BYTES);
	errno = saved;
}

__attribute__((noinline)) void *spare_take(enum spare_use use)
{
	uint64_t me = spare_owner(use, __builtin_frame_address(0));

	for (uint32_t slot = 0; me && slot < NR_SLOTS; slot++)
		if (spare_take_slot(slot, me))
			return slots[slot];
	return map_pages();
}

void spare_release(void *memory)
{
	size_t at = (size_t)((unsigned char *)memory - slots[0]);

	if (at < sizeof(slots))
		__atomic_store_n(&owners[at / SLOT_BYTES], 0, __ATOMIC_RELEASE);
	else
		unmap_pages(memory);
}

/* Slots of threads that did not survive the fork are free again. */
void spare_after_fork_child(void)
{
	uint64_t me = spare_owner(SPARE_PAYLOAD, __builtin_frame_address(0));

	for (uint32_t slot = 0; slot < NR_SLOTS; slot++)
		if (owners[slot] >> THREAD_SHIFT != me >> THREAD_SHIFT)
			__atomic_store_n(&owners[slot], 0, __ATOMIC_RELAXED);
}
