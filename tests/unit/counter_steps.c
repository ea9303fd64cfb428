// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread dies, or is preempted, behind every single instruction of an addition to a counter:
 * it was added or it was not; and if another counter has replaced the one that it adds to, no
 * thread writes to the old one's memory once reader_synchronize() has returned.
 */
#include <sys/mman.h>

#include "lib/tracer/step_child.h"
#include "tracer/emit/counter.h"
#include "tracer/ring/section.h"

#define WORD 3u
#define STRIDE 8u /* words */

static uint64_t *memory; /* of two counters, shared with children */

struct counted {
	struct hook hook;
	struct counter first, second;
};

static uint64_t *make_memory(void)
{
	size_t bytes = 2 * ((size_t)step_cpu + 2) * STRIDE * sizeof(*memory);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED, "memory");
	return map;
}

static void make(struct counted *c, uint32_t field)
{
	const uint32_t nr_cpus = (uint32_t)step_cpu + 1;
	const size_t words = (nr_cpus + 1) * (size_t)STRIDE;

	memset(memory, 0, 2 * words * sizeof(*memory));
	c->first = (struct counter){ memory, STRIDE * 8, nr_cpus, COUNTER_HITS, nr_cpus, NULL, 0 };
	c->second =
		(struct counter){ memory + words, STRIDE * 8, nr_cpus, field, nr_cpus, NULL, 0 };
	c->hook = (struct hook){ .counter = &c->first, .field = COUNTER_HITS };
}

static void add_once(void *data)
{
	const struct counted *c = data;

	if (section_add(&c->hook, WORD, 5, COUNTER_HITS))
		_exit(1); /* this CPU has a part */
}

/* Nothing else was written. */
static uint64_t value(const struct counter *counter)
{
	for (uint32_t i = 0; i < (counter->nr_cpus + 1) * STRIDE; i++)
		CHECK(!counter->words[i] || i == (uint32_t)step_cpu * STRIDE + WORD, "word %u", i);
	return counter->words[(uint32_t)step_cpu * STRIDE + WORD];
}

static int kill_once(unsigned int steps, unsigned int *added)
{
	struct counted c;

	make(&c, COUNTER_HITS);
	struct stepper s = { .pid = step_child_begin(add_once, &c), .busy = 1 };
	step_child_advance(&s, steps);
	step_child_kill(s.pid);
	uint64_t got = value(&c.first);
	CHECK(got == 0 || got == 5, "killed at step %u: %llu", steps, (unsigned long long)got);
	CHECK(s.busy || got == 5, "returned, and nothing was added");
	*added += got == 5;
	return s.busy;
}

/* @field: of the counter that it finds instead: then the addition is for another event. */
static int preempt_once(unsigned int steps, uint32_t field, unsigned int *elsewhere)
{
	struct counted c;

	make(&c, field);
	struct stepper s = { .pid = step_child_begin(add_once, &c), .busy = 1 };
	step_child_advance(&s, steps);
	uint64_t before = value(&c.first);
	if (s.busy)
		step_child_replace(&s, &c.hook.counter, &c.second);
	uint64_t there = value(&c.second);
	step_child_kill(s.pid);
	CHECK(value(&c.first) == before, "step %u: added to the old counter", steps);
	CHECK(before + there == 5 || (field != COUNTER_HITS && before + there == 0),
	      "preempted at step %u: %llu and %llu", steps, (unsigned long long)before,
	      (unsigned long long)there);
	CHECK(field == COUNTER_HITS || !there, "step %u: another event's was added", steps);
	*elsewhere += !before;
	return s.busy;
}

int main(void)
{
	unsigned int steps = 0, added = 0, elsewhere = 0, other = 0;

#ifndef SECTION_HAS_ADD
	SKIP("no sequence that adds");
#endif
	step_begin();
	memory = make_memory();
	struct counted c;
	make(&c, COUNTER_HITS);
	add_once(&c); /* no step goes into the dynamic linker's way to it */
	while (kill_once(steps, &added))
		CHECK(++steps < STEP_MAX, "no end");
	CHECK(added > 3 && added < steps, "no commit between: %u of %u", added, steps);
	for (unsigned int n = 0; n < steps; n++) {
		preempt_once(n, COUNTER_HITS, &elsewhere);
		preempt_once(n, 0, &other);
	}
	printf("killed at %u steps: %u times behind the addition; preempted: %u times begun again\n",
	       steps, added, elsewhere);
	CHECK(elsewhere > 3 && elsewhere == other, "begun again %u and %u times", elsewhere, other);
	return 0;
}
