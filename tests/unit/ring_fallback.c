// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process without restartable sequences: it records to its own rings, and never to shared ones or
 * those that the parent of a fork owned.
 */
#include <sys/wait.h>

#include "lib/tracer/testset.h"

static uint8_t payload[64 + LTT_PAYLOAD_SLACK];

static void record(struct ring_set *set, int times)
{
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };

	for (int i = 0; i < times; i++) {
		testset_fill(payload, 40, 1, (uint64_t)i);
		ring_record(&hook, payload, 40);
	}
}

static void expect(struct testset *t, uint64_t recorded, uint64_t busy)
{
	struct totals sum = testset_take_all(t, NULL, NULL);

	CHECK(sum.count == recorded && sum.busy == busy && !sum.full && !sum.size,
	      "%llu recorded, %llu busy, %llu full", (unsigned long long)sum.count,
	      (unsigned long long)sum.busy, (unsigned long long)sum.full);
}

static void test_shared(uint32_t clock)
{
	struct testset t;

	testset_make(&t, testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, clock);
	struct ring_set *set = testset_producer(&t, 0);
	record(set, 100);
	expect(&t, 0, 100);
	testset_state(&t, 0);
	record(set, 100);
	expect(&t, 0, 100);
	ring_set_unmap(set);
	testset_free(&t);
}

static void test_fork(void)
{
	struct testset t;
	int status;

	testset_make(&t, 2, 4, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 1);
	record(set, 50);
	expect(&t, 50, 0);
	pid_t pid = fork();
	if (!pid) {
		reader_after_fork_child(true);
		ring_set_disown(set);
		record(set, 20);
		reader_synchronize();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child: %x", status);
	record(set, 30);
	expect(&t, 80, 20);
	testset_state(&t, 0);
	record(set, 30);
	expect(&t, 80, 20);
	ring_set_unmap(set);
	testset_free(&t);
}

/* A child that is made by a system call writes into the same rings at the same time. */
static void test_unreported_fork(void)
{
	enum { TIMES = 20000 };
	struct testset t;
	int status;

	testset_make(&t, 1, 4, 1 << 20, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 1);
	pid_t pid = fork();
	record(set, TIMES);
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child: %x", status);
	struct totals sum = testset_take_all(&t, NULL, NULL);
	CHECK(sum.count + sum.busy == 2 * TIMES && !sum.full && sum.count > TIMES,
	      "%llu recorded, %llu busy", (unsigned long long)sum.count,
	      (unsigned long long)sum.busy);
	ring_set_unmap(set);
	testset_free(&t);
}

/* A fork out of a reader: the child is still inside, and may leave. */
static void test_fork_inside(void)
{
	unsigned int token = reader_enter();
	int status;
	pid_t pid = fork();

	if (!pid) {
		reader_after_fork_child(true);
		reader_exit(token);
		alarm(10);
		reader_synchronize();
		_exit(0);
	}
	reader_exit(token);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child: %x", status);
	reader_synchronize();
}

int main(void)
{
	setenv("LTT_NO_RSEQ", "1", 1);
	CHECK(ring_init() == RING_FALLBACK, "LTT_NO_RSEQ");
	CHECK(ring_producer() == RING_FALLBACK, "producer");
	test_shared(TEST_CLOCK);
	test_shared(LTT_CLOCK_MONOTONIC);
	test_fork();
	test_unreported_fork();
	test_fork_inside();
	return 0;
}
