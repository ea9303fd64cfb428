// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process dies behind every single instruction of a record: SIGKILL after n of
 * them, for all n. However far the record came, it is there and whole, or
 * counted as lost, or not there at all, with all that was before it; and another
 * process goes on with the same ring.
 */
#include "lib/tracer/ring_steps.h"

#define AFTER 3

/* The outcome of the kills of a scenario. */
struct result {
	unsigned int steps; /* that the record takes */
	unsigned int before, behind, lost;
};

/* Return: whether the child was still recording after @steps; it is dead now. */
static int kill_behind(struct ring_steps *b, unsigned int steps)
{
	int busy = 1;
	pid_t pid = ring_steps_child(b);

	for (unsigned int n = 0; busy && n < steps; n++)
		busy = step_child_once(pid);
	step_child_kill(pid);
	return busy;
}

/* Another process of the user continues to record: every call is in the ring. */
static void go_on(struct ring_steps *b, uint64_t count)
{
	for (int i = 0; i < AFTER; i++)
		ring_steps_record(b, RING_STEPS_LEN);
	struct totals sum = testset_take_all(&b->t, NULL, NULL);
	CHECK(sum.count == count + AFTER, "%llu of %d records afterwards",
	      (unsigned long long)(sum.count - count), AFTER);
}

static int kill_once(const struct ring_scenario *s, unsigned int steps, struct result *result)
{
	struct ring_steps b;

	ring_steps_make(&b, s);
	uint64_t lost_before = testset_cut(&b.t, b.ring).lost_full;
	int busy = kill_behind(&b, steps);
	struct totals sum = testset_take_all(&b.t, NULL, NULL);
	uint64_t accounted = sum.count + testset_lost(&sum);
	CHECK(accounted == b.calls || accounted == b.calls + 1,
	      "%s, %u steps: %llu calls, %llu recorded, %llu lost", s->name, steps,
	      (unsigned long long)b.calls, (unsigned long long)sum.count,
	      (unsigned long long)testset_lost(&sum));
	CHECK(!sum.busy && !sum.size, "%s, %u steps: wrong loss", s->name, steps);
	CHECK(busy || accounted == b.calls + 1, "%s: returned and neither recorded nor lost",
	      s->name);
	result->before += accounted == b.calls;
	result->behind += accounted == b.calls + 1;
	result->lost += sum.full > lost_before;
	if (!s->exclusive)
		go_on(&b, sum.count);
	ring_steps_free(&b);
	return busy;
}

static void all_steps(const struct ring_scenario *s)
{
	struct result result = { 0 };
	unsigned int stride = step_stride();

	/* a short run: another part of them in each scenario */
	result.steps = (unsigned int)(s - ring_scenarios) % stride;
	while (kill_once(s, result.steps, &result))
		CHECK((result.steps += stride) < STEP_MAX, "%s: no end in %d steps", s->name,
		      STEP_MAX);
	printf("%-28s killed at %3u steps: %3u before the record was there, %3u behind\n", s->name,
	       result.steps, result.before, result.behind);
	CHECK(result.before * stride > 10 && result.behind, "%s: no commit between", s->name);
	CHECK((s->place == FULL) == (result.lost > 0), "%s: %u times full", s->name, result.lost);
}

int main(void)
{
	ring_steps_begin();
	for (size_t i = 0; i < NR_RING_SCENARIOS; i++)
		all_steps(&ring_scenarios[i]);
	return 0;
}
