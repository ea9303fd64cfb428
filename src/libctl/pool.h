/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.h - the memory of one result: many small allocations that are freed together. A failed
 * allocation sets @failed, which is tested once, when the result is complete. Owned by the result.
 */
#ifndef LIBCTL_POOL_H
#define LIBCTL_POOL_H

#include <stdbool.h>
#include <stddef.h>

#define POOL_MAX_BYTES (256u << 20) /* a session daemon's answer is not larger */

struct pool_piece;

struct pool {
	struct pool_piece *pieces;
	size_t bytes;
	bool failed;
};

/** Return: zeroed memory; NULL: the allocation failed. */
void *pool_alloc(struct pool *pool, size_t size);
/** A copy of @text; "" if the allocation failed. */
const char *pool_str(struct pool *pool, const char *text);
/** Append @item to a list of pointers; one that is NULL is not appended. */
void pool_append(struct pool *pool, const void *const **list, size_t *nr, const void *item);
void pool_fini(struct pool *pool);

/** A zeroed struct of @size that owns a pool; NULL: there is no memory. */
void *pool_owner_new(size_t size);
struct pool *pool_of(void *owner);
/** Free @owner with its pool. NULL is allowed. */
void pool_owner_free(void *owner);

#endif
