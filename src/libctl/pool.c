/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

struct pool_piece {
	struct pool_piece *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

void *pool_alloc(struct pool *pool, size_t size)
{
	struct pool_piece *piece = NULL;

	if (!pool->failed && size <= POOL_MAX_BYTES - pool->bytes)
		piece = calloc(1, sizeof(*piece) + size);
	if (!piece) {
		pool->failed = true;
		return NULL;
	}
	pool->bytes += size;
	piece->next = pool->pieces;
	pool->pieces = piece;
	return piece->bytes;
}

const char *pool_str(struct pool *pool, const char *text)
{
	size_t len = strlen(text);
	char *copy = len ? pool_alloc(pool, len + 1) : NULL;

	return copy ? memcpy(copy, text, len) : "";
}

/* A list is full when its length is a power of two. */
void pool_append(struct pool *pool, const void *const **list, size_t *nr, const void *item)
{
	const void **larger = NULL;

	if (!item)
		return;
	if ((*nr & (*nr - 1)) == 0) {
		larger = pool_alloc(pool, (*nr ? *nr * 2 : 1) * sizeof(*larger));
		if (!larger)
			return;
		if (*nr)
			memcpy(larger, *list, *nr * sizeof(*larger));
		*list = larger;
	}
	((const void **)*list)[(*nr)++] = item;
}

void pool_fini(struct pool *pool)
{
	while (pool->pieces) {
		struct pool_piece *piece = pool->pieces;

		pool->pieces = piece->next;
		free(piece);
	}
}

struct pool_owner {
	struct pool pool;
	_Alignas(max_align_t) unsigned char bytes[];
};

void *pool_owner_new(size_t size)
{
	struct pool_owner *owner = calloc(1, sizeof(*owner) + size);

	return owner ? owner->bytes : NULL;
}

static struct pool_owner *pool_owner_of(void *bytes)
{
	return (struct pool_owner *)((unsigned char *)bytes - offsetof(struct pool_owner, bytes));
}

struct pool *pool_of(void *owner)
{
	return &pool_owner_of(owner)->pool;
}

void pool_owner_free(void *owner)
{
	if (!owner)
		return;
	pool_fini(pool_of(owner));
	free(pool_owner_of(owner));
}
