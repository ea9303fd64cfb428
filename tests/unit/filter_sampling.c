/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions that sample: counts are exact, hashes are independent of each other and the same
 * everywhere, rates and numbers with a clock of the test's, members that the verifier rejects. */
#include <string.h>

#include "check.h"
#include "filter/program.h"

/* Of 1 to 16, and of "a" to "h": computed by another program. */
#define FIXED_CHOICES 0x73416bu

struct program {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[4];
};

static struct ltt_filter_samplers samplers;
static uint64_t words[LTT_FILTER_WORDS];
static uint64_t clock_now;
static bool no_words;
static uint32_t nr_words; /* requests for them */

static uint64_t *test_words(struct ltt_filter_state *state)
{
	(void)state;
	nr_words++;
	return no_words ? NULL : words;
}

static uint64_t test_now(uint32_t clock)
{
	CHECK_IS(clock, <=, 1);
	return clock_now;
}

static struct ltt_filter_state state = { &samplers, test_words, test_now, 0 };

/* --- programs ------------------------------------------------------------------------- */

static struct program program_of(struct ltt_filter_insn sampling)
{
	struct program p = {
		.head = { .magic = LTT_FILTER_MAGIC, .version = LTT_FILTER_VERSION, .nr_insns = 4 }
	};

	/* u64 at 0 and the text at 8 */
	p.insns[0] = (struct ltt_filter_insn){ .op = LTT_FILTER_LOAD,
					       .type = 3,
					       .base = LTT_FILTER_FIXED };
	p.insns[1] = (struct ltt_filter_insn){ .op = LTT_FILTER_HOLD,
					       .type = LTT_FILTER_STRING,
					       .base = LTT_FILTER_FIXED,
					       .offset = 8 };
	p.insns[2] = sampling;
	p.insns[3] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	return p;
}

static bool valid(struct ltt_filter_insn sampling)
{
	const struct program p = program_of(sampling);

	return ltt_filter_verify(&p, ltt_filter_bytes((const struct ltt_filter *)&p));
}

static enum ltt_filter_verdict decide(const struct program *p, uint64_t value, const char *text)
{
	char payload[24] = { 0 };

	memcpy(payload, &value, 8);
	strcpy(payload + 8, text);
	return ltt_filter_decide((const struct ltt_filter *)p, payload, sizeof(payload), NULL,
				 &state);
}

#define INSN(...) program_of((struct ltt_filter_insn){ __VA_ARGS__ })

/* Of @nr events. */
static uint32_t taken(const struct program *p, uint32_t nr)
{
	uint32_t accepted = 0;

	for (uint32_t i = 0; i < nr; i++) {
		enum ltt_filter_verdict verdict = decide(p, i, "x");

		CHECK(verdict == LTT_FILTER_ACCEPTED || verdict == LTT_FILTER_SKIPPED);
		accepted += verdict == LTT_FILTER_ACCEPTED;
	}
	return accepted;
}

/* --- by count ------------------------------------------------------------------------- */

/* One of each N, at any place among them. */
static void test_count(void)
{
	struct program p = INSN(.op = LTT_FILTER_SAMPLE, .constant = 8);
	uint32_t at[8] = { 0 };

	for (uint32_t block = 0; block < 4000; block++)
		for (uint32_t i = 0, seen = 0; i < 8; i++) {
			bool one = decide(&p, i, "x") == LTT_FILTER_ACCEPTED;

			at[i] += one;
			seen += one;
			CHECK(seen == (i == 7 ? 1 : seen) && seen <= 1);
		}
	for (uint32_t i = 0; i < 8; i++)
		CHECK(at[i] > 350 && at[i] < 650); /* 500 +- 7 sigma */
	p.insns[2].constant = 1;
	CHECK_IS(taken(&p, 100), ==, 100);
	p.insns[2].constant = UINT32_MAX;
	CHECK_IS(taken(&p, 1000), <=, 1);
}

/* Two events that share a sampler: each is recorded with its probability. */
static void test_shared(void)
{
	struct program a = INSN(.op = LTT_FILTER_SAMPLE, .constant = 10, .offset = 1);
	struct program b =
		INSN(.op = LTT_FILTER_SAMPLE, .constant = 2, .offset = 1 + LTT_FILTER_SAMPLERS);
	uint32_t of_a = 0, of_b = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		of_a += decide(&a, i, "x") == LTT_FILTER_ACCEPTED;
		of_b += decide(&b, i, "x") == LTT_FILTER_ACCEPTED;
	}
	CHECK(of_a > 9300 && of_a < 10700 && of_b > 48800 && of_b < 51200);
}

/* --- by value ------------------------------------------------------------------------- */

static void test_values(void)
{
	struct program p = INSN(.op = LTT_FILTER_SAMPLE_BY, .constant = UINT64_MAX / 4);
	struct program text = INSN(.op = LTT_FILTER_SAMPLE_BY_TEXT, .constant = UINT64_MAX / 4);
	struct program rarer = INSN(.op = LTT_FILTER_SAMPLE_BY, .constant = UINT64_MAX / 8);
	uint32_t even = 0, odd = 0, texts = 0, both = 0;
	char name[16];

	for (uint64_t i = 0; i < 40000; i++) {
		enum ltt_filter_verdict verdict = decide(&p, i, "a");

		snprintf(name, sizeof(name), "id-%u", (unsigned int)i);
		CHECK_IS(decide(&p, i, "b"), ==, verdict); /* the same value, the same choice */
		if (decide(&rarer, i, "a") == LTT_FILTER_ACCEPTED)
			CHECK_IS(verdict, ==,
				 LTT_FILTER_ACCEPTED); /* the rarer ones are among them */
		*(i % 2 ? &odd : &even) += verdict == LTT_FILTER_ACCEPTED;
		texts += decide(&text, 0, name) == LTT_FILTER_ACCEPTED;
		both += verdict == LTT_FILTER_ACCEPTED &&
			decide(&text, 0, name) == LTT_FILTER_ACCEPTED;
	}
	/* 5000, 5000, 10000 and 2500 +- 7 sigma */
	CHECK(even > 4570 && even < 5430 && odd > 4570 && odd < 5430);
	CHECK(texts > 9400 && texts < 10600);
	CHECK(both > 2160 && both < 2840);
}

/* Traces of machines and versions are joined by these. */
static void test_fixed(void)
{
	struct program p = INSN(.op = LTT_FILTER_SAMPLE_BY, .constant = UINT64_MAX / 2);
	uint32_t bits = 0;

	for (uint64_t i = 1; i <= 16; i++)
		bits = bits << 1 | (decide(&p, i, "x") == LTT_FILTER_ACCEPTED);
	p.insns[2].op = LTT_FILTER_SAMPLE_BY_TEXT;
	for (char t[] = "a"; *t <= 'h'; ++*t)
		bits = bits << 1 | (decide(&p, 0, t) == LTT_FILTER_ACCEPTED);
	printf("choices 0x%x\n", bits);
	CHECK_IS(bits, ==, FIXED_CHOICES);
}

/* --- rates and numbers ------------------------------------------------------------------ */

static struct program program_of_rate(uint64_t interval, uint64_t burst)
{
	return INSN(.op = LTT_FILTER_RATE, .a = 1, .offset = 3,
		    .constant = interval | burst << LTT_FILTER_INTERVAL_BITS);
}

static void test_rate(void)
{
	struct program p = program_of_rate(100, 5);
	uint32_t sum = 0;

	memset(words, 0, sizeof(words));
	clock_now = 1000000;
	state.closed = 0;
	CHECK_IS(taken(&p, 50), ==, 5); /* the burst */
	nr_words = 0;
	CHECK(taken(&p, 50) == 0 && nr_words == 0); /* rejected without reading the words */
	clock_now += 99;
	CHECK_IS(taken(&p, 10), ==, 0);
	clock_now += 1;
	CHECK_IS(taken(&p, 10), ==, 1);
	for (int i = 0; i < 1000; i++) {
		clock_now += 10;
		sum += taken(&p, 3);
	}
	CHECK_IS(sum, ==, 100);
	clock_now += 100000; /* a pause earns no more than a burst */
	CHECK_IS(taken(&p, 50), ==, 5);
	state.closed = 0;
	CHECK_IS(taken(&p, 50), ==, 0); /* as another process sees it */
	words[3] = clock_now + 1000000; /* of a slower rate before */
	state.closed = 0;
	CHECK_IS(taken(&p, 50), ==, 5);
	p = program_of_rate(1, 1);
	state.closed = 0;
	words[3] = 0;
	for (int i = 0; i < 100; i++, clock_now++)
		CHECK_IS(taken(&p, 2), ==, 1);
}

static void test_first(void)
{
	struct program p = INSN(.op = LTT_FILTER_FIRST, .offset = 7,
				.constant = 10 | 1ull << LTT_FILTER_FIRST_BITS);

	memset(words, 0, sizeof(words));
	state.closed = 0;
	CHECK_IS(taken(&p, 8), ==, 8);
	CHECK(taken(&p, 8) == 2 && state.closed == UINT64_MAX);
	nr_words = 0;
	CHECK(taken(&p, 8) == 0 && nr_words == 0);
	state.closed = 0;
	CHECK(taken(&p, 8) == 0 && nr_words == 1);
	p.insns[2].constant = 10 | 2ull << LTT_FILTER_FIRST_BITS; /* the next start */
	state.closed = 0;
	CHECK_IS(taken(&p, 20), ==, 10);
	for (uint32_t i = 0; i < LTT_FILTER_WORDS; i++)
		CHECK(i == 7 || !words[i]);
}

static void test_without_state(void)
{
	struct program p = INSN(.op = LTT_FILTER_SAMPLE, .constant = 1000);
	char payload[24] = { 0 };

	for (uint8_t op = LTT_FILTER_SAMPLE; op <= LTT_FILTER_FIRST; op++) {
		p.insns[2].op = op;
		p.insns[2].constant = op == LTT_FILTER_RATE ? 1ull << LTT_FILTER_INTERVAL_BITS : 0;
		for (int i = 0; i < 10; i++)
			CHECK(ltt_filter_run((const struct ltt_filter *)&p, payload,
					     sizeof(payload), NULL));
	}
	p = program_of_rate(100, 1);
	no_words = true;
	state.closed = 0;
	CHECK_IS(taken(&p, 10), ==, 10);
	no_words = false;
}

/* --- the verifier ------------------------------------------------------------------------ */

static void test_members(void)
{
	const uint64_t burst = 1ull << LTT_FILTER_INTERVAL_BITS;

#define V(...) valid((struct ltt_filter_insn){ __VA_ARGS__ })
	CHECK(V(.op = LTT_FILTER_SAMPLE, .constant = UINT32_MAX, .offset = 0xffff));
	CHECK(!V(.op = LTT_FILTER_SAMPLE));
	CHECK(!V(.op = LTT_FILTER_SAMPLE, .constant = 1ull << 32));
	CHECK(V(.op = LTT_FILTER_SAMPLE_BY));
	CHECK(!V(.op = LTT_FILTER_SAMPLE_BY, .a = 1)); /* was not written */
	CHECK(V(.op = LTT_FILTER_SAMPLE_BY_TEXT));
	CHECK(V(.op = LTT_FILTER_RATE, .constant = burst | 1, .offset = LTT_FILTER_WORDS - 1));
	CHECK(!V(.op = LTT_FILTER_RATE, .constant = burst | 1, .offset = LTT_FILTER_WORDS));
	CHECK(!V(.op = LTT_FILTER_RATE, .constant = burst));
	CHECK(!V(.op = LTT_FILTER_RATE, .constant = 1));
	CHECK(!V(.op = LTT_FILTER_RATE, .constant = burst | 1, .a = 2));
	CHECK(V(.op = LTT_FILTER_FIRST, .offset = LTT_FILTER_WORDS - 1));
	CHECK(!V(.op = LTT_FILTER_FIRST, .offset = LTT_FILTER_WORDS));
}

static void test_needs_text(void)
{
	struct program p = INSN(.op = LTT_FILTER_SAMPLE_BY_TEXT);

	p.insns[1] = (struct ltt_filter_insn){ .op = LTT_FILTER_CONSTANT };
	CHECK(!ltt_filter_verify(&p, ltt_filter_bytes((const struct ltt_filter *)&p)));
	CHECK(ltt_filter_samples((const struct ltt_filter *)&p));
	p.insns[2] = p.insns[1];
	CHECK(!ltt_filter_samples((const struct ltt_filter *)&p));
}

int main(void)
{
	test_count();
	test_shared();
	test_values();
	test_fixed();
	test_rate();
	test_first();
	test_without_state();
	test_members();
	test_needs_text();
	return 0;
}
