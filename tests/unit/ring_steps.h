/* SPDX-License-Identifier: GPL-2.0-only */
/* ring_steps.h - for tests that stop a process behind every instruction of a record: the
 * records to go through. */
#ifndef TESTS_RING_STEPS_H
#define TESTS_RING_STEPS_H

#include "ring_reader.h"
#include "step_child.h"

#define SUBBUFS 2
#define SUBBUF_SIZE 4096u
#define LEAST ((uint32_t)sizeof(struct body))
#define LEN 40

/* Where the record is made in its ring. USUAL: behind others, in the shortest way, which wants
 * hints that hold: nearly always, as it is made within one epoch of the clock. */
enum place { FIRST, BEHIND, USUAL, CROSSING, WRAPPING, FULL };

struct scenario {
	const char *name;
	uint32_t id;
	enum place place;
	uint32_t mode;
	int exclusive;
};

static const struct scenario scenarios[] = {
	{ "first", 5, FIRST, LTT_RING_DISCARD, 0 },
	{ "compact", 5, BEHIND, LTT_RING_DISCARD, 0 },
	{ "usual", 5, USUAL, LTT_RING_DISCARD, 0 },
	{ "usual, wide", 1000, USUAL, LTT_RING_DISCARD, 0 },
	{ "wide", 1000, BEHIND, LTT_RING_DISCARD, 0 },
	{ "extended", 70000, BEHIND, LTT_RING_DISCARD, 0 },
	{ "new sub-buffer", 5, CROSSING, LTT_RING_DISCARD, 0 },
	{ "end of the ring", 5, WRAPPING, LTT_RING_DISCARD, 0 },
	{ "full", 5, FULL, LTT_RING_DISCARD, 0 },
	{ "overwrite, compact", 5, BEHIND, LTT_RING_OVERWRITE, 0 },
	{ "overwrite, new sub-buffer", 5, CROSSING, LTT_RING_OVERWRITE, 0 },
	{ "overwrite, end of the ring", 5, WRAPPING, LTT_RING_OVERWRITE, 0 },
	{ "process, first", 5, FIRST, LTT_RING_DISCARD, 1 },
	{ "process, wide", 1000, BEHIND, LTT_RING_DISCARD, 1 },
	{ "process, new sub-buffer", 5, CROSSING, LTT_RING_DISCARD, 1 },
	{ "process, full", 5, FULL, LTT_RING_DISCARD, 1 },
	{ "process, overwrite", 5, WRAPPING, LTT_RING_OVERWRITE, 1 },
};

/* One ring with what was recorded into it. */
struct bench {
	struct testset t;
	struct ring_set *set;
	struct binding binding;
	struct hook hook;
	uint32_t ring;
	uint64_t calls;
	uint8_t payload[LEN + LTT_PAYLOAD_SLACK]; /* of a child's record */
};

#define NR_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static inline void record(struct bench *b, uint32_t len)
{
	uint8_t payload[LEN + LTT_PAYLOAD_SLACK];

	body_fill(payload, len, 1, b->calls++);
	ring_record(&b->hook, payload, len);
}

static inline uint64_t position(const struct bench *b)
{
	return testset_cut(&b->t, b->ring).pub & LTT_POS_MASK;
}

/* Record until the next one of LEN bytes reaches beyond a multiple of @size. */
static inline void fill_up_to(struct bench *b, uint64_t size)
{
	while (size - position(b) % size > LEN) {
		record(b, LEAST);
		if (b->t.desc.mode == LTT_RING_OVERWRITE)
			testset_take(&b->t, b->ring, NULL, NULL);
	}
}

static inline void fill(struct bench *b, enum place place)
{
	if (place == FIRST)
		return;
	record(b, LEAST);
	if (place == USUAL) /* the first one's header is of another kind, and leaves no hints */
		record(b, LEAST);
	if (place == CROSSING)
		fill_up_to(b, SUBBUF_SIZE);
	if (place == WRAPPING) {
		for (int i = 0; i < 100; i++) /* room, so that the ring isn't full at its end */
			record(b, LEAST);
		testset_take(&b->t, b->ring, NULL, NULL);
		fill_up_to(b, SUBBUFS * SUBBUF_SIZE);
	}
	while (place == FULL && !testset_cut(&b->t, b->ring).lost_full)
		record(b, LEAST);
}

static inline void bench_make(struct bench *b, const struct scenario *s)
{
	memset(b, 0, sizeof(*b));
	b->ring = s->exclusive ? 0 : (uint32_t)cpu;
	testset_make(&b->t, b->ring + 1, SUBBUFS, SUBBUF_SIZE, s->mode, TEST_CLOCK);
	b->set = testset_producer(&b->t, s->exclusive);
	b->binding = ring_binding(b->set, s->id, 1);
	b->hook.binding = &b->binding;
	fill(b, s->place);
}

static inline void bench_free(struct bench *b)
{
	b->hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(b->set);
	testset_free(&b->t);
}

static inline void record_once(void *data)
{
	struct bench *b = data;

	ring_record(&b->hook, b->payload, LEN);
}

/* A child that is about to record, and stopped. */
static inline pid_t bench_child(struct bench *b)
{
	body_fill(b->payload, LEN, 1, b->calls);
	return child_begin(record_once, b);
}

/* So that no step goes into the dynamic linker's way to a function. */
static inline void warm_up(void)
{
	for (size_t i = 0; i < NR_SCENARIOS; i++) {
		struct bench b;

		bench_make(&b, &scenarios[i]);
		record(&b, LEN);
		bench_free(&b);
	}
}

static inline void steps_begin(void)
{
	stepping_begin();
	warm_up();
}

#endif
