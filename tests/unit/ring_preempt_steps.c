// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread is preempted behind every single instruction of a record, and while it does not run
 * another buffer replaces the one that it records to, as after stop and start. Its restartable
 * sequence must cover every instruction up to the commit: where it does not, the thread continues
 * with the old buffer, which no thread may write to once reader_synchronize() has returned. (Where
 * rings are a process's own there is no sequence: readers are counted, and reader_synchronize()
 * waits for them.)
 */
#include "lib/tracer/ring_steps.h"

static uint64_t accounted(struct ring_steps *b)
{
	struct totals sum = testset_take_all(&b->t, NULL, NULL);

	return sum.count + testset_lost(&sum);
}

/* Return: whether the child was still recording after @steps. */
static int preempt_once(const struct ring_scenario *s, unsigned int steps, unsigned int *elsewhere)
{
	struct ring_scenario first = *s;
	struct stepper stepper = { .busy = 1 };
	struct ring_steps b, other;

	first.place = FIRST;
	ring_steps_make(&b, s);
	ring_steps_make(&other, &first);
	stepper.pid = ring_steps_child(&b);
	step_child_advance(&stepper, steps);
	uint64_t before = accounted(&b);
	if (stepper.busy)
		step_child_replace(&stepper, &b.hook.binding, &other.binding);
	uint64_t there = accounted(&other);
	CHECK(accounted(&b) == before, "%s, preempted at step %u: recorded to a buffer taken away",
	      s->name, steps);
	CHECK(before + there == b.calls + 1, "%s, preempted at step %u: %llu calls, %llu + %llu",
	      s->name, steps, (unsigned long long)b.calls + 1, (unsigned long long)before,
	      (unsigned long long)there);
	*elsewhere += there > 0;
	step_child_kill(stepper.pid);
	ring_steps_free(&b);
	ring_steps_free(&other);
	return stepper.busy;
}

int main(void)
{
	ring_steps_begin();
	for (size_t i = 0; i < NR_RING_SCENARIOS; i++) {
		unsigned int stride = testset_stride();
		unsigned int steps = (unsigned int)i % stride, elsewhere = 0;

		if (ring_scenarios[i].exclusive)
			continue;
		while (preempt_once(&ring_scenarios[i], steps, &elsewhere))
			CHECK((steps += stride) < STEP_MAX, "%s: no end", ring_scenarios[i].name);
		printf("%-28s preempted at %3u steps: %3u times begun again elsewhere\n",
		       ring_scenarios[i].name, steps, elsewhere);
		CHECK(elsewhere * stride > 10 && elsewhere < steps, "%s: no commit",
		      ring_scenarios[i].name);
	}
	return 0;
}
