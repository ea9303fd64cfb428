/* SPDX-License-Identifier: GPL-2.0-only */
#include "ring_steps.h"

#include "tracer/ring/context.h"

#define RING_STEPS_SUBBUFS 2
#define RING_STEPS_SUBBUF_SIZE 4096u
#define RING_STEPS_LEAST ((uint32_t)sizeof(struct body))

const struct ring_scenario ring_scenarios[] = {
	{ "first", 5, FIRST, LTT_RING_DISCARD, 0, NULL },
	{ "compact", 5, BEHIND, LTT_RING_DISCARD, 0, NULL },
	{ "usual", 5, USUAL, LTT_RING_DISCARD, 0, NULL },
	{ "usual, wide", 1000, USUAL, LTT_RING_DISCARD, 0, NULL },
	{ "wide", 1000, BEHIND, LTT_RING_DISCARD, 0, NULL },
	{ "extended", 70000, BEHIND, LTT_RING_DISCARD, 0, NULL },
	{ "new sub-buffer", 5, CROSSING, LTT_RING_DISCARD, 0, NULL },
	{ "end of the ring", 5, WRAPPING, LTT_RING_DISCARD, 0, NULL },
	{ "full", 5, FULL, LTT_RING_DISCARD, 0, NULL },
	{ "overwrite, compact", 5, BEHIND, LTT_RING_OVERWRITE, 0, NULL },
	{ "overwrite, new sub-buffer", 5, CROSSING, LTT_RING_OVERWRITE, 0, NULL },
	{ "overwrite, end of the ring", 5, WRAPPING, LTT_RING_OVERWRITE, 0, NULL },
	{ "process, first", 5, FIRST, LTT_RING_DISCARD, 1, NULL },
	{ "process, wide", 1000, BEHIND, LTT_RING_DISCARD, 1, NULL },
	{ "process, new sub-buffer", 5, CROSSING, LTT_RING_DISCARD, 1, NULL },
	{ "process, full", 5, FULL, LTT_RING_DISCARD, 1, NULL },
	{ "process, overwrite", 5, WRAPPING, LTT_RING_OVERWRITE, 1, NULL },
	{ "contexts", 6, USUAL, LTT_RING_DISCARD, 0, "vpid,vtid,procname" },
	{ "contexts, new sub-buffer", 6, CROSSING, LTT_RING_DISCARD, 0, "vpid,cpu_id,procname,ip" },
	{ "contexts, full", 6, FULL, LTT_RING_DISCARD, 0, "vpid,vtid,procname" },
	{ "contexts, process", 6, BEHIND, LTT_RING_DISCARD, 1, "vpid,vtid,procname" },
};

static void ring_steps_write(struct ring_steps *b, const void *payload, uint32_t len)
{
	if (b->preparation)
		ring_record_prepared(&b->hook, b->preparation, payload, len, 0, NULL);
	else
		ring_record(&b->hook, payload, len);
}

void ring_steps_record(struct ring_steps *b, uint32_t len)
{
	uint8_t payload[RING_STEPS_LEN + LTT_PAYLOAD_SLACK];

	testset_fill(payload, len, 1, b->calls++);
	ring_steps_write(b, payload, len);
}

static uint64_t ring_steps_position(const struct ring_steps *b)
{
	return testset_cut(&b->t, b->ring).pub & LTT_POS_MASK;
}

/* Record until the next one of RING_STEPS_LEN bytes reaches beyond a multiple of @size. */
static void ring_steps_fill_up_to(struct ring_steps *b, uint64_t size)
{
	uint32_t bytes = RING_STEPS_LEN + b->contexts_bytes;

	while (size - ring_steps_position(b) % size > bytes) {
		ring_steps_record(b, RING_STEPS_LEAST);
		if (b->t.desc.mode == LTT_RING_OVERWRITE)
			testset_take(&b->t, b->ring, NULL, NULL);
	}
}

static void ring_steps_fill(struct ring_steps *b, enum ring_place place)
{
	if (place == FIRST)
		return;
	ring_steps_record(b, RING_STEPS_LEAST);
	if (place == USUAL) /* the first one's header is of another kind, and leaves no hints */
		ring_steps_record(b, RING_STEPS_LEAST);
	if (place == CROSSING)
		ring_steps_fill_up_to(b, RING_STEPS_SUBBUF_SIZE);
	if (place == WRAPPING) {
		for (int i = 0; i < 100; i++) /* room, so that the ring isn't full at its end */
			ring_steps_record(b, RING_STEPS_LEAST);
		testset_take(&b->t, b->ring, NULL, NULL);
		ring_steps_fill_up_to(b, RING_STEPS_SUBBUFS * RING_STEPS_SUBBUF_SIZE);
	}
	while (place == FULL && !testset_cut(&b->t, b->ring).lost_full)
		ring_steps_record(b, RING_STEPS_LEAST);
}

void ring_steps_make(struct ring_steps *b, const struct ring_scenario *s)
{
	memset(b, 0, sizeof(*b));
	b->ring = s->exclusive ? 0 : (uint32_t)step_cpu;
	testset_make(&b->t, b->ring + 1, RING_STEPS_SUBBUFS, RING_STEPS_SUBBUF_SIZE, s->mode,
		     TEST_CLOCK);
	b->set = testset_producer(&b->t, s->exclusive);
	if (s->contexts) {
		CHECK(context_set(s->contexts, &b->preparation), "%s", s->contexts);
		b->contexts_bytes = context_bytes(b->preparation);
	}
	testset_prefix[s->id % TESTSET_PREFIXES] = b->contexts_bytes;
	b->binding = ring_binding_prepared(b->set, s->id, 1, b->preparation);
	b->hook.binding = &b->binding;
	ring_steps_fill(b, s->place);
}

void ring_steps_free(struct ring_steps *b)
{
	b->hook.binding = NULL;
	reader_synchronize();
	ring_set_unmap(b->set);
	testset_free(&b->t);
}

static void ring_steps_record_once(void *data)
{
	struct ring_steps *b = data;

	ring_steps_write(b, b->payload, RING_STEPS_LEN);
}

pid_t ring_steps_child(struct ring_steps *b)
{
	testset_fill(b->payload, RING_STEPS_LEN, 1, b->calls);
	return step_child_begin(ring_steps_record_once, b);
}

/* The dynamic linker has resolved every function before the first step. */
static void ring_steps_warm_up(void)
{
	for (size_t i = 0; i < NR_RING_SCENARIOS; i++) {
		struct ring_steps b;

		ring_steps_make(&b, &ring_scenarios[i]);
		ring_steps_record(&b, RING_STEPS_LEN);
		ring_steps_free(&b);
	}
}

void ring_steps_begin(void)
{
	step_begin();
	ring_steps_warm_up();
}
