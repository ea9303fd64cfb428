// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread is preempted behind every single instruction of a record, and while it is
 * away another buffer takes the place of the one that it records to, as after stop and
 * start. Its restartable sequence must cover every instruction up to the commit: where
 * it does not, the thread goes on with the old buffer, which nobody may write to once
 * reader_synchronize() has returned. (Where rings are a process's own there is no
 * sequence: readers are counted, and reader_synchronize() waits for them.)
 */
#include "ring_steps.h"

static uint64_t accounted(struct bench *b)
{
	struct totals sum = testset_take_all(&b->t, NULL, NULL);

	return sum.count + totals_lost(&sum);
}

/* Return: whether the child was still at it after @steps. */
static int preempt_once(const struct scenario *s, unsigned int steps, unsigned int *elsewhere)
{
	struct scenario first = *s;
	struct stepper stepper = { .busy = 1 };
	struct bench b, other;

	first.place = FIRST;
	bench_make(&b, s);
	bench_make(&other, &first);
	stepper.pid = bench_child(&b);
	go_to(&stepper, steps);
	uint64_t before = accounted(&b);
	if (stepper.busy)
		go_on_elsewhere(&stepper, &b.hook.binding, &other.binding);
	uint64_t there = accounted(&other);
	CHECK(accounted(&b) == before, "%s, preempted at step %u: recorded to a buffer taken away",
	      s->name, steps);
	CHECK(before + there == b.calls + 1, "%s, preempted at step %u: %llu calls, %llu + %llu",
	      s->name, steps, (unsigned long long)b.calls + 1, (unsigned long long)before,
	      (unsigned long long)there);
	*elsewhere += there > 0;
	child_kill(stepper.pid);
	bench_free(&b);
	bench_free(&other);
	return stepper.busy;
}

int main(void)
{
	steps_begin();
	for (size_t i = 0; i < NR_SCENARIOS; i++) {
		unsigned int steps = 0, elsewhere = 0;

		if (scenarios[i].exclusive)
			continue;
		while (preempt_once(&scenarios[i], steps, &elsewhere))
			CHECK(++steps < MAX_STEPS, "%s: no end", scenarios[i].name);
		printf("%-28s preempted at %3u steps: %3u times begun again elsewhere\n",
		       scenarios[i].name, steps, elsewhere);
		CHECK(elsewhere > 10 && elsewhere < steps, "%s: no commit", scenarios[i].name);
	}
	return 0;
}
