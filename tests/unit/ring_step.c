// SPDX-License-Identifier: GPL-2.0-only
/*
 * A debugger steps through records, instruction by instruction. Each step
 * restarts the sequence, so it would never end: it must stop after a bounded number of restarts,
 * count the record, and request the fallback producer.
 */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "lib/tracer/step_child.h"

#define RECORDS 3
#define MAX_STEPS 400000

static void child(const struct testset *t)
{
	uint8_t payload[64 + LTT_PAYLOAD_SLACK];
	struct ring_set *set = testset_producer(t, 0);
	struct binding binding = ring_binding(set, 3, 1);
	struct hook hook = { .binding = &binding };

	testset_fill(payload, 40, 1, 0);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (int i = 0; i < RECORDS; i++)
		ring_record(&hook, payload, 40);
	raise(SIGUSR1);
	_exit(ring_producer() == RING_FALLBACK ? 0 : 9);
}

/* Return: steps until the child reported that it was done. */
static int step(pid_t pid)
{
	int status;

	for (int steps = 0; steps < MAX_STEPS; steps++) {
		CHECK(waitpid(pid, &status, 0) == pid, "wait");
		CHECK(WIFSTOPPED(status), "child ended with %x", status);
		if (WSTOPSIG(status) == SIGUSR1)
			return steps;
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "step");
	}
	return MAX_STEPS;
}

int main(void)
{
	struct testset t;
	int status;

	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	if (!step_through_atomics())
		SKIP("a CPU whose atomic operations can't be single-stepped");
	testset_make(&t, testset_nr_cpus(), 4, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	pid_t pid = fork();
	if (!pid)
		child(&t);
	int steps = step(pid);
	CHECK(steps < MAX_STEPS, "no progress in %d steps", steps);
	CHECK(!ptrace(PTRACE_CONT, pid, NULL, NULL), "continue");
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child: %x", status);
	struct totals sum = testset_take_all(&t, NULL, NULL);
	printf("%d steps, %llu recorded, %llu busy\n", steps, (unsigned long long)sum.count,
	       (unsigned long long)sum.busy);
	CHECK(sum.count + sum.busy == RECORDS && sum.busy, "%llu + %llu",
	      (unsigned long long)sum.count, (unsigned long long)sum.busy);
	testset_free(&t);
	return 0;
}
