// SPDX-License-Identifier: LGPL-2.1-or-later
#include "place.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "ltt_ring.h"

/* At the beginning of an unused place. */
struct vacant {
	struct vacant *next;
	size_t bytes;
};

static struct vacant *vacant;
static uint32_t busy; /* the list is being changed */

/* Usually only the helper thread runs this: a thread that finds the list locked does not wait and
 * does not use the list. */
static int ring_place_try_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void ring_place_unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void ring_place_after_fork_child(void)
{
	ring_place_unlock();
}

static struct vacant *take_vacant(size_t bytes)
{
	struct vacant **at = &vacant;
	struct vacant *found;

	if (!ring_place_try_lock())
		return NULL;
	while (*at && (*at)->bytes < bytes)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	ring_place_unlock();
	return found;
}

static void *take_new(size_t bytes)
{
	/* Not accessible: holds the place, costs nothing. */
	void *place =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (place == MAP_FAILED)
		return NULL;
	if (mprotect(place, LTT_RING_PAGE, PROT_READ | PROT_WRITE)) {
		munmap(place, bytes);
		return NULL;
	}
	return place;
}

void *ring_place_take(size_t bytes, size_t *ret_bytes)
{
	struct vacant *old = take_vacant(bytes);

	if (!old) {
		*ret_bytes = bytes;
		return take_new(bytes);
	}
	*ret_bytes = old->bytes;
	return memset(old, 0, LTT_RING_PAGE);
}

/* Readable and writable, as a fault on the way may be either. If it can't be mapped the old mapping
 * stays: memory is lost, the program continues. */
void ring_place_give(void *place, size_t bytes)
{
	struct vacant *now = place;
	void *cover =
		mmap((char *)place + LTT_RING_PAGE, bytes - LTT_RING_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	if (cover == MAP_FAILED || !ring_place_try_lock())
		return;
	now->next = vacant;
	now->bytes = bytes;
	vacant = now;
	ring_place_unlock();
}
