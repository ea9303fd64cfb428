/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of windows: pieces of one mapping, which are used again, and malloc() for all else. */
#include <string.h>

#include "check.h"
#include "read/feed/slab.h"

#define PIECE ((size_t)300 << 10)
#define PIECES 9u

static bool is_piece(const struct slab *slab, const uint8_t *memory)
{
	return memory >= slab->begin && memory < slab->begin + PIECE * PIECES;
}

static void check_pieces(void)
{
	uint8_t *all[PIECES + 1], *again;
	struct slab slab;

	slab_init(&slab, PIECE, PIECES);
	for (uint32_t i = 0; i <= PIECES; i++) {
		all[i] = slab_take(&slab, i % 2 ? PIECE : PIECE / 2 + 1);
		CHECK(all[i]);
		CHECK_IS(is_piece(&slab, all[i]), ==, i < PIECES);
		memset(all[i], (int)i, i % 2 ? PIECE : PIECE / 2 + 1);
	}
	for (uint32_t i = 0; i < PIECES; i++)
		CHECK_IS(all[i][PIECE / 2], ==, i);
	slab_give(&slab, all[3]);
	slab_give(&slab, all[PIECES]);
	slab_give(&slab, all[5]);
	CHECK(slab_take(&slab, PIECE) == all[5]);
	CHECK(slab_take(&slab, PIECE) == all[3]);
	again = slab_take(&slab, PIECE);
	CHECK(again && !is_piece(&slab, again));
	slab_give(&slab, again);
	slab_fini(&slab);
}

static void check_others(const struct slab *of, size_t size)
{
	struct slab slab = *of;
	uint8_t *memory = slab_take(&slab, size);

	CHECK(memory && !slab.begin);
	memset(memory, 1, size);
	slab_give(&slab, memory);
	slab_give(&slab, NULL);
	slab_fini(&slab);
}

int main(void)
{
	const struct slab none = { .piece = 0 };
	struct slab slab;
	void *memory;

	check_pieces();
	check_others(&none, 100);
	slab_init(&slab, PIECE, PIECES);
	check_others(&slab, PIECE / 2);
	check_others(&slab, PIECE + 1);
	slab_init(&slab, PIECE, 2); /* less than a huge page */
	check_others(&slab, PIECE);
	memory = slab_take(NULL, 10);
	CHECK(memory);
	slab_give(NULL, memory);
	return 0;
}
