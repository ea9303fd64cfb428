// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of a ring's last records begins at the earliest entry that the producer can't have
 * reached, also after positions have wrapped, and words that no correct producer stores are
 * ignored. The numbers of records agree with the copy. A rest is exact, and other waits of the
 * thread are not.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "check.h"
#include "consumerd/now.h"
#include "consumerd/ring/ringcopy.h"

#define SUBBUF 4096u
#define SUBBUFS 8u
#define SIZE (SUBBUFS * SUBBUF)
#define RECORD 64u
#define START (5ull << LTT_TS_BITS | 77)
#define REACH (2 * 512u + LTT_RING_SLACK) /* of x86-64, the least */

static struct ltt_ring_prod *prod;
static struct ltt_ring_cons cons;
static struct ring_reader reader;
static uint8_t data[2 * SIZE]; /* twice in a row, as it is mapped */
static uint64_t number;

static void start(uint64_t pos)
{
	struct ltt_ring_desc desc = {
		.mode = LTT_RING_OVERWRITE,
		.data_size = SIZE,
		.subbuf_size = SUBBUF,
		.max_record = 512,
		.clock = LTT_CLOCK_MONOTONIC,
	};

	memset(prod, 0, sizeof(*prod) + SUBBUFS * sizeof(prod->region[0]));
	memset(&cons, 0, sizeof(cons));
	prod->pub = reader_first_pub(START) | pos;
	prod->last_ts = START;
	number = 0;
	reader_init(&reader, &desc, prod, data, &cons, START);
	reader_adopt(&reader); /* any number of records is plausible */
}

/* As the fallback producer does it. */
static void record(void)
{
	uint64_t pos = prod->pub & LTT_POS_MASK, parity = ~prod->pub & LTT_PUB_PARITY, pub;
	uint32_t header = (uint32_t)++prod->last_ts << 5;

	for (uint32_t at = (uint32_t)(pos & (SIZE - 1)), i = 0; i < 2; i++) {
		memcpy(data + (at + i * SIZE) % sizeof(data), &header, sizeof(header));
		memcpy(data + (at + i * SIZE) % sizeof(data) + 8, &number, sizeof(number));
	}
	number++;
	prod->count[!!parity] = number;
	pub = ((pos + RECORD) & LTT_POS_MASK) | parity |
	      prod->last_ts >> LTT_TS_BITS << LTT_PUB_EPOCH_SHIFT;
	if ((pos ^ pub) & LTT_POS_MASK & ~(uint64_t)(SUBBUF - 1)) {
		uint64_t k = (pub & (SIZE - 1)) / SUBBUF;

		prod->region[k].pub = pub;
		prod->region[k].count = number;
	}
	prod->pub = pub;
}

static void records(unsigned int nr)
{
	while (nr--)
		record();
	CHECK_IS(reader_snapshot(&reader, false), ==, READER_OK);
}

/* Return: the number of records in the copy, which are the last ones. */
static uint64_t check_copy(void)
{
	struct ring_copy copy;
	uint64_t unsaved = ring_unsaved(&reader, &reader.raw), begin, first, i;

	CHECK_IS(ring_copy_init(&copy, &reader), ==, 0);
	ring_copy_take(&copy, &reader, START);
	CHECK(copy.len == copy.count * RECORD && copy.before + copy.count == number);
	CHECK_IS(copy.end, ==, number);
	for (i = 0; i < copy.count; i++) {
		memcpy(&first, copy.at + i * RECORD + 8, sizeof(first));
		CHECK_IS(first, ==, copy.before + i);
	}
	CHECK_IS(unsaved, ==, copy.count);
	begin = copy.whole ? START >> LTT_TS_BITS << LTT_TS_BITS : START + copy.before + 1;
	CHECK(copy.begin_ts == begin || !copy.count);
	CHECK_IS(copy.end_ts, ==, prod->last_ts);
	ring_copy_fini(&copy);
	return i;
}

static void check_laps(uint64_t pos)
{
	uint64_t got;

	start(pos);
	for (int i = 0; i < 3000; i++) {
		records(1);
		got = check_copy();
		CHECK(got * RECORD + REACH <= SIZE);
		if (number < SIZE / 2 / RECORD)
			CHECK(pos || got == number);
		else if (number > SIZE / RECORD)
			CHECK(got * RECORD + REACH + 4 * SUBBUF > SIZE);
	}
	CHECK_IS(reader.count, ==, 3000);
	CHECK(!reader.invalid_words && !reader_pending(&reader));
}

/* Entries that an application has overwritten are not used; others are. */
static void check_scribbled(void)
{
	uint64_t whole, less;

	start(0);
	records(2000);
	whole = check_copy();
	for (uint32_t k = 0; k < SUBBUFS; k++) {
		const struct ltt_ring_region was = prod->region[k];

		prod->region[k].count += 1u << 20;
		less = check_copy();
		CHECK(less <= whole && less + SUBBUF / RECORD + 8 >= whole);
		prod->region[k] = (struct ltt_ring_region){ was.pub + SUBBUF, was.count };
		CHECK(check_copy() <= whole);
		prod->region[k] = was;
	}
	for (uint32_t k = 0; k < SUBBUFS; k++)
		prod->region[k].pub ^= LTT_POS_MASK / 2;
	CHECK_IS(check_copy(), ==, 0);
	prod->count[!!(prod->pub & LTT_PUB_PARITY)] += 1ull << 50;
	CHECK_IS(reader_snapshot(&reader, false), ==, READER_OK);
	CHECK(reader.invalid_words == 1 && reader.count == 2000);
}

/* A record that is in two snapshots counts once. */
static void check_saved(void)
{
	struct ring_copy copy;

	start(0);
	records(100);
	CHECK_IS(ring_copy_init(&copy, &reader), ==, 0);
	ring_copy_take(&copy, &reader, START);
	ring_set_saved(&reader, copy.count, copy.end, 5000);
	CHECK(cons.saved_records == 100 && cons.saved_end == 100 && cons.saved_bytes == 5000);
	CHECK_IS(ring_unsaved(&reader, &reader.raw), ==, 0);
	records(30);
	CHECK_IS(ring_unsaved(&reader, &reader.raw), ==, 30);
	ring_copy_take(&copy, &reader, START);
	ring_set_saved(&reader, copy.count, copy.end, 6000);
	CHECK(cons.saved_records == 130 && cons.saved_bytes == 11000 && cons.saved_packets == 2);
	ring_copy_fini(&copy);
}

/* Copies have the records behind the last clear, wherever it was, and the counts add up. */
static void check_cleared(uint64_t pos, enum ltt_ring_mode mode)
{
	uint64_t cleared = 0, saved = 0, behind = 0;
	struct ltt_ring_clear last;
	struct ring_copy copy;
	struct stats stats = { 0 };

	start(pos);
	reader.kept = true;
	reader.overwrite = mode == LTT_RING_OVERWRITE;
	CHECK(ring_clear(&reader) == 0 && ring_copy_init(&copy, &reader) == 0);
	for (unsigned int i = 1; i < 900; i++) {
		records(mode == LTT_RING_OVERWRITE ? i * 7 % 1300 : i % 200);
		ring_copy_take(&copy, &reader, START);
		CHECK_IS(copy.before + copy.count, ==, number - behind);
		CHECK(mode == LTT_RING_OVERWRITE || !copy.before);
		if (i % 3 == 0) {
			ring_set_saved(&reader, copy.count, copy.end, 100);
			saved += copy.count;
		} else {
			uint64_t unsaved = ring_unsaved(&reader, &reader.raw);

			CHECK_IS(ring_clear(&reader), ==, unsaved);
			cleared += unsaved;
			behind = number;
			CHECK_IS(ring_unsaved(&reader, &reader.raw), ==, 0);
			CHECK_IS(ring_used(&reader, &reader.raw), ==, 0);
			/* the copy was in a snapshot that was being written */
			ring_set_saved(&reader, copy.count, copy.end, 100);
			ring_copy_take(&copy, &reader, START);
			CHECK(copy.count == 0 && copy.before == 0);
		}
		stats.recorded = number;
		ring_divide(&reader, &reader.raw, false, &stats);
		last = cons.clear[cons.clears & 1];
		CHECK(stats.cleared == cleared && last.records == cleared);
		if (mode == LTT_RING_DISCARD)
			CHECK(stats.overwritten == 0 && cons.consumed == (last.pub & LTT_POS_MASK));
	}
	CHECK(cleared && saved);
	ring_copy_fini(&copy);
}

static int rest_slack_ns;

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *moment,
		    struct timespec *left)
{
	(void)clock, (void)flags, (void)moment, (void)left;
	rest_slack_ns = prctl(PR_GET_TIMERSLACK);
	return 0;
}

static void check_rest(void)
{
	int slack_ns = prctl(PR_GET_TIMERSLACK);
	uint64_t since = 0;

	ring_copy_rest(&since);
	CHECK_IS(since, >, 0);
	CHECK_IS(rest_slack_ns, ==, 1);
	CHECK_IS(prctl(PR_GET_TIMERSLACK), ==, slack_ns);
}

int main(void)
{
	prod = calloc(1, sizeof(*prod) + SUBBUFS * sizeof(prod->region[0]));
	CHECK(prod);
	check_laps(0);
	check_laps(LTT_POS_MASK + 1 - 2 * SIZE); /* it wraps */
	check_scribbled();
	check_saved();
	check_cleared(0, LTT_RING_OVERWRITE);
	check_cleared(LTT_POS_MASK + 1 - 9 * SIZE, LTT_RING_OVERWRITE);
	check_cleared(0, LTT_RING_DISCARD);
	check_rest();
	free(prod);
	return 0;
}
