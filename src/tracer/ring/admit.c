// SPDX-License-Identifier: LGPL-2.1-or-later
#include "admit.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "fallback.h"
#include "filter/program.h"
#include "hook.h"
#include "prepare.h"
#include "ring.h"
#define SECTION_SKIP
#include "section.h"
#include "set.h"
#include "spare.h"
#include "tracer/base/large.h"

#define PERMANENT_BYTES (1u << 20) /* of all permanent ones */
#define FILTERS 65536u		   /* with those that are freed */

struct admission {
	struct admission *next; /* of the retired */
	size_t bytes;
	uint32_t number;
	uint32_t refs; /* of those that are freed */
	uint32_t contexts;
	bool single;  /* one program */
	bool samples; /* at least one program does */
	bool plain;   /* single, neither samples nor uses contexts */
	struct admit_tests tests;
	struct admit_sample sample;
	uint64_t code[]; /* verified programs */
};

static struct admission *admissions[FILTERS] TRACER_LARGE; /* by number; 0 is none */
static uint32_t nr_permanent = 1, end_temporary = ADMIT_PERMANENT;
static size_t permanent_bytes;
static struct admission *retired;
const struct admit_tests *admit_tests_of[ADMIT_PERMANENT] TRACER_LARGE;
const struct admit_sample *admit_sample_of[ADMIT_PERMANENT] TRACER_LARGE;

/* --- decisions --------------------------------------------------------------------- */

#ifndef SECTION_HAS_SKIP
uint32_t section_skip(const struct hook *hook)
{
	(void)hook;
	return 1;
}
#endif

__thread struct ltt_filter_samplers admit_samplers __attribute__((tls_model("initial-exec")));

/** A decision with sampling; @inside: between reader_enter() and reader_exit(), for the words. */
struct admit_sampling {
	struct ltt_filter_state state;
	const struct hook *hook;
	unsigned int token;
	bool inside;
};

void admit_after_fork_child(void)
{
	admit_samplers = (struct ltt_filter_samplers){ 0 };
}

static uint64_t *admit_words(struct ltt_filter_state *state)
{
	struct admit_sampling *s = (struct admit_sampling *)state;
	const struct binding *binding;

	if (!s->inside)
		s->token = reader_enter();
	s->inside = true;
	binding = __atomic_load_n(&s->hook->binding, __ATOMIC_ACQUIRE);
	return binding ? ring_shared_words(binding->set) : NULL;
}

static enum ltt_filter_verdict admit_run(const struct admission *a, const void *payload, size_t len,
					 const struct ltt_filter_value *values,
					 struct ltt_filter_state *state)
{
	enum ltt_filter_verdict worst = LTT_FILTER_REJECTED, verdict;
	size_t at = 0;

	while (at < a->bytes) {
		const struct ltt_filter *program = (const void *)((const char *)a->code + at);

		verdict = ltt_filter_decide(program, payload, len, values, state);
		if (verdict == LTT_FILTER_ACCEPTED)
			return verdict;
		if (verdict == LTT_FILTER_SKIPPED)
			worst = verdict;
		at += ltt_filter_padded(program);
	}
	return worst;
}

static __attribute__((noinline)) enum ltt_filter_verdict
admit_with_contexts(const struct admission *a, const void *payload, size_t len, const void *ip,
		    struct ltt_filter_state *state)
{
	struct ltt_filter_value values[CONTEXT_VALUES];
	unsigned char memory[CONTEXT_STACK + sizeof(uint64_t)];

	context_values(a->contexts, memory, values, ip);
	return admit_run(a, payload, len, values, state);
}

/* An event that can't be decided for lack of memory is admitted. */
static __attribute__((noinline)) enum ltt_filter_verdict
admit_with_long_contexts(const struct admission *a, const void *payload, size_t len, const void *ip,
			 struct ltt_filter_state *state)
{
	struct ltt_filter_value values[CONTEXT_VALUES];
	unsigned char *memory = spare_take(SPARE_FILTER);
	enum ltt_filter_verdict verdict = LTT_FILTER_ACCEPTED;

	if (memory) {
		context_values(a->contexts, memory, values, ip);
		verdict = admit_run(a, payload, len, values, state);
		spare_release(memory);
	}
	return verdict;
}

static enum ltt_filter_verdict admit_verdict(const struct admission *a, const void *payload,
					     size_t len, const void *ip,
					     struct ltt_filter_state *state)
{
	if (likely(a->single && !a->contexts))
		return ltt_filter_decide((const void *)a->code, payload, len, NULL, state);
	if (!a->contexts)
		return admit_run(a, payload, len, NULL, state);
	return context_bytes(a->contexts) <= CONTEXT_STACK ?
		       admit_with_contexts(a, payload, len, ip, state) :
		       admit_with_long_contexts(a, payload, len, ip, state);
}

static uint64_t admit_closed(const struct hook *hook, uint32_t preparation)
{
	if (__atomic_load_n(&hook->closed_for, __ATOMIC_ACQUIRE) != preparation)
		return 0;
	return __atomic_load_n(&hook->closed, __ATOMIC_RELAXED);
}

/* A hint, so that a thread which is refused does no more than read the clock. Hooks outlive their
 * bindings. */
static void admit_note_closed(const struct hook *hook, uint32_t preparation, uint64_t closed)
{
	struct hook *noted = (struct hook *)(uintptr_t)hook;

	__atomic_store_n(&noted->closed, closed, __ATOMIC_RELAXED);
	__atomic_store_n(&noted->closed_for, preparation, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) bool admit_sampled(const struct admission *a,
						    const struct hook *hook, uint32_t preparation,
						    const void *payload, size_t len, const void *ip)
{
	uint64_t closed = a->single ? admit_closed(hook, preparation) : 0;
	struct admit_sampling s = {
		.state = { &admit_samplers, admit_words, ring_clock_read, closed },
		.hook = hook,
	};
	enum ltt_filter_verdict verdict = admit_verdict(a, payload, len, ip, &s.state);

	if (s.inside)
		reader_exit(s.token);
	if (a->single && s.state.closed != closed)
		admit_note_closed(hook, preparation, s.state.closed);
	if (verdict == LTT_FILTER_SKIPPED && unlikely(section_skip(hook)))
		ring_count_not_sampled(hook);
	return verdict == LTT_FILTER_ACCEPTED;
}

static __attribute__((noinline)) bool admit_unusual(const struct admission *a,
						    const struct hook *hook, uint32_t preparation,
						    const void *payload, size_t len, const void *ip)
{
	if (a->samples)
		return admit_sampled(a, hook, preparation, payload, len, ip);
	return admit_verdict(a, payload, len, ip, NULL) == LTT_FILTER_ACCEPTED;
}

static bool admit_decide(const struct admission *a, const struct hook *hook, uint32_t preparation,
			 const void *payload, size_t len, const void *ip)
{
	if (likely(a->plain))
		return ltt_filter_run((const void *)a->code, payload, len, NULL);
	return admit_unusual(a, hook, preparation, payload, len, ip);
}

/* Between reader_enter() and reader_exit(). */
static bool admit_is_current(const struct hook *hook, uint32_t preparation)
{
	const struct binding *binding = __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);
	const struct counter *counter = __atomic_load_n(&hook->counter, __ATOMIC_ACQUIRE);

	return binding ? binding->preparation == preparation :
			 counter && counter->preparation == preparation;
}

/* Another preparation than that of the binding decides nothing: the record is attempted, and
 * prepared anew; where it is a counter's, the event is counted as one after the change. */
static __attribute__((noinline)) bool admit_protected(const struct hook *hook, uint32_t preparation,
						      const void *payload, size_t len,
						      const void *ip)
{
	unsigned int token = reader_enter();
	bool admitted = true;

	if (admit_is_current(hook, preparation))
		admitted = admit_decide(admissions[preparation_filter(preparation)], hook,
					preparation, payload, len, ip);
	reader_exit(token);
	return admitted;
}

bool admit_event(const struct hook *hook, uint32_t preparation, const void *payload, size_t len,
		 const void *ip)
{
	uint32_t filter = preparation_filter(preparation);

	if (!filter)
		return true;
	if (filter >= ADMIT_PERMANENT)
		return admit_protected(hook, preparation, payload, len, ip);
	return admit_decide(admissions[filter], hook, preparation, payload, len, ip);
}

/* --- filters ------------------------------------------------------------------------ */

static bool admit_verify(const struct admission *a)
{
	size_t left = a->bytes;

	while (left) {
		const char *at = (const char *)a->code + a->bytes - left;
		const struct ltt_filter *program = (const void *)at;

		if (left < sizeof(*program) || ltt_filter_padded(program) > left ||
		    !ltt_filter_verify(program, ltt_filter_bytes(program)) ||
		    program->head.nr_contexts > context_nr(a->contexts))
			return false;
		left -= ltt_filter_padded(program);
	}
	return true;
}

static void admit_classify(struct admission *a)
{
	for (size_t at = 0; at < a->bytes;) {
		const struct ltt_filter *program = (const void *)((const char *)a->code + at);

		a->samples = a->samples || ltt_filter_samples(program);
		at += ltt_filter_padded(program);
	}
	a->single = ltt_filter_padded((const void *)a->code) == a->bytes;
	a->plain = a->single && !a->samples && !a->contexts;
}

/* --- filters that are nothing but ranges of integers, and beginnings of strings --- */

/* The values of a field, as a filter compares them. */
static void admit_domain(uint8_t type, int64_t *ret_least, int64_t *ret_most)
{
	unsigned int bits = 8u << (type & LTT_FILTER_SIZE);
	bool has_sign = bits == 64 || type & LTT_FILTER_SIGNED;

	*ret_least = has_sign ? INT64_MIN >> (64 - bits) : 0;
	*ret_most = has_sign ? INT64_MAX >> (64 - bits) : (int64_t)(UINT64_MAX >> (64 - bits));
}

/* Return: false: no value is in the range. */
static bool admit_range(const struct ltt_filter_insn *in, int64_t *ret_least, int64_t *ret_most)
{
	int64_t constant = (int64_t)in->constant, least = INT64_MIN, most = INT64_MAX;
	uint8_t relation = in->a & (uint8_t)~LTT_FILTER_NOT;

	admit_domain(in->type, ret_least, ret_most);
	if ((relation == LTT_FILTER_LT && constant == INT64_MIN) ||
	    (relation == LTT_FILTER_GT && constant == INT64_MAX))
		return false;
	if (relation == LTT_FILTER_EQ || relation == LTT_FILTER_GE || relation == LTT_FILTER_GT)
		least = constant + (relation == LTT_FILTER_GT);
	if (relation == LTT_FILTER_EQ || relation == LTT_FILTER_LE || relation == LTT_FILTER_LT)
		most = constant - (relation == LTT_FILTER_LT);
	*ret_least = least > *ret_least ? least : *ret_least;
	*ret_most = most < *ret_most ? most : *ret_most;
	return *ret_least <= *ret_most;
}

static bool admit_is_range(const struct ltt_filter_insn *in)
{
	return in->op == LTT_FILTER_TEST_FIELD && in->base == LTT_FILTER_FIXED &&
	       in->jump == LTT_FILTER_REJECT &&
	       !(in->type & (LTT_FILTER_FLOAT | LTT_FILTER_BIG_ENDIAN));
}

static void admit_add_range(struct admit_tests *tests, const struct ltt_filter_insn *in)
{
	struct admit_test *test = &tests->test[tests->nr++];
	uint32_t size = 1u << (in->type & LTT_FILTER_SIZE);
	int64_t least, most;

	test->offset = in->offset;
	test->mask = UINT64_MAX >> (64 - 8 * size);
	test->outside = in->a & LTT_FILTER_NOT;
	if (admit_range(in, &least, &most)) {
		test->first = (uint64_t)least;
		test->span = (uint64_t)most - (uint64_t)least;
	} else { /* all values, inversely */
		test->span = UINT64_MAX;
		test->outside = !test->outside;
	}
	if (in->offset + size > tests->bytes)
		tests->bytes = in->offset + size;
}

/* Eight bytes of a string are an integer; fewer have a mask. The inverse can't be divided. Return:
 * false if it is none, or too long. */
static bool admit_add_string(struct admit_tests *tests, const struct ltt_filter *program,
			     const struct ltt_filter_insn *in)
{
	const char *text =
		(const char *)(program->insns + program->head.nr_insns) + (in->constant & 0xffff);
	uint32_t length = in->constant >> 16 & 0xffff, part;
	uint8_t relation = in->a & (uint8_t)~LTT_FILTER_NOT;
	bool whole = relation == LTT_FILTER_EQ; /* with the NUL behind it */
	char bytes[8 * ADMIT_TESTS] = "";

	if (in->op != LTT_FILTER_TEST_TEXT || in->type != LTT_FILTER_STRING ||
	    in->base != LTT_FILTER_FIXED || in->jump != LTT_FILTER_REJECT ||
	    !(whole || relation == LTT_FILTER_PREFIX) || length + whole > sizeof(bytes) ||
	    memchr(text, 0, length))
		return false;
	memcpy(bytes, text, length);
	length += whole;
	if (!length || (in->a & LTT_FILTER_NOT && length > 8))
		return false;
	for (uint32_t at = 0; at < length; at += part) {
		struct admit_test *test = &tests->test[tests->nr];

		if (tests->nr++ == ADMIT_TESTS)
			return false;
		part = length - at < 8 ? length - at : 8;
		memcpy(&test->first, bytes + at, 8);
		test->mask = UINT64_MAX >> (64 - 8 * part);
		test->offset = in->offset + at;
		test->outside = in->a & LTT_FILTER_NOT;
	}
	if (in->offset + length > tests->bytes)
		tests->bytes = in->offset + length;
	return true;
}

/* Return: false if the program is another one. */
static bool admit_simplify(const struct ltt_filter *program, struct admit_tests *ret_tests,
			   struct ltt_filter_sampling *ret_sampling)
{
	const struct ltt_filter_insn *in = program->insns;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return false;
	for (; in->op != LTT_FILTER_RETURN; in++) {
		ret_tests->samples = ltt_filter_samples_at(in, ret_sampling);
		if (ret_tests->samples)
			return true;
		if (ret_tests->nr < ADMIT_TESTS && admit_is_range(in))
			admit_add_range(ret_tests, in);
		else if (!admit_add_string(ret_tests, program, in))
			return false;
	}
	return in->constant;
}

/* Decisions that do not need a run of the program. */
static void admit_publish(struct admission *a)
{
	if (!a->single || a->contexts || a->number >= ADMIT_PERMANENT ||
	    !admit_simplify((const void *)a->code, &a->tests, &a->sample.at))
		return;
	a->sample.bytes = a->tests.bytes;
	if (a->tests.samples)
		__atomic_store_n(&admit_sample_of[a->number], &a->sample, __ATOMIC_RELEASE);
	if (a->tests.nr)
		__atomic_store_n(&admit_tests_of[a->number], &a->tests, __ATOMIC_RELEASE);
}

/* --- filters --- */

static struct admission *admit_make(const void *bytes, size_t len, uint32_t contexts)
{
	struct admission *a = calloc(1, sizeof(*a) + len);

	if (!a)
		return NULL;
	memcpy(a->code, bytes, len);
	a->bytes = len;
	a->contexts = contexts;
	if (admit_verify(a)) {
		admit_classify(a);
		return a;
	}
	free(a);
	return NULL;
}

static uint32_t admit_find_from(uint32_t first, uint32_t end, const void *bytes, size_t len,
				uint32_t contexts)
{
	for (uint32_t i = first; i < end; i++) {
		const struct admission *a = admissions[i];

		if (a && (a->refs || i < ADMIT_PERMANENT) && a->bytes == len &&
		    a->contexts == contexts && memcmp(a->code, bytes, len) == 0)
			return i;
	}
	return 0;
}

static uint32_t admit_find(const void *bytes, size_t len, uint32_t contexts)
{
	uint32_t found = admit_find_from(1, nr_permanent, bytes, len, contexts);

	return found ? found :
		       admit_find_from(ADMIT_PERMANENT, end_temporary, bytes, len, contexts);
}

/* Return: a number, or FILTERS. */
static uint32_t admit_free_number(size_t len)
{
	uint32_t number = ADMIT_PERMANENT;

	if (nr_permanent < ADMIT_PERMANENT && permanent_bytes + len <= PERMANENT_BYTES) {
		permanent_bytes += len;
		return nr_permanent++;
	}
	while (number < end_temporary && admissions[number])
		number++;
	if (number == end_temporary && number < FILTERS)
		end_temporary++;
	return number;
}

bool admit_filter(const void *bytes, size_t len, const char *contexts, uint32_t *ret_filter)
{
	struct admission *a;
	uint32_t set;

	*ret_filter = 0;
	if (!len)
		return true;
	if (!context_set(contexts, &set))
		return false;
	*ret_filter = admit_find(bytes, len, set);
	if (!*ret_filter) {
		a = admit_make(bytes, len, set);
		*ret_filter = a ? admit_free_number(len) : FILTERS;
		if (*ret_filter == FILTERS) {
			free(a);
			return false;
		}
		a->number = *ret_filter;
		__atomic_store_n(&admissions[a->number], a, __ATOMIC_RELEASE);
		admit_publish(a);
	}
	admit_ref(*ret_filter);
	return true;
}

void admit_ref(uint32_t filter)
{
	if (filter >= ADMIT_PERMANENT)
		admissions[filter]->refs++;
}

/* Its number is taken until it is freed. */
void admit_unref(uint32_t filter)
{
	struct admission *a = filter >= ADMIT_PERMANENT ? admissions[filter] : NULL;

	if (!a || --a->refs)
		return;
	a->next = retired;
	retired = a;
}

struct admission *admit_retired(void)
{
	struct admission *all = retired;

	retired = NULL;
	return all;
}

void admit_retire(struct admission *all)
{
	while (all) {
		struct admission *next = all->next;

		all->next = retired;
		retired = all;
		all = next;
	}
}

void admit_free(struct admission *all)
{
	while (all) {
		struct admission *next = all->next;

		admissions[all->number] = NULL;
		free(all);
		all = next;
	}
}
