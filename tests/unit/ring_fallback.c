// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process without restartable sequences: it records to its own rings, and never to shared ones or
 * those that the parent of a fork owned.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
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

/* --- events that never end ---------------------------------------------------------------- */

static sigjmp_buf before;
static volatile sig_atomic_t jumps;

static void leave_event(int signo)
{
	(void)signo;
	jumps = jumps + 1;
	siglongjmp(before, 1);
}

/* Events of this thread, until a signal ends one of them, or for some time. */
static void emit_until_left(struct ring_set *set, uint64_t *begun, uint64_t *returned)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 10 } }, never = { 0 };
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };

	if (sigsetjmp(before, 1))
		return;
	setitimer(ITIMER_REAL, &soon, NULL);
	testset_fill(payload, 40, 1, 0);
	for (int i = 0; i < 1000; i++) {
		__atomic_store_n(begun, *begun + 1, __ATOMIC_RELAXED);
		ring_record(&hook, payload, 40);
		__atomic_store_n(returned, *returned + 1, __ATOMIC_RELAXED);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

/*
 * A signal handler leaves the event that it interrupted: the only ring is not locked for ever, and
 * each event that has returned is recorded or lost.
 */
static void test_left_events(void)
{
	struct sigaction action = { .sa_handler = leave_event };
	uint64_t begun = 0, returned = 0;
	struct totals sum, now;
	struct testset t;

	testset_make(&t, 1, 4, 1 << 24, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 1);
	sigaction(SIGALRM, &action, NULL);
	while (jumps < 1000 && begun < 1300000) /* the ring has room for as many */
		emit_until_left(set, &begun, &returned);
	signal(SIGALRM, SIG_DFL);
	record(set, 1); /* takes the ring over */
	sum = testset_take_all(&t, NULL, NULL);
	record(set, 100);
	now = testset_take_all(&t, NULL, NULL);
	printf("%d jumps, %llu of %llu events returned, %llu recorded, %llu busy\n", (int)jumps,
	       (unsigned long long)returned, (unsigned long long)begun,
	       (unsigned long long)sum.count, (unsigned long long)sum.busy);
	CHECK(jumps >= 100, "%d jumps", (int)jumps);
	CHECK(sum.count + sum.busy >= returned + 1 && sum.count + sum.busy <= begun + 1,
	      "%llu recorded, %llu busy", (unsigned long long)sum.count,
	      (unsigned long long)sum.busy);
	CHECK(!sum.full && sum.busy <= (uint64_t)jumps, "%llu busy", (unsigned long long)sum.busy);
	CHECK(now.count == sum.count + 100 && now.busy == sum.busy, "%llu recorded, %llu busy",
	      (unsigned long long)now.count, (unsigned long long)now.busy);
	ring_set_unmap(set);
	testset_free(&t);
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
	if (ring_mark_process())    /* not in an emulator */
		test_left_events(); /* the last: it never leaves some readers */
	return 0;
}
