/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slab.h - memory for the windows of many streams, which are open at once: pieces of equal size of
 * one mapping in huge pages. A quarter of the time of reading 100 streams went to the faults of
 * small pages. Owned by a view, used by any of its threads.
 */
#ifndef READ_FEED_SLAB_H
#define READ_FEED_SLAB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct slab
 * @piece, @nr: size and number of pieces; no piece: memory comes from malloc().
 * @map, @map_size: the mapping, @begin: of the first piece in it; NULL: not made yet.
 * @nr_used: pieces that were taken once; @free: the last one that was given back, which begins with
 *	the address of the one before it.
 */
struct slab {
	pthread_mutex_t lock;
	size_t piece, nr;
	void *map;
	size_t map_size;
	uint8_t *begin;
	size_t nr_used;
	void *free;
};

void slab_init(struct slab *slab, size_t piece, size_t nr);
void slab_fini(struct slab *slab);

/** Memory for @size bytes, from malloc() if a piece is too small, or most of it would not be used.
 *  @slab: may be NULL. Return: NULL: there is no memory. */
void *slab_take(struct slab *slab, size_t size);
void slab_give(struct slab *slab, void *memory);

#endif
