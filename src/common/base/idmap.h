/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * idmap.h - hash table that finds objects by number or by text; its nodes are embedded in the
 * objects, and it grows with their number. The hash is seeded, so that peers can't choose numbers
 * that share a bucket. A map is used by one thread at a time.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stdint.h>

#include "list.h"

struct idmap_node {
	struct list_node node;
	uint64_t id;
};

struct idmap {
	struct list_node *buckets;
	unsigned int bits; /* of the number of buckets */
	uint32_t nr;	   /* nodes, including removed ones that are not yet subtracted */
};

void idmap_init(struct idmap *map);
/** The remaining nodes are not touched, and must not be removed any more. */
void idmap_fini(struct idmap *map);

void idmap_add(struct idmap *map, struct idmap_node *node, uint64_t id);
void idmap_remove(struct idmap_node *node);
/** The first node of @id, or the next one of the same id behind @node; NULL: there is none. */
struct idmap_node *idmap_find(const struct idmap *map, uint64_t id);
struct idmap_node *idmap_next(const struct idmap *map, const struct idmap_node *node);

/** The hash of a text. Two texts may have the same hash: compare them. */
uint64_t idmap_hash_text(const char *text);

/** The entry that holds the node of @id, or NULL. */
#define idmap_get(map, wanted, type, member)                         \
	({                                                           \
		struct idmap_node *found_ = idmap_find(map, wanted); \
                                                                     \
		found_ ? container_of(found_, type, member) : NULL;  \
	})

#endif
