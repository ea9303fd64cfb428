/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring reader accepts, clamps or drops each word of a ring. */
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "consumerd/now.h"
#include "consumerd/ring/reader.h"

#define SIZE 8192u
#define START (5ull << LTT_TS_BITS | 77)

static struct ltt_ring_prod prod;
static struct ltt_ring_cons cons;
static struct ring_reader reader;

static void start(void)
{
	struct ltt_ring_desc desc = {
		.data_size = SIZE,
		.subbuf_size = SIZE / 2,
		.max_record = 1024,
		.clock = LTT_CLOCK_MONOTONIC,
	};

	memset(&prod, 0, sizeof(prod));
	memset(&cons, 0, sizeof(cons));
	prod.pub = reader_first_pub(START);
	prod.last_ts = START;
	/* no data is touched: any address will do */
	reader_init(&reader, &desc, &prod, (const uint8_t *)&prod, &cons, START);
	CHECK(!reader_has_data(&reader));
}

/* As a producer that keeps the rules. */
static void publish(uint64_t records, uint64_t bytes, uint64_t ticks)
{
	for (uint64_t i = 0; i < records; i++) {
		uint64_t parity = (prod.pub & LTT_PUB_PARITY) ^ LTT_PUB_PARITY;
		uint64_t pos = (prod.pub + bytes / records) & LTT_POS_MASK;

		prod.last_ts += ticks;
		prod.count[!!parity] = prod.count[!parity] + 1;
		prod.pub = (prod.last_ts >> LTT_TS_BITS & 0xffffff) << LTT_PUB_EPOCH_SHIFT |
			   parity | pos;
	}
}

static void look(void)
{
	CHECK_IS(reader_snapshot(&reader, false), ==, READER_OK);
	CHECK(reader.pos >= reader.released && reader_pending(&reader) <= SIZE);
}

static void check_honest(void)
{
	start();
	publish(10, 200, 5);
	CHECK(reader_has_data(&reader) && !reader_has_crossed(&reader));
	look();
	CHECK(reader.pos == 200 && reader.count == 10 && reader.last_ts == START + 50);
	CHECK(reader_pending(&reader) == 200 && reader_pending_count(&reader) == 10);
	CHECK(!reader_has_data(&reader));
	reader_release(&reader);
	CHECK(cons.consumed == 200 && reader_pending(&reader) == 0);
	publish(100, 4000, 5);
	CHECK(reader_has_crossed(&reader));
	prod.lost_full = 7;
	look();
	CHECK(reader.pos == 4200 && reader.count == 110 && reader.lost[LOST_FULL] == 7);
	CHECK(!reader.invalid_words && !reader.invalid_bytes);
}

/* Positions are 39 bits wide; the reader's go on. */
static void check_wrap(void)
{
	start();
	reader.pos = reader.released = LTT_POS_MASK - 99;
	prod.pub = reader.raw.pub = LTT_POS_MASK - 99;
	publish(10, 200, 1);
	look();
	CHECK(reader.pos == LTT_POS_MASK + 101 && !reader.invalid_words);
	reader_release(&reader);
	CHECK_IS(cons.consumed, ==, 100);
}

static void check_position_lies(void)
{
	start();
	publish(10, 200, 1);
	look(); /* pending, not taken: the output may be failing */
	prod.pub = (prod.pub & ~LTT_POS_MASK) | 100; /* back */
	look();
	CHECK(reader.invalid_words == 1 && reader.invalid_bytes && reader.invalid_count == 10);
	CHECK(reader_pending(&reader) == 0 && cons.consumed == 100);
	prod.pub = (prod.pub & ~LTT_POS_MASK) | (100 + SIZE + 1); /* too far ahead */
	look();
	CHECK(reader.invalid_words == 2 && reader_pending(&reader) == 0 &&
	      cons.consumed == 100 + SIZE + 1);
	/* and a producer that keeps the rules can continue from there */
	publish(3, 60, 1);
	look();
	CHECK(reader_pending(&reader) == 60 && reader_pending_count(&reader) == 3 &&
	      reader.invalid_words == 2);
}

static void check_count_lies(void)
{
	start();
	publish(10, 4000, 1);
	prod.count[0] = prod.count[1] = UINT64_MAX;
	look();
	CHECK(reader.count == 4 && reader.invalid_words == 1); /* the fewest that 4000 bytes hold */
	reader_release(&reader);
	prod.count[0] = prod.count[1] = 0; /* back: more than 4000 / 4 forward */
	publish(1, 20, 1);
	prod.count[!!(prod.pub & LTT_PUB_PARITY)] = 0x8000000000000000;
	look();
	CHECK(reader.count == 5 && reader.invalid_words == 2);
}

/* The maximum that the bytes can hold is accepted, one more is not; likewise the minimum. */
static void check_count_bounds(void)
{
	static const struct {
		uint64_t count, believed;
	} cases[] = { { 1000, 1000 }, { 1001, 4 }, { 4, 4 }, { 3, 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		start();
		publish(10, 4000, 1);
		prod.count[!!(prod.pub & LTT_PUB_PARITY)] = cases[i].count;
		look();
		CHECK_IS(reader.count, ==, cases[i].believed);
		CHECK_IS(reader.invalid_words, ==, (cases[i].count != cases[i].believed));
	}
}

static void check_clock_lies(void)
{
	uint64_t before;

	start();
	prod.last_ts = 1; /* back */
	look();
	CHECK(reader.last_ts == START && reader.invalid_words == 1);
	CHECK_IS(reader_damage(&reader), ==, 0); /* the machine's clock may have gone back */
	prod.last_ts = UINT64_MAX; /* the end of time */
	look();
	CHECK(reader.last_ts <= now_ns() && reader.invalid_words == 2);
	CHECK_IS(reader_damage(&reader), ==, 1);
	before = reader.last_ts;
	prod.last_ts = now_ns();
	look();
	CHECK(reader.last_ts >= before && reader.invalid_words == 2);
}

static void check_lost_lies(void)
{
	start();
	prod.lost_size = 3;
	look();
	prod.lost_size = UINT64_MAX / 2;
	prod.lost_busy = UINT64_MAX;
	look();
	CHECK(reader.lost[LOST_SIZE] == 3 && reader.lost[LOST_BUSY] == 0 &&
	      reader.invalid_words == 2);
	prod.lost_size += 2; /* from there on it counts again */
	look();
	CHECK(reader.lost[LOST_SIZE] == 5 && reader.invalid_words == 2);
	prod.lost_size = 0;
	look();
	CHECK(reader.lost[LOST_SIZE] == 5 && reader.invalid_words == 3);
	prod.not_sampled = 7;
	look();
	prod.not_sampled_apart = UINT64_MAX / 2;
	look();
	CHECK(reader.not_sampled == 7 && reader.invalid_words == 4);
}

int main(void)
{
	check_honest();
	check_wrap();
	check_position_lies();
	check_count_lies();
	check_count_bounds();
	check_clock_lies();
	check_lost_lies();
	return 0;
}
