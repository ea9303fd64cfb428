/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as the program of an event filter, and others as a payload. */
#include <stdlib.h>
#include <string.h>

#include "filter/program.h"
#include "must_hold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ltt_filter_value values[LTT_FILTER_CONTEXTS_MAX] = {
	{ .kind = LTT_FILTER_INTEGER, .integer = 42 },
	{ .kind = LTT_FILTER_TEXT, .text = "nginx", .length = 5 },
	{ .kind = LTT_FILTER_NUMBER, .number = 2.5 },
};

/* In memory of its size. */
static void *copy_of(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	MUST_HOLD(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

static uint64_t words[LTT_FILTER_WORDS];

static uint64_t *words_of(struct ltt_filter_state *state)
{
	(void)state;
	return words;
}

static uint64_t no_time(uint32_t clock)
{
	MUST_HOLD(clock <= 1);
	return 1000000;
}

/* An event that is rejected is so whatever was recorded before. */
static void run(const struct ltt_filter *verified, const void *payload, size_t length)
{
	struct ltt_filter_samplers samplers = { .random = 1 };
	struct ltt_filter_state state = { &samplers, words_of, no_time, 0 };
	bool accepted = ltt_filter_run(verified, payload, length, values);

	MUST_HOLD(ltt_filter_run(verified, payload, length, values) == accepted);
	memset(words, 0, sizeof(words));
	for (int i = 0; i < 3; i++) {
		enum ltt_filter_verdict verdict =
			ltt_filter_decide(verified, payload, length, values, &state);

		/* a program that ends behind a sampling instruction may skip or reject there */
		MUST_HOLD(verdict == LTT_FILTER_SKIPPED ?
				  ltt_filter_samples(verified) :
				  (verdict == LTT_FILTER_ACCEPTED) == accepted);
	}
}

/* The first two bytes: the length of the payload, which comes next. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ltt_filter *verified;
	size_t length;
	void *payload, *program;

	if (size < 2)
		return 0;
	length = data[0] | (size_t)data[1] << 8;
	if (length > size - 2)
		return 0;
	payload = copy_of(data + 2, length);
	program = copy_of(data + 2 + length, size - 2 - length);
	verified = ltt_filter_verify(program, size - 2 - length);
	MUST_HOLD(!verified || verified == program);
	if (verified)
		run(verified, payload, length);
	free(payload);
	free(program);
	return 0;
}
