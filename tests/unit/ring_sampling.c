/* SPDX-License-Identifier: GPL-2.0-only */
/* Sampling of records, by 1 and 4 threads, in shared and exclusive ring sets: recorded, lost and
 * not sampled are all that was emitted, and of each N events of a thread one is recorded. Rates and
 * numbers of events are those of all threads and bindings of a ring set. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "filter/program.h"
#include "lib/tracer/testset.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/rseq.h"

#define EVENTS 80000u /* of each thread; a multiple of ONE_IN */
#define ONE_IN 8u
#define FIRST 1000u
#define MOST_THREADS 4

struct program {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[3];
};

static struct hook hooks[2]; /* two events of one rule */
static uint32_t filter;
static uint64_t passing = EVENTS; /* of each thread: those that are sampled */

enum test { NO_TEST, HOLDS, HOLDS_FOR_HALF };

static struct program program_of(struct ltt_filter_insn sampling, enum test test)
{
	struct program p = { .head = { .magic = LTT_FILTER_MAGIC, .version = LTT_FILTER_VERSION } };

	if (test != NO_TEST)
		p.insns[p.head.nr_insns++] =
			(struct ltt_filter_insn){ .op = LTT_FILTER_TEST_FIELD,
						  .type = 2,
						  .base = LTT_FILTER_FIXED,
						  .a = LTT_FILTER_GE,
						  .constant = sizeof(struct body) +
							      (test == HOLDS ? 0 : 10) };
	p.insns[p.head.nr_insns++] = sampling;
	p.insns[p.head.nr_insns++] =
		(struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	return p;
}

static void *writer(void *arg)
{
	uint8_t payload[64 + LTT_PAYLOAD_SLACK];
	const struct hook *hook = &hooks[(uintptr_t)arg % 2];

	for (uint64_t n = 0; n < EVENTS; n++) {
		uint32_t hint = __atomic_load_n(&hook->preparation, __ATOMIC_ACQUIRE);

		testset_fill(payload, sizeof(struct body) + n % 20, (uint32_t)(uintptr_t)arg, n);
		ring_record_prepared(hook, hint, payload, sizeof(struct body) + n % 20, 0,
				     NULL);
		if (n % 5000 == 0)
			sched_yield();
	}
	return NULL;
}

static uint64_t not_sampled(const struct testset *t)
{
	uint64_t sum = 0;

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		sum += testset_prod(t, ring)->not_sampled +
		       testset_prod(t, ring)->not_sampled_apart;
	return sum;
}

static uint64_t not_sampled_apart(const struct testset *t)
{
	uint64_t sum = 0;

	for (uint32_t ring = 0; ring < t->desc.nr_rings; ring++)
		sum += testset_prod(t, ring)->not_sampled_apart;
	return sum;
}

static void arm(struct ring_set *set, const void *programs, size_t len)
{
	CHECK(admit_filter(programs, len, "", &filter), "the programs");
	for (int i = 0; i < 2; i++) {
		struct binding *binding = aligned_alloc(64, 128);

		CHECK(binding, "binding");
		*binding = ring_binding_prepared(set, 3 + (uint32_t)i, 1, preparation(filter, 0));
		hooks[i] = (struct hook){ .binding = binding, .preparation = binding->preparation };
	}
}

static void disarm(void)
{
	admit_unref(filter);
	for (int i = 0; i < 2; i++) {
		free((void *)hooks[i].binding);
		hooks[i] = (struct hook){ 0 };
	}
	admit_free(admit_retired());
}

/* Return: recorded and lost. */
static uint64_t run(const char *name, int threads, int exclusive, const void *programs, size_t len)
{
	pthread_t thread[MOST_THREADS];
	struct testset t;
	uint64_t taken, skipped;

	testset_make(&t, testset_nr_cpus(), 4, 1 << 18, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, exclusive);
	arm(set, programs, len);
	for (intptr_t i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)i), "thread");
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	taken = testset_accounted(&t);
	skipped = not_sampled(&t);
	printf("%-12s %d threads, %s: %8llu recorded or lost %8llu not sampled (%llu apart)\n",
	       name, threads, exclusive ? "exclusive" : "shared   ", (unsigned long long)taken,
	       (unsigned long long)skipped, (unsigned long long)not_sampled_apart(&t));
	CHECK(taken + skipped == (uint64_t)threads * passing, "%s: not exact", name);
	testset_state(&t, 0); /* off: neither recorded nor counted */
	writer(NULL);
	CHECK(testset_accounted(&t) == taken && not_sampled(&t) == skipped, "counted while off");
	disarm();
	ring_set_unmap(set);
	testset_free(&t);
	return taken;
}

static uint64_t run_one(const char *name, int threads, int exclusive,
			struct ltt_filter_insn sampling, enum test test)
{
	struct program p = program_of(sampling, test);
	uint64_t taken;

	passing = test == HOLDS_FOR_HALF ? EVENTS / 2 : EVENTS;
	taken = run(name, threads, exclusive, &p, ltt_filter_bytes((const struct ltt_filter *)&p));
	passing = EVENTS;
	return taken;
}

/* By a length, which has a few values: those are taken that the program takes, run alone. */
static void test_by(int threads, int exclusive)
{
	struct program p = { .head = { .magic = LTT_FILTER_MAGIC,
				       .version = LTT_FILTER_VERSION,
				       .nr_insns = 3 },
			     .insns = { { .op = LTT_FILTER_LOAD,
					  .type = 2 | LTT_FILTER_SIGNED,
					  .base = LTT_FILTER_FIXED },
					{ .op = LTT_FILTER_SAMPLE_BY, .constant = UINT64_MAX / 3 },
					{ .op = LTT_FILTER_RETURN, .constant = 1 } } };
	const struct ltt_filter *program = (const struct ltt_filter *)&p;
	struct ltt_filter_samplers samplers = { 0 };
	struct ltt_filter_state state = { .samplers = &samplers };
	uint64_t taken = 0;

	for (uint64_t n = 0; n < EVENTS; n++) {
		uint8_t payload[64 + LTT_PAYLOAD_SLACK];
		size_t len = sizeof(struct body) + n % 20;

		testset_fill(payload, len, 0, n);
		taken += ltt_filter_decide(program, payload, len, NULL, &state) ==
			 LTT_FILTER_ACCEPTED;
	}
	CHECK(taken > 0 && taken < EVENTS, "%llu by value", (unsigned long long)taken);
	CHECK(run("by value", threads, exclusive, &p, ltt_filter_bytes(program)) ==
		      taken * (uint64_t)threads,
	      "the same values");
}

static void test_ring(int threads, int exclusive)
{
	const struct ltt_filter_insn count = { .op = LTT_FILTER_SAMPLE, .constant = ONE_IN };
	const struct ltt_filter_insn first = { .op = LTT_FILTER_FIRST,
					       .offset = LTT_FILTER_WORDS - 1,
					       .constant = FIRST | 1ull << LTT_FILTER_FIRST_BITS };
	/* an hour's interval: the burst, and then none */
	const struct ltt_filter_insn rate = { .op = LTT_FILTER_RATE,
					      .a = TEST_CLOCK,
					      .offset = 2,
					      .constant = 3600000000000ull |
							  50ull << LTT_FILTER_INTERVAL_BITS };
	struct program two[2] = { program_of(count, HOLDS), program_of(first, HOLDS) };
	uint64_t all = (uint64_t)threads * EVENTS;

	CHECK(run_one("1/8", threads, exclusive, count, HOLDS) == all / ONE_IN, "one in 8");
	CHECK(run_one("1/8 of all", threads, exclusive, count, NO_TEST) == all / ONE_IN, "one in 8");
	CHECK(run_one("first 1000", threads, exclusive, first, HOLDS) == FIRST, "the first ones");
	CHECK(run_one("50 at once", threads, exclusive, rate, HOLDS) == 50, "the burst");
	CHECK(run_one("50 of all", threads, exclusive, rate, NO_TEST) == 50, "the burst");
	CHECK(run_one("50 of half", threads, exclusive, rate, HOLDS_FOR_HALF) == 50, "the burst");
	CHECK(run_one("1/8 of half", threads, exclusive, count, HOLDS_FOR_HALF) == all / 2 / ONE_IN,
	      "one in 8 of those for which the test holds");
	test_by(threads, exclusive);
	CHECK(run("1/8 or first", threads, exclusive, two, sizeof(two)) == all / ONE_IN + FIRST,
	      "one in 8, and of the others the first ones");
}

/* Words of a ring set with a producer block of several pages are behind its regions, too. */
static void test_words(uint32_t num_subbuf)
{
	const struct ltt_filter_insn first = { .op = LTT_FILTER_FIRST,
					       .offset = LTT_FILTER_WORDS - 1,
					       .constant = 3 };
	struct program p = program_of(first, NO_TEST);
	struct body body = { .len = sizeof(body) };
	struct testset t;
	int admitted = 0;

	testset_make(&t, 1, num_subbuf, 4096, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, 0);
	arm(set, &p, ltt_filter_bytes((const struct ltt_filter *)&p));
	for (int i = 0; i < 10; i++)
		admitted +=
			admit_event(&hooks[i % 2], hooks[i % 2].preparation, &body, sizeof(body),
				    NULL);
	CHECK(admitted == 3, "%d of %u sub-buffers", admitted, num_subbuf);
	uint64_t *words = (uint64_t *)&testset_prod(&t, 0)->region[num_subbuf];
	CHECK((uint8_t *)(words + LTT_FILTER_WORDS) <= testset_data(&t, 0), "in the block");
	CHECK(words[LTT_FILTER_WORDS - 1] == 3, "its word");
	disarm();
	ring_set_unmap(set);
	testset_free(&t);
}

int main(void)
{
	bool rseq = ring_init() == RING_RSEQ;

	for (uint32_t num_subbuf = 1; num_subbuf <= 1024; num_subbuf *= 2)
		test_words(num_subbuf);
	for (int threads = 1; threads <= MOST_THREADS; threads *= 4) {
		if (rseq)
			test_ring(threads, 0);
		test_ring(threads, 1);
	}
	return 0;
}
