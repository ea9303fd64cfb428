/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "slab.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/macros.h"

#define HUGE_BYTES ((size_t)2 << 20)

void slab_init(struct slab *slab, size_t piece, size_t nr)
{
	*slab = (struct slab){ .piece = piece, .nr = piece * nr < HUGE_BYTES ? 0 : nr };
	pthread_mutex_init(&slab->lock, NULL);
}

void slab_fini(struct slab *slab)
{
	if (slab->map)
		munmap(slab->map, slab->map_size);
	pthread_mutex_destroy(&slab->lock);
}

/* Return: whether there are pieces. */
static bool slab_map(struct slab *slab)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uintptr_t at;

	if (slab->map)
		return true;
	slab->map_size = slab->piece * slab->nr + HUGE_BYTES;
	slab->map = mmap(NULL, slab->map_size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (slab->map == MAP_FAILED) {
		slab->map = NULL;
		slab->nr = 0;
		return false;
	}
	at = ((uintptr_t)slab->map + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	slab->begin = (uint8_t *)at;
	(void)madvise(slab->begin, slab->piece * slab->nr, MADV_HUGEPAGE); /* if it can be had */
	return true;
}

static void *slab_take_piece(struct slab *slab)
{
	void *memory = NULL;

	pthread_mutex_lock(&slab->lock);
	if (slab->free) {
		memory = slab->free;
		slab->free = *(void **)memory;
	} else if (slab->nr_used < slab->nr && slab_map(slab)) {
		memory = slab->begin + slab->piece * slab->nr_used++;
	}
	pthread_mutex_unlock(&slab->lock);
	return memory;
}

void *slab_take(struct slab *slab, size_t size)
{
	void *memory = NULL;

	if (slab && size <= slab->piece && size > slab->piece / 2)
		memory = slab_take_piece(slab);
	return memory ?: malloc(size);
}

void slab_give(struct slab *slab, void *memory)
{
	uintptr_t at = (uintptr_t)memory;

	if (!slab || !slab->begin || at < (uintptr_t)slab->begin ||
	    at >= (uintptr_t)slab->begin + slab->piece * slab->nr) {
		free(memory);
		return;
	}
	pthread_mutex_lock(&slab->lock);
	*(void **)memory = slab->free;
	slab->free = memory;
	pthread_mutex_unlock(&slab->lock);
}
