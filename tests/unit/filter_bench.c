/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of a filter's program in nanoseconds, beside that of a call that returns at once: the
 * smallest of many short runs. Prints a line for each; asserts nothing about time. As a test it
 * runs briefly; `filter_bench 20000` takes so many runs a figure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "filter/program.h"

#define SLICE 1000u

/** A program in the memory that its header describes. */
struct filter_sample {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[4];
	char text[8];
};

static const struct payload {
	uint32_t a, b;
	char text[24];
} payload = { 5, 3, "/var/lib/service/data" };

static const struct filter_sample *volatile sample;
static uint32_t slices = 200;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static __attribute__((noinline)) bool empty_call(const void *program, const void *bytes, size_t len)
{
	__asm__ volatile("" : : "r"(program), "r"(bytes), "r"(len));
	return false;
}

static __attribute__((noinline)) bool filtered_call(const void *program, const void *bytes,
						    size_t len)
{
	return ltt_filter_run(program, bytes, len, NULL);
}

static double best_ns(bool (*call)(const void *, const void *, size_t), uint32_t *ret_accepted)
{
	double best = 1e9;

	*ret_accepted = 0;
	for (uint32_t i = 0; i < slices; i++) {
		uint64_t begin = now_ns();
		double ns;

		for (uint32_t j = 0; j < SLICE; j++)
			*ret_accepted += call((const void *)sample, &payload, sizeof(payload));
		ns = (double)(now_ns() - begin) / SLICE;
		best = ns < best ? ns : best;
	}
	return best;
}

static void measure(const char *name, const struct filter_sample *program, bool accepts)
{
	size_t bytes = sizeof(program->head) + program->head.nr_insns * sizeof(program->insns[0]);
	struct filter_sample packed = *program;
	uint32_t accepted, none;
	double empty, ns;

	memcpy((char *)&packed + bytes, program->text, program->head.text_bytes);
	CHECK(ltt_filter_verify(&packed, bytes + program->head.text_bytes));
	sample = &packed;
	empty = best_ns(empty_call, &none);
	ns = best_ns(filtered_call, &accepted);
	CHECK_IS(accepted, ==, (accepts ? slices * SLICE : 0));
	printf("%-28s %6.2f ns, %6.2f over an empty call\n", name, ns, ns - empty);
}

#define HEAD(insns, bytes)                       \
	.head = { .magic = LTT_FILTER_MAGIC,     \
		  .version = LTT_FILTER_VERSION, \
		  .nr_insns = insns,             \
		  .text_bytes = bytes }
#define WORD(at, relation, value)                                                                \
	{                                                                                        \
		.op = LTT_FILTER_TEST_FIELD, .type = 2, .a = relation, .base = LTT_FILTER_FIXED, \
		.offset = at, .constant = value                                                  \
	}
#define ACCEPT                                         \
	{                                              \
		.op = LTT_FILTER_RETURN, .constant = 1 \
	}

int main(int argc, char **argv)
{
	static const struct filter_sample always = { HEAD(1, 0), .insns = { ACCEPT } };
	static const struct filter_sample reject = {
		HEAD(2, 0), .insns = { WORD(0, LTT_FILTER_GT, 5), ACCEPT }
	};
	static const struct filter_sample two = { HEAD(3, 0),
						  .insns = { WORD(0, LTT_FILTER_GT, 4),
							     WORD(4, LTT_FILTER_EQ, 3), ACCEPT } };
	static const struct filter_sample prefix = {
		HEAD(2, 6),
		.insns = { { .op = LTT_FILTER_TEST_TEXT,
			     .type = LTT_FILTER_STRING,
			     .a = LTT_FILTER_PREFIX,
			     .base = LTT_FILTER_FIXED,
			     .offset = 8,
			     .constant = 6 << 16 },
			   ACCEPT },
		.text = "/var/x",
	};

	if (argc > 1)
		slices = (uint32_t)strtoul(argv[1], NULL, 10);
	measure("accept at once", &always, true);
	measure("reject on an integer", &reject, false);
	measure("accept by two terms", &two, true);
	measure("reject on a prefix", &prefix, false);
	return 0;
}
