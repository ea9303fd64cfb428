// SPDX-License-Identifier: GPL-2.0-only
/* The three headers, the clock's corners, and positions that come round. */
#include <sched.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/rseq.h"
#include "tracer/ring/section.h"

static uint8_t payload[LTT_RING_MAX_RECORD + 64];
static uint64_t seq;

static void record(struct ring_set *set, uint32_t id, uint32_t len)
{
	struct binding binding = ring_binding(set, id, 1);
	struct hook hook = { .binding = &binding };

	testset_fill(payload, len, 1, seq++);
	if (set->clock == LTT_CLOCK_MONOTONIC && seq % 2)
		ring_record_given(&hook, payload, len);
	else
		ring_record(&hook, payload, len);
}

struct expected {
	uint32_t id, len;
	uint64_t ts; /* 0: any */
};

static const struct expected *expected;

static void check_expected(const struct record *r, uint32_t ring, void *priv)
{
	uint32_t len;

	(void)ring;
	(void)priv;
	memcpy(&len, r->body, sizeof(len));
	CHECK(r->id == expected->id, "id %u, not %u", r->id, expected->id);
	CHECK(len == expected->len, "len %u, not %u", len, expected->len);
	CHECK(!expected->ts || r->ts == expected->ts, "clock %llx, not %llx",
	      (unsigned long long)r->ts, (unsigned long long)expected->ts);
	expected++;
}

/* Every id of interest with every length around the copy loop's steps. */
static void test_ids(uint32_t clock, int exclusive)
{
	static const uint32_t ids[] = { 0, 1, 29, 30, 31, 255, 65535, 65536, UINT32_MAX };
	struct testset t;
	uint64_t sum = 0;

	testset_make(&t, exclusive ? 1 : testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, clock);
	struct ring_set *set = testset_producer(&t, exclusive);
	for (uint32_t len = sizeof(struct body); len < 80; len++) {
		for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
			struct expected one = { .id = ids[i], .len = len };

			expected = &one;
			record(set, ids[i], len);
			sum = testset_take_all(&t, check_expected, NULL).count;
			CHECK(sum == seq, "%llu of %llu recorded", (unsigned long long)sum,
			      (unsigned long long)seq);
		}
	}
	struct totals totals = testset_take_all(&t, NULL, NULL);
	CHECK(totals.compact && totals.wide && totals.extended, "not all headers");
	CHECK(totals.extended >= 2 * seq / 9 && totals.extended < 3 * seq / 9 + 10,
	      "%llu of %llu extended", (unsigned long long)totals.extended,
	      (unsigned long long)seq);
	ring_set_unmap(set);
	testset_free(&t);
	seq = 0;
}

/* The largest payload fits, one byte more is counted; and both in every place. */
static void test_sizes(int exclusive)
{
	struct testset t;
	uint64_t lost = 0;

	testset_make(&t, exclusive ? 1 : testset_nr_cpus(), 2, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, exclusive);
	uint32_t max = (uint32_t)ring_set_max_payload(set);
	CHECK(max == t.desc.max_record - LTT_HDR_EXTENDED, "max payload %u", max);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t len = sizeof(struct body) + i % (max - 12);

		lost += len > max;
		record(set, 3, len);
		struct totals totals = testset_take_all(&t, NULL, NULL);
		CHECK(totals.count + lost == seq && totals.size == lost && !totals.full,
		      "after %llu: %llu recorded, %llu too long", (unsigned long long)seq,
		      (unsigned long long)totals.count, (unsigned long long)totals.size);
	}
	ring_lose_oversize(&(struct hook){ .binding = NULL });
	struct binding binding = ring_binding(set, 1, 7);
	struct hook hook = { .binding = &binding };
	ring_lose_oversize(&hook);
	CHECK(testset_take_all(&t, NULL, NULL).size == lost + 1, "ring_lose_oversize()");
	CHECK(ring_hook_session(&hook) == 7, "session");
	CHECK(ring_hook_session(&(struct hook){ .binding = NULL }) == 0, "no session");
	ring_set_unmap(set);
	testset_free(&t);
	seq = 0;
}

/* An empty payload is a record too. */
static void test_empty(void)
{
	struct testset t;

	testset_make(&t, testset_nr_cpus(), 2, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 0);
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };
	uint64_t count = 0, bytes = 0;
	for (int i = 0; i < 10; i++)
		ring_record(&hook, payload, 0);
	for (uint32_t ring = 0; ring < t.desc.nr_rings; ring++) {
		count += testset_cut(&t, ring).count;
		bytes += testset_cut(&t, ring).pub & LTT_POS_MASK;
	}
	CHECK(count == 10 && bytes >= 40, "%llu bytes", (unsigned long long)bytes);
	ring_set_unmap(set);
	testset_free(&t);
}

/* Begin just before the positions come round, and go on for some laps. */
static void test_wrap(int exclusive)
{
	struct testset t;

	testset_make(&t, exclusive ? 1 : testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	for (uint32_t ring = 0; ring < t.desc.nr_rings; ring++) {
		uint64_t pos = LTT_POS_MASK + 1 - 5000;

		testset_prod(&t, ring)->pub = pos;
		testset_cons(&t, ring)->consumed = pos;
		t.track[ring].pos = pos;
	}
	struct ring_set *set = testset_producer(&t, exclusive);
	for (uint32_t i = 0; i < 3000; i++) {
		record(set, i % 40, sizeof(struct body) + i % 50);
		CHECK(testset_take_all(&t, NULL, NULL).count == seq, "record %u", i);
	}
	ring_set_unmap(set);
	testset_free(&t);
	seq = 0;
}

/* Full: refused and counted; and as much as the ring holds gets in. */
static void test_full(int exclusive)
{
	struct testset t;

	testset_make(&t, exclusive ? 1 : testset_nr_cpus(), 2, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, exclusive);
	for (int lap = 0; lap < 20; lap++) {
		uint64_t full = testset_take_all(&t, NULL, NULL).full;

		for (int i = 0; i < 2000; i++)
			record(set, 3, 16);
		struct totals totals = testset_take_all(&t, NULL, NULL);
		CHECK(totals.count + totals.full == seq, "%llu + %llu, not %llu",
		      (unsigned long long)totals.count, (unsigned long long)totals.full,
		      (unsigned long long)seq);
		CHECK(totals.full > full && totals.full - full < 2000 - 8192 / 20 + 8,
		      "%llu refused", (unsigned long long)(totals.full - full));
	}
	testset_state(&t, 0);
	for (int i = 0; i < 100; i++)
		record(set, 3, 16);
	struct totals totals = testset_take_all(&t, NULL, NULL);
	CHECK(totals.count + totals.full + 100 == seq, "recorded while off");
	ring_set_unmap(set);
	testset_free(&t);
	seq = 0;
}

/* Given clocks: epochs, a leap that 24 bits of epoch would not show, steps back.
 * On one CPU, since each ring has a clock of its own. */
static void test_clocks(void)
{
	const uint64_t epoch = 1ull << LTT_TS_BITS;
	const uint64_t given[] = { 5,
				   6,
				   epoch - 1,
				   epoch,
				   epoch,
				   2 * epoch + 5,
				   2 * epoch + 5 + (1ull << 51),
				   2 * epoch + 6 + (1ull << 51),
				   7,
				   3 * epoch,
				   2 * epoch + 9 + (1ull << 51),
				   1ull << 63 };
	uint64_t now = 0;
	struct testset t;
	uint64_t n = 0;

	testset_make(&t, testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, LTT_CLOCK_MONOTONIC);
	struct ring_set *set = testset_producer(&t, 0);
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };
	for (size_t i = 0; i < 2 * sizeof(given) / sizeof(given[0]); i++, n++) {
		uint64_t ts = given[i / 2];
		struct expected one = { .id = 3, .len = 20 };

		now = ts > now ? ts : now;
		one.ts = now;
		expected = &one;
		testset_fill(payload, 20, 1, n);
		uint32_t res = section_given(&hook, payload, 20, 0, ts);
		CHECK(res & LTT_RING_ON, "refused with %x", res);
		CHECK(testset_take_all(&t, check_expected, NULL).count == n + 1, "count");
	}
	ring_set_unmap(set);
	testset_free(&t);
}

/* Steps of the counter: a day and a little, by cycles of about a nanosecond. */
#define BACK (86400ull << 30)

static uint64_t shifted_at, shifted_by;

static void check_shifted(const struct record *r, uint32_t ring, void *priv)
{
	uint64_t now = ring_clock_read(TEST_CLOCK);

	(void)ring;
	(void)priv;
	CHECK(r->ts - shifted_by >= shifted_at && r->ts - shifted_by <= now,
	      "clock %llx, not %llx to %llx plus %llx", (unsigned long long)r->ts,
	      (unsigned long long)shifted_at, (unsigned long long)now,
	      (unsigned long long)shifted_by);
}

static void record_shifted(struct testset *t, struct ring_set *set, uint32_t id)
{
	shifted_at = ring_clock_read(TEST_CLOCK);
	record(set, id, 20);
	CHECK(testset_take_all(t, check_shifted, NULL).count == seq, "record %llu",
	      (unsigned long long)seq);
}

/* The counter goes back: the last time is kept until the consumer knows by which time; then the
 * clock goes on, also in a ring whose last record is so old that the counter has passed it. */
static void test_shifted(int exclusive)
{
	static const uint32_t ids[] = { 3, 300, 70000 };
	uint64_t last = ring_clock_read(TEST_CLOCK) + BACK;
	struct testset t;

	testset_make(&t, exclusive ? 1 : testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, exclusive);
	for (int step = 0; step < 4; step++) {
		uint32_t wake = step & 1 ? LTT_RING_WAKE : 0;

		for (uint32_t ring = 0; ring < t.desc.nr_rings && step % 2 == 0; ring++) {
			struct track *track = &t.track[ring];

			track->ts = track->end = step ? 1 : last;
			testset_prod(&t, ring)->last_ts = track->ts;
			testset_prod(&t, ring)->hint_epoch = UINT64_MAX;
		}
		if (step > 0) {
			shifted_by = (step + 1ull) * BACK;
			for (uint32_t ring = 0; ring < t.desc.nr_rings; ring++)
				testset_cons(&t, ring)->clock_add = shifted_by;
			testset_state(&t, LTT_RING_ON | LTT_RING_SHIFTED | wake);
		}
		for (size_t i = 0; i < 60; i++) {
			struct expected held = { .id = ids[i % 3], .len = 20, .ts = last };

			expected = &held;
			if (step > 0)
				record_shifted(&t, set, ids[i % 3]);
			else
				record(set, ids[i % 3], 20);
			CHECK(step || testset_take_all(&t, check_expected, NULL).count == seq,
			      "held record %llu", (unsigned long long)seq);
		}
	}
	if (!exclusive) {
		struct binding binding = ring_binding(set, 3, 1);
		struct hook hook = { .binding = &binding };
		uint32_t res = section_cycles(&hook, payload, 20, 0);

		CHECK((res & ~RES_STEPPED & 0xffff) == (LTT_RING_ON | LTT_RING_WAKE), "result %x",
		      res);
	}
	ring_set_unmap(set);
	testset_free(&t);
	seq = 0;
}

/* An area as the kernel leaves it: on CPU 0, in no sequence. */
static __thread struct {
	uint32_t cpu_id_start, cpu_id;
	uint64_t rseq_cs;
	uint64_t rest[2];
} pretended __attribute__((aligned(32)));

/*
 * Where the kernel knows no sequences (an emulator) they still compute the
 * same, as long as nothing interrupts: one thread, no signals.
 */
static void pretend_rseq(void)
{
	if (SECTION_SUPPORTED)
		ring_rseq_area = (char *)&pretended - (char *)section_thread_pointer();
}

int main(void)
{
	int rseq = ring_init() == RING_RSEQ;

	if (!rseq)
		pretend_rseq();
	for (int exclusive = !SECTION_SUPPORTED; exclusive < 2; exclusive++) {
		test_ids(TEST_CLOCK, exclusive);
		if (rseq || exclusive)
			test_ids(LTT_CLOCK_MONOTONIC, exclusive);
		test_sizes(exclusive);
		test_wrap(exclusive);
		test_full(exclusive);
		test_shifted(exclusive);
	}
	if (SECTION_SUPPORTED) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(0, &one);
		test_empty();
		if (!sched_setaffinity(0, sizeof(one), &one))
			test_clocks();
	}
	return 0;
}
