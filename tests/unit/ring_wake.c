// SPDX-License-Identifier: GPL-2.0-only
/* Conditions under which a record wakes the consumer. */
#include "lib/tracer/testset.h"

static uint8_t payload[64 + LTT_PAYLOAD_SLACK];

static void record(struct hook *hook)
{
	errno = 4711;
	ring_record(hook, payload, 60);
	CHECK(errno == 4711, "errno");
}

static void waiting(const struct testset *t, uint32_t value)
{
	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		testset_cons(t, ring)->waiting = value;
}

static void test(uint32_t clock, int exclusive)
{
	struct testset t;

	testset_make(&t, testset_nr_cpus(), 4, 4096, LTT_RING_OVERWRITE, clock);
	struct ring_set *set = testset_producer(&t, exclusive);
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };

	testset_fill(payload, 60, 1, 1);
	for (int i = 0; i < 1000; i++)
		record(&hook);
	CHECK(*t.doorbell == 0, "%u wake-ups without LTT_RING_WAKE", *t.doorbell);

	waiting(&t, 1);
	for (int i = 0; i < 1000; i++)
		record(&hook);
	/* 64000 bytes and some headers: fifteen sub-buffers, give or take a ring. */
	CHECK(*t.doorbell >= 14 && *t.doorbell <= 18, "rang %u times", *t.doorbell);

	waiting(&t, 0);
	uint32_t before = *t.doorbell;
	testset_state(&t, LTT_RING_ON | LTT_RING_WAKE);
	for (int i = 0; i < 1000; i++)
		record(&hook);
	CHECK(*t.doorbell == before + 1000, "rang %u times", *t.doorbell - before);

	testset_state(&t, LTT_RING_WAKE);
	for (int i = 0; i < 10; i++)
		record(&hook);
	CHECK(*t.doorbell == before + 1000, "rang while off");
	testset_state(&t, LTT_RING_ON);
	uint64_t count = 0;
	for (uint32_t ring = 0; ring < t.desc.nr_rings; ring++)
		count += testset_cut(&t, ring).count;
	CHECK(count == 3000, "%llu recorded", (unsigned long long)count);
	ring_set_unmap(set);
	testset_free(&t);
}

int main(void)
{
	if (ring_init() == RING_RSEQ) {
		test(TEST_CLOCK, 0);
		test(LTT_CLOCK_MONOTONIC, 0);
	}
	test(TEST_CLOCK, 1);
	return 0;
}
