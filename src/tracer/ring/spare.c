// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A few slots in static memory, each taken and returned by one atomic operation; if all are taken,
 * a thread maps pages.
 */
#include "spare.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include <ltt/site.h>

#include "ltt_ring.h"

#define NR_SLOTS 8u
#define SLOT_BYTES (LTT_RING_MAX_RECORD + LTT_PAYLOAD_SLACK)
#define ALL_TAKEN ((1u << NR_SLOTS) - 1)

static unsigned char slots[NR_SLOTS][SLOT_BYTES] __attribute__((aligned(64)));
static const void *owners[NR_SLOTS];
static uint32_t taken;						    /* bit s: slot s */
static __thread char me __attribute__((tls_model("initial-exec"))); /* its address is the thread */

static void *spare_take_slot(void)
{
	uint32_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED);

	while (now != ALL_TAKEN) {
		uint32_t slot = (uint32_t)__builtin_ctz(~now);

		if (__atomic_compare_exchange_n(&taken, &now, now | 1u << slot, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&owners[slot], &me, __ATOMIC_RELAXED);
			return slots[slot];
		}
	}
	return NULL;
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

void *spare_take(void)
{
	void *memory = spare_take_slot();

	return memory ? memory : map_pages();
}

void spare_release(void *memory)
{
	size_t at = (size_t)((unsigned char *)memory - slots[0]);

	if (at < sizeof(slots))
		__atomic_fetch_and(&taken, ~(1u << at / SLOT_BYTES), __ATOMIC_RELEASE);
	else
		unmap_pages(memory);
}

/* Slots of threads that did not survive the fork are free again. */
void spare_after_fork_child(void)
{
	for (uint32_t slot = 0; slot < NR_SLOTS; slot++)
		if (__atomic_load_n(&owners[slot], __ATOMIC_RELAXED) != &me)
			__atomic_fetch_and(&taken, ~(1u << slot), __ATOMIC_RELAXED);
}
