/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "idmap.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "mem.h"

#define FIRST_BITS 4
#define MAX_BITS 24

static uint64_t secret[2]; /* factor and addend of the hash */

static void make_secret(void)
{
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != sizeof(secret)) {
		secret[0] = 0x9e3779b97f4a7c15ull; /* 2^64 / the golden ratio: spreads small ids */
		secret[1] = (uintptr_t)&secret;
	}
	secret[0] |= 1;
}

static struct list_node *bucket_of(const struct idmap *map, uint64_t id)
{
	return &map->buckets[(id * secret[0] + secret[1]) >> (64 - map->bits)];
}

static void make_buckets(struct idmap *map, unsigned int bits)
{
	map->bits = bits;
	map->buckets = xalloc(sizeof(*map->buckets) << bits);
	for (size_t i = 0; i < (size_t)1 << bits; i++)
		list_init(&map->buckets[i]);
}

void idmap_init(struct idmap *map)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_secret);
	map->nr = 0;
	make_buckets(map, FIRST_BITS);
}

void idmap_fini(struct idmap *map)
{
	free(TAKE(map->buckets));
	map->nr = 0;
}

static uint32_t idmap_count(const struct idmap *map)
{
	const struct list_node *at;
	uint32_t nr = 0;

	for (size_t i = 0; i < (size_t)1 << map->bits; i++)
		for (at = map->buckets[i].next; at != &map->buckets[i]; at = at->next)
			nr++;
	return nr;
}

static void idmap_grow(struct idmap *map)
{
	const size_t nr = (size_t)1 << map->bits;
	struct list_node *old = map->buckets;

	make_buckets(map, map->bits + 1);
	for (size_t i = 0; i < nr; i++)
		while (!list_empty(&old[i])) {
			struct idmap_node *node = list_entry(old[i].next, struct idmap_node, node);

			list_remove(&node->node);
			list_append(bucket_of(map, node->id), &node->node);
		}
	free(old);
}

void idmap_add(struct idmap *map, struct idmap_node *node, uint64_t id)
{
	if (++map->nr >> map->bits && map->bits < MAX_BITS) {
		map->nr = idmap_count(map) + 1;
		if (map->nr >>
		    (map->bits - 1)) /* otherwise half of the counted nodes were removed */
			idmap_grow(map);
	}
	node->id = id;
	list_append(bucket_of(map, id), &node->node);
}

void idmap_remove(struct idmap_node *node)
{
	list_remove(&node->node);
}

static struct idmap_node *find_from(const struct list_node *at, const struct list_node *bucket,
				    uint64_t id)
{
	for (; at != bucket; at = at->next) {
		struct idmap_node *node =
			list_entry((struct list_node *)at, struct idmap_node, node);

		if (node->id == id)
			return node;
	}
	return NULL;
}

struct idmap_node *idmap_find(const struct idmap *map, uint64_t id)
{
	const struct list_node *bucket = bucket_of(map, id);

	return find_from(bucket->next, bucket, id);
}

struct idmap_node *idmap_next(const struct idmap *map, const struct idmap_node *node)
{
	return find_from(node->node.next, bucket_of(map, node->id), node->id);
}

uint64_t idmap_hash_text(const char *text)
{
	uint64_t hash = secret[1];

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull + (hash >> 47);
	return hash;
}
