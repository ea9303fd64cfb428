/* SPDX-License-Identifier: GPL-2.0-only */
/* A table finds all its entries, however it has grown; ids that a peer chooses maliciously do not
 * share a bucket; adding and removing entries does not make it grow. */
#include <stdio.h>

#include "base/idmap.h"
#include "check.h"

#define NR 20000u

static struct idmap_node nodes[NR];

static unsigned int longest(const struct idmap *map)
{
	unsigned int most = 0;

	for (size_t i = 0; i < (size_t)1 << map->bits; i++) {
		const struct list_node *at;
		unsigned int nr = 0;

		for (at = map->buckets[i].next; at != &map->buckets[i]; at = at->next)
			nr++;
		most = nr > most ? nr : most;
	}
	return most;
}

static void check_step(uint64_t step)
{
	struct idmap map;

	idmap_init(&map);
	for (uint32_t i = 0; i < NR; i++)
		idmap_add(&map, &nodes[i], i * step);
	CHECK_IS(longest(&map), <=, 64);
	for (uint32_t i = 0; i < NR; i++)
		CHECK_IS(idmap_find(&map, i * step), ==, &nodes[i]);
	CHECK(!idmap_find(&map, NR * step));
	for (uint32_t i = 0; i < NR; i += 2)
		idmap_remove(&nodes[i]);
	for (uint32_t i = 0; i < NR; i++)
		CHECK_IS(idmap_find(&map, i * step), ==, (i % 2 ? &nodes[i] : NULL));
	idmap_fini(&map);
}

static void check_same(void)
{
	struct idmap map;

	idmap_init(&map);
	idmap_add(&map, &nodes[0], 7);
	idmap_add(&map, &nodes[1], 8);
	idmap_add(&map, &nodes[2], 7);
	CHECK_IS(idmap_find(&map, 7), ==, &nodes[0]);
	CHECK_IS(idmap_next(&map, &nodes[0]), ==, &nodes[2]);
	CHECK(!idmap_next(&map, &nodes[2]));
	CHECK(!idmap_next(&map, &nodes[1]));
	idmap_fini(&map);
}

static void check_flow(void)
{
	struct idmap map;

	idmap_init(&map);
	for (uint32_t i = 0; i < 1000000; i++) {
		if (i >= 10)
			idmap_remove(&nodes[(i - 10) % NR]);
		idmap_add(&map, &nodes[i % NR], i);
	}
	CHECK_IS(map.bits, <=, 6);
	idmap_fini(&map);
}

static void check_texts(void)
{
	struct idmap map;
	char text[32];

	idmap_init(&map);
	for (uint32_t i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "ust/pid/prog-%u", i);
		idmap_add(&map, &nodes[i], idmap_hash_text(text));
	}
	CHECK_IS(longest(&map), <=, 16);
	CHECK_IS(idmap_find(&map, idmap_hash_text("ust/pid/prog-777")), ==, &nodes[777]);
	CHECK_IS(idmap_hash_text(""), !=, idmap_hash_text("a"));
	idmap_fini(&map);
}

int main(void)
{
	const uint64_t steps[] = { 1, 1024, 1 << 20, 1ull << 32, 1ull << 44, 0x9e3779b97f4a7c15 };

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		check_step(steps[i]);
	check_same();
	check_flow();
	check_texts();
	return 0;
}
