/* SPDX-License-Identifier: GPL-2.0-only */
/* idmap.h - find things by id: a hash table of nodes embedded in them. One thread. */
#ifndef CONSUMERD_IDMAP_H
#define CONSUMERD_IDMAP_H

#include <stdint.h>

#include "base/list.h"

#define IDMAP_BUCKETS 1024u

struct idmap_node {
	struct list_node node;
	uint64_t id;
};

struct idmap {
	struct list_node buckets[IDMAP_BUCKETS];
};

static inline struct list_node *idmap_bucket(struct idmap *map, uint64_t id)
{
	return &map->buckets[id % IDMAP_BUCKETS];
}

static inline void idmap_init(struct idmap *map)
{
	for (unsigned int i = 0; i < IDMAP_BUCKETS; i++)
		list_init(&map->buckets[i]);
}

static inline void idmap_add(struct idmap *map, struct idmap_node *node, uint64_t id)
{
	node->id = id;
	list_append(idmap_bucket(map, id), &node->node);
}

static inline void idmap_remove(struct idmap_node *node)
{
	list_remove(&node->node);
}

static inline struct idmap_node *idmap_find(struct idmap *map, uint64_t id)
{
	struct idmap_node *pos;

	list_for_each(pos, idmap_bucket(map, id), node)
		if (pos->id == id)
			return pos;
	return NULL;
}

/** The entry that holds the node of @id, or NULL. */
#define idmap_get(map, wanted, type, member)                         \
	({                                                           \
		struct idmap_node *found_ = idmap_find(map, wanted); \
                                                                     \
		found_ ? container_of(found_, type, member) : NULL;  \
	})

#endif
