/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of records: while threads record, bindings are replaced that have none, one, or one
 * with contexts; filters that are kept and filters that are freed. Each record was accepted by the
 * filter of the binding under which it is found, and none is missing that all filters accept.
 * Relations of integers and of short strings are decided without their program, as it would. */
#include <pthread.h>
#include <unistd.h>

#include "filter/program.h"
#include "lib/tracer/testset.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/context.h"
#include "tracer/ring/prepare.h"

#define THREADS 3
#define KEPT 4096 /* filters that are never freed, 0 included */

struct program {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[4];
};

enum { ALL, EVEN, ODD, THREAD, NR_KINDS };
static const struct {
	uint32_t id;
	const char *contexts; /* of the record */
	uint32_t bytes;
	bool freed;
} kinds[NR_KINDS] = {
	[ALL] = { 3, "", 0, false },
	[EVEN] = { 5, "", 0, false },
	[ODD] = { 40, "vpid", 4, true },
	[THREAD] = { 7, "vtid,vpid", 8, true },
};

static struct hook hook;
static int stop;
static bool accept_all; /* instead of even and odd ones */
static uint64_t emitted, seen[NR_KINDS];

/* --- programs ------------------------------------------------------------------------- */

#define SEQ_TYPE 3 /* 8 bytes */

static struct program program_begin(uint16_t nr_insns, uint16_t nr_contexts)
{
	return (struct program){ .head = { .magic = LTT_FILTER_MAGIC,
					   .version = LTT_FILTER_VERSION,
					   .nr_insns = nr_insns,
					   .nr_contexts = nr_contexts } };
}

/* body.seq & @mask == @value */
static struct program program_of_bits(uint64_t mask, uint64_t value)
{
	struct program p = program_begin(4, 0);

	p.insns[0] = (struct ltt_filter_insn){ .op = LTT_FILTER_LOAD,
					       .type = SEQ_TYPE,
					       .base = LTT_FILTER_FIXED,
					       .offset = offsetof(struct body, seq) };
	p.insns[1] = (struct ltt_filter_insn){ .op = LTT_FILTER_COMPUTE_CONSTANT,
					       .type = LTT_FILTER_AND,
					       .constant = mask };
	p.insns[2] = (struct ltt_filter_insn){ .op = LTT_FILTER_TEST_REGISTER,
					       .type = LTT_FILTER_EQ,
					       .constant = value };
	p.insns[3] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	return p;
}

/* context 0 > 0 */
static struct program program_of_context(void)
{
	struct program p = program_begin(3, 1);

	p.insns[0] = (struct ltt_filter_insn){ .op = LTT_FILTER_CONTEXT };
	p.insns[1] =
		(struct ltt_filter_insn){ .op = LTT_FILTER_TEST_REGISTER, .type = LTT_FILTER_GT };
	p.insns[2] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	return p;
}

static uint32_t filter_of(int kind)
{
	const struct program parity =
		program_of_bits(accept_all ? 0 : 1, kind == ODD && !accept_all);
	const struct program thread = program_of_context();
	const struct program *p = kind == THREAD ? &thread : &parity;
	uint32_t filter = 0;

	if (kind != ALL)
		CHECK(admit_filter(p, ltt_filter_bytes((const struct ltt_filter *)p),
				   kind == THREAD ? "vtid" : "", &filter),
		      "filter %d", kind);
	return filter;
}

/* --- records -------------------------------------------------------------------------- */

static void *writer(void *arg)
{
	uint8_t payload[128 + LTT_PAYLOAD_SLACK];
	uint64_t n = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint32_t hint = __atomic_load_n(&hook.preparation, __ATOMIC_ACQUIRE);
		uint32_t len = sizeof(struct body) + (uint32_t)(n % 100);

		testset_fill(payload, len, (uint32_t)(uintptr_t)arg, n++);
		if (hint)
			ring_record_prepared(&hook, hint, payload, len, 0, NULL);
		else
			ring_record(&hook, payload, len);
	}
	__atomic_add_fetch(&emitted, n, __ATOMIC_RELAXED);
	return NULL;
}

static void check_record(const struct record *r, uint32_t ring, void *priv)
{
	struct body body;
	int kind = 0;

	(void)ring, (void)priv;
	while (kind < NR_KINDS && kinds[kind].id != r->id)
		kind++;
	CHECK(kind < NR_KINDS, "id %u", r->id);
	memcpy(&body, r->body, sizeof(body));
	CHECK(accept_all || kind != EVEN || body.seq % 2 == 0, "an odd one");
	CHECK(accept_all || kind != ODD || body.seq % 2 == 1, "an even one");
	seen[kind]++;
}

/* As the agent does: a filter is released with the arming that used it. */
static void replace(struct ring_set *set, int kind)
{
	const struct binding *old = hook.binding;
	struct binding *binding = NULL;
	struct admission *filters;
	uint32_t contexts = 0;

	if (set) {
		binding = aligned_alloc(64, 128);
		CHECK(binding && context_set(kinds[kind].contexts, &contexts), "binding");
		*binding = ring_binding_prepared(set, kinds[kind].id, 1,
						 preparation(filter_of(kind), contexts));
	}
	__atomic_store_n(&hook.binding, binding, __ATOMIC_RELEASE);
	__atomic_store_n(&hook.preparation, binding ? binding->preparation : 0, __ATOMIC_RELEASE);
	if (old)
		admit_unref(preparation_filter(old->preparation));
	filters = admit_retired();
	reader_synchronize();
	admit_free(filters);
	free((void *)old);
}

static void test(const char *name, int exclusive, bool all)
{
	struct testset t;
	struct totals sum;
	pthread_t threads[THREADS];
	int round = 0;

	memset(seen, 0, sizeof(seen));
	stop = 0;
	emitted = 0;
	accept_all = all;
	testset_make(&t, testset_nr_cpus(), 4, 1 << 18, LTT_RING_DISCARD, TEST_CLOCK);
	struct ring_set *set = testset_producer(&t, exclusive);
	replace(set, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, writer, (void *)i), "thread");
	for (uint64_t begun = testset_now_ns(); testset_goes_on(begun, 300, seen, NR_KINDS);
	     usleep(100)) {
		replace(set, ++round % NR_KINDS);
		testset_take_all(&t, check_record, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sum = testset_take_all(&t, check_record, NULL);
	printf("%-10s %9llu emitted %9llu recorded %9llu lost, %d replaced\n", name,
	       (unsigned long long)emitted, (unsigned long long)sum.count,
	       (unsigned long long)testset_lost(&sum), round);
	CHECK(sum.count + testset_lost(&sum) <= emitted, "too many");
	CHECK(!all || sum.count + testset_lost(&sum) == emitted, "not exact");
	CHECK(all || sum.count + testset_lost(&sum) < emitted, "nothing was rejected");
	for (int kind = 0; kind < NR_KINDS; kind++)
		CHECK(seen[kind], "nothing of kind %d", kind);
	replace(NULL, 0);
	ring_set_unmap(set);
	testset_free(&t);
}

/* --- numbers -------------------------------------------------------------------------- */

static void free_retired(void)
{
	admit_free(admit_retired());
}

static void test_invalid(void)
{
	struct program two[2] = { program_of_bits(1, 0), program_of_context() };
	struct program short_one = program_of_bits(1, 0);
	uint32_t filter;

	CHECK(admit_filter(NULL, 0, "", &filter) && filter == 0, "no filter");
	CHECK(!admit_filter(two, sizeof(two), "vtid", &filter), "padding is no program");
	CHECK(!admit_filter(two, sizeof(two[0]) - 8, "", &filter), "a part of one");
	CHECK(!admit_filter(two, 8, "", &filter), "a part of a header");
	CHECK(!admit_filter(&two[1], ltt_filter_bytes((void *)&two[1]), "", &filter),
	      "a context without a name");
	CHECK(!admit_filter(&two[1], ltt_filter_bytes((void *)&two[1]), "vtdi", &filter),
	      "an unknown context");
	short_one.head.nr_insns = 60000;
	CHECK(!admit_filter(&short_one, sizeof(short_one), "", &filter), "longer than it is");
}

/* Those that are kept have one number each for all references; others are freed. */
static void test_numbers(void)
{
	struct program p = program_of_bits(1, 1);
	size_t len = ltt_filter_bytes((const struct ltt_filter *)&p);
	uint32_t first, again, filter = 0;

	CHECK(admit_filter(&p, len, "", &first) && first, "first");
	admit_unref(first);
	for (uint64_t i = 1; filter < KEPT - 1; i++) {
		p.insns[2].constant = i << 32;
		CHECK(admit_filter(&p, len, "", &filter) && filter < KEPT, "filter %u", filter);
	}
	p.insns[2].constant = 1;
	CHECK(admit_filter(&p, len, "", &again) && again == first, "the same one");
	p.insns[2].constant = 2;
	CHECK(admit_filter(&p, len, "", &first) && first >= KEPT, "one to be freed");
	CHECK(admit_filter(&p, len, "", &again) && again == first, "the same one");
	admit_unref(first);
	CHECK(!admit_retired(), "it has a reference");
	p.insns[2].constant = 3;
	CHECK(admit_filter(&p, len, "", &filter) && filter != first, "another one");
	admit_unref(first);
	p.insns[2].constant = 2;
	CHECK(admit_filter(&p, len, "", &again) && again != first, "one that ends is not taken");
	admit_unref(again);
	admit_unref(filter);
	free_retired();
	CHECK(admit_filter(&p, len, "", &again) && again == first, "its number is free");
	admit_unref(again);
	free_retired();
}

/* Several programs: one of them has to accept. */
static void test_several(uint64_t bits, bool freed)
{
	struct program two[2] = { program_of_bits(bits | 3, 1), program_of_bits(bits | 3, 2) };
	struct body body = { .len = sizeof(body) };
	struct binding binding = { 0 };
	const struct hook own = { .binding = &binding };
	uint32_t filter;

	CHECK(admit_filter(two, sizeof(two), "", &filter), "two programs");
	CHECK((filter >= KEPT) == freed, "filter %u", filter);
	binding.preparation = preparation(filter, 0);
	for (body.seq = 0; body.seq < 8; body.seq++)
		CHECK(admit_event(&own, binding.preparation, &body, sizeof(body), NULL) ==
			      (body.seq % 4 == 1 || body.seq % 4 == 2),
		      "event %u", (unsigned int)body.seq);
	CHECK(!admit_event(&own, binding.preparation, &body, 12, NULL), "less than the field");
	admit_unref(filter);
	free_retired();
}

/* --- filters that are decided at once ---------------------------------------------------- */

static int64_t value_of(uint64_t bits, uint8_t type)
{
	switch (type & (LTT_FILTER_SIZE | LTT_FILTER_SIGNED)) {
	case 0:
		return (uint8_t)bits;
	case LTT_FILTER_SIGNED:
		return (int8_t)bits;
	case 1:
		return (uint16_t)bits;
	case 1 | LTT_FILTER_SIGNED:
		return (int16_t)bits;
	case 2:
		return (uint32_t)bits;
	case 2 | LTT_FILTER_SIGNED:
		return (int32_t)bits;
	default:
		return (int64_t)bits;
	}
}

static bool holds(int64_t value, uint8_t relation, int64_t constant)
{
	const bool all[] = { value == constant, value<constant, value <= constant, value> constant,
			     value >= constant };

	return all[relation & 7] != !!(relation & LTT_FILTER_NOT);
}

static struct program program_of_range(uint8_t type, uint8_t relation, int64_t constant)
{
	struct program p = program_begin(2, 0);

	p.insns[0] = (struct ltt_filter_insn){ .op = LTT_FILTER_TEST_FIELD,
					       .type = type,
					       .a = relation,
					       .base = LTT_FILTER_FIXED,
					       .offset = 3,
					       .constant = (uint64_t)constant };
	p.insns[1] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	return p;
}

static uint32_t preparation_of(const struct program *p)
{
	uint32_t filter;

	CHECK(admit_filter(p, ltt_filter_bytes((const struct ltt_filter *)p), "", &filter),
	      "filter");
	return preparation(filter, 0);
}

/* Values at the ends of all types. */
static int64_t end_value(unsigned int number)
{
	return (int64_t)((UINT64_MAX >> number / 6 % 8 * 8 >> number / 3 % 2) + number % 3 - 1);
}

#define NR_ENDS 48u

static void test_range(uint8_t type, uint8_t relation, int64_t constant)
{
	const struct program p = program_of_range(type, relation, constant);
	const struct hook own = { 0 };
	uint32_t prepared = preparation_of(&p);
	size_t size = (size_t)1 << (type & LTT_FILTER_SIZE);
	uint8_t payload[3 + 8 + LTT_PAYLOAD_SLACK];

	memset(payload, 0xa5, sizeof(payload));
	for (unsigned int i = 0; i < NR_ENDS; i++) {
		uint64_t bits = (uint64_t)end_value(i);
		bool wanted = holds(value_of(bits, type), relation, constant);

		memcpy(payload + 3, &bits, size);
		CHECK(admit_at_once(prepared, payload, 3 + size) ==
			      (wanted ? ADMIT_ADMITTED : ADMIT_REJECTED),
		      "type %u relation %u %lld of %llx", type, relation, (long long)constant,
		      (unsigned long long)bits);
		CHECK(admit_event(&own, prepared, payload, 3 + size, NULL) == wanted, "program");
	}
	CHECK(admit_at_once(prepared, payload, 2 + size) == ADMIT_UNDECIDED, "short");
	CHECK(!admit_event(&own, prepared, payload, 2 + size, NULL), "short");
}

static void test_ranges(void)
{
	static const int64_t constants[] = {
		INT64_MIN, INT64_MIN + 1, -129, -128,	   -1,	       0,	 5,
		127,	   255,		  256,	INT32_MAX, UINT32_MAX, INT64_MAX
	};

	for (uint8_t type = 0; type < 8; type++)
		for (uint8_t relation = 0; relation < 10; relation++)
			for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
				test_range(type, relation % 5 + relation / 5 * LTT_FILTER_NOT,
					   constants[i]);
}

/* Two terms; and filters that the program has to decide. */
static void test_terms(void)
{
	struct program p = program_of_range(0, LTT_FILTER_GT, 4);
	uint8_t payload[5 + LTT_PAYLOAD_SLACK] = { [3] = 5, [4] = 7 };

	p.insns[1] = p.insns[0];
	p.insns[1].offset = 4;
	p.insns[1].a = LTT_FILTER_LT;
	p.insns[1].constant = 8;
	p.insns[2] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	p.head.nr_insns = 3;
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_ADMITTED, "both");
	payload[4] = 8;
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_REJECTED, "the second");
	payload[3] = 4;
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_REJECTED, "the first");
	p.insns[0].jump = 2;
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_UNDECIDED, "an alternative");
	p.insns[0].jump = LTT_FILTER_REJECT;
	p.insns[2].constant = 0;
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_UNDECIDED, "never");
	p = program_of_range(1 | LTT_FILTER_BIG_ENDIAN, LTT_FILTER_GT, 4);
	CHECK(admit_at_once(preparation_of(&p), payload, 5) == ADMIT_UNDECIDED, "big-endian");
	CHECK(admit_at_once(0, payload, 5) == ADMIT_ADMITTED, "no filter");
}

struct text_program {
	struct program program; /* of two instructions: the text is behind them */
	char more[32];
};

static uint32_t preparation_of_text(uint8_t relation, const char *text)
{
	struct text_program p = { .program = program_begin(2, 0) };
	uint32_t filter;

	p.program.insns[0] = (struct ltt_filter_insn){ .op = LTT_FILTER_TEST_TEXT,
						       .type = LTT_FILTER_STRING,
						       .a = relation,
						       .base = LTT_FILTER_FIXED,
						       .offset = 3,
						       .constant = (uint64_t)strlen(text) << 16 };
	p.program.insns[1] = (struct ltt_filter_insn){ .op = LTT_FILTER_RETURN, .constant = 1 };
	p.program.head.text_bytes = (uint16_t)strlen(text);
	memcpy(&p.program.insns[2], text, strlen(text));
	CHECK(admit_filter(&p, ltt_filter_padded((const struct ltt_filter *)&p), "", &filter),
	      "filter");
	return preparation(filter, 0);
}

static void test_string(uint8_t relation, const char *constant, const char *text)
{
	const struct hook own = { 0 };
	uint32_t prepared = preparation_of_text(relation, constant);
	bool prefix = (relation & 7) == LTT_FILTER_PREFIX;
	size_t need = strlen(constant) + !prefix, len = 3 + strlen(text) + 1;
	bool wanted = (prefix ? strncmp(text, constant, need) : strcmp(text, constant)) == 0;
	uint8_t payload[64];
	enum admit_outcome outcome;

	wanted = wanted != !!(relation & LTT_FILTER_NOT);
	memset(payload, 'a', sizeof(payload)); /* as if the text went on */
	strcpy((char *)payload + 3, text);
	outcome = admit_at_once(prepared, payload, len);
	CHECK(admit_event(&own, prepared, payload, len, NULL) == wanted, "program");
	if (!need || len < 3 + need || need > (relation & LTT_FILTER_NOT ? 8 : 8 * ADMIT_TESTS))
		CHECK(outcome == ADMIT_UNDECIDED, "'%s' for '%s'", constant, text);
	else
		CHECK(outcome == (wanted ? ADMIT_ADMITTED : ADMIT_REJECTED), "'%s' of '%s'",
		      constant, text);
	/* the text has no end in the payload */
	outcome = admit_at_once(prepared, payload, len - 1);
	CHECK(outcome == ADMIT_UNDECIDED ||
		      (outcome == ADMIT_ADMITTED) ==
			      admit_event(&own, prepared, payload, len - 1, NULL),
	      "'%s' of '%s' without an end", constant, text);
}

static void test_strings(void)
{
	static const uint8_t relations[] = { LTT_FILTER_EQ, LTT_FILTER_EQ | LTT_FILTER_NOT,
					     LTT_FILTER_PREFIX,
					     LTT_FILTER_PREFIX | LTT_FILTER_NOT };
	static const char *const texts[] = { "",
					     "a",
					     "aa",
					     "ab",
					     "aaaaaaa",
					     "aaaaaaaa",
					     "aaaaaaaab",
					     "aaaaaaab",
					     "aaaaaaaaa",
					     "b",
					     "\xff\xfe",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++)
		for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
			for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
				test_string(relations[r], texts[i], texts[j]);
}

int main(void)
{
	test_invalid();
	test_strings();
	test_ranges();
	test_terms();
	test_several(0, false);
	accept_all = false;
	filter_of(EVEN);
	accept_all = true;
	filter_of(EVEN);
	test_numbers();
	test_several(1 << 16, true);
	for (int kind = 0; kind < NR_KINDS; kind++)
		testset_prefix[kinds[kind].id % TESTSET_PREFIXES] = kinds[kind].bytes;
	if (ring_init() == RING_RSEQ) {
		test("shared", 0, false);
		test("shared", 0, true);
	}
	test("exclusive", 1, false);
	test("exclusive", 1, true);
	return 0;
}
