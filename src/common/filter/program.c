/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "program.h"

#ifdef __KERNEL__
#include <linux/limits.h>
#include <linux/string.h>

#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX
#else
#include <string.h>

#define noinline __attribute__((noinline)) /* the kernel has a macro of this name */
#endif

#define FILTER_BASES (LTT_FILTER_REGISTERS + 1)
#define FILTER_TEXT_TYPE 0xe0 /* enum ltt_filter_text_type without a length's size */
#define FILTER_CODE 0x0f      /* a relation or operator without its flags */

/* --- verifier ---------------------------------------------------------------------- */

/* The members that an operation uses. */
enum filter_use {
	USE_JUMP = 1,
	USE_PLACE = 2,	    /* base may be LTT_FILTER_FIXED */
	USE_BASE = 4,	    /* base is a register that is read */
	USE_OFFSET = 8,	    /* offset is a register that is read */
	USE_A = 16,	    /* a is a register that is read */
	SET_A = 32,	    /* a is a register that is written */
	USE_NUMBER = 64,    /* type is that of a number */
	USE_TEXT = 128,	    /* type is that of a text */
	USE_OPERATOR = 256, /* type is an operator */
	USE_RELATION = 512, /* type is a relation of numbers */
	USE_HELD = 1024,
	SET_HELD = 2048
};

static const uint16_t filter_uses[LTT_FILTER_NR_OPS] = {
	[LTT_FILTER_JUMP] = USE_JUMP,
	[LTT_FILTER_TEST_FIELD] = USE_JUMP | USE_PLACE | USE_NUMBER,
	[LTT_FILTER_TEST_REGISTER] = USE_JUMP | USE_A | USE_RELATION,
	[LTT_FILTER_TEST_REGISTERS] = USE_JUMP | USE_A | USE_BASE | USE_RELATION,
	[LTT_FILTER_TEST_TEXT] = USE_JUMP | USE_PLACE | USE_TEXT,
	[LTT_FILTER_TEST_HELD] = USE_JUMP | USE_PLACE | USE_TEXT | USE_HELD,
	[LTT_FILTER_HOLD] = USE_PLACE | USE_TEXT | SET_HELD,
	[LTT_FILTER_LENGTH] = USE_PLACE | USE_TEXT | SET_A,
	[LTT_FILTER_LOAD] = USE_PLACE | USE_NUMBER | SET_A,
	[LTT_FILTER_CONTEXT] = SET_A,
	[LTT_FILTER_ELEMENT] = USE_PLACE | USE_NUMBER | SET_A,
	[LTT_FILTER_CONSTANT] = SET_A,
	[LTT_FILTER_COMPUTE] = USE_BASE | USE_OFFSET | USE_OPERATOR | SET_A,
	[LTT_FILTER_COMPUTE_CONSTANT] = USE_BASE | USE_OPERATOR | SET_A,
	[LTT_FILTER_TO_FLOAT] = USE_BASE | SET_A,
	[LTT_FILTER_SKIP_STRING] = USE_PLACE | SET_A,
	[LTT_FILTER_SKIP_SEQUENCE] = USE_PLACE | USE_NUMBER | SET_A,
	[LTT_FILTER_SAMPLE_BY] = USE_A,
	[LTT_FILTER_SAMPLE_BY_TEXT] = USE_HELD,
};

#define FILTER_HELD_SET (1u << LTT_FILTER_REGISTERS)
#define FILTER_ALL_SET (2u * FILTER_HELD_SET - 1)

/** A verification: which registers every way to an instruction has written. */
struct filter_check {
	const struct ltt_filter *program;
	uint16_t set[LTT_FILTER_INSNS_MAX + 1];
};

static bool filter_float_valid(uint8_t flags)
{
#ifdef __KERNEL__
	return !(flags & LTT_FILTER_FLOAT);
#else
	(void)flags;
	return true;
#endif
}

static bool filter_number_valid(uint8_t type)
{
	if (type & 0xe0 || !filter_float_valid(type))
		return false;
	return !(type & LTT_FILTER_FLOAT) ||
	       ((type & LTT_FILTER_SIZE) >= 2 && !(type & LTT_FILTER_SIGNED));
}

static bool filter_relation_valid(uint8_t relation)
{
	return (relation & FILTER_CODE) <= LTT_FILTER_GE && !(relation & 0xc0) &&
	       filter_float_valid(relation);
}

static bool filter_operator_valid(uint8_t operation)
{
	uint8_t last = operation & LTT_FILTER_FLOAT ? LTT_FILTER_DIV : LTT_FILTER_NR_OPERATORS - 1;

	return (operation & FILTER_CODE) <= last && !(operation & 0xe0) &&
	       filter_float_valid(operation);
}

static bool filter_text_valid(const struct ltt_filter *program, const struct ltt_filter_insn *in)
{
	switch (in->type & FILTER_TEXT_TYPE) {
	case LTT_FILTER_STRING:
	case LTT_FILTER_TEXT_ARRAY:
		return !(in->type & ~FILTER_TEXT_TYPE);
	case LTT_FILTER_TEXT_SEQUENCE:
		return !(in->type & ~(FILTER_TEXT_TYPE | LTT_FILTER_SIZE));
	case LTT_FILTER_TEXT_CONTEXT:
		return in->type == LTT_FILTER_TEXT_CONTEXT &&
		       in->offset < program->head.nr_contexts;
	default:
		return false;
	}
}

static uint32_t filter_text_offset(const struct ltt_filter_insn *in)
{
	return in->constant & 0xffff;
}

static uint32_t filter_text_length(const struct ltt_filter_insn *in)
{
	return in->constant >> 16 & 0xffff;
}

static bool filter_text_relation_valid(uint8_t relation, uint8_t last)
{
	return (relation & FILTER_CODE) <= last && !(relation & ~(FILTER_CODE | LTT_FILTER_NOT));
}

static uint64_t filter_interval(const struct ltt_filter_insn *in)
{
	return in->constant & ((1ull << LTT_FILTER_INTERVAL_BITS) - 1);
}

static uint64_t filter_burst(const struct ltt_filter_insn *in)
{
	return in->constant >> LTT_FILTER_INTERVAL_BITS;
}

static bool filter_op_samples(uint8_t op)
{
	return op >= LTT_FILTER_SAMPLE && op <= LTT_FILTER_FIRST;
}

static bool filter_sampling_valid(const struct ltt_filter_insn *in)
{
	switch (in->op) {
	case LTT_FILTER_SAMPLE:
		return in->constant && in->constant <= UINT32_MAX;
	case LTT_FILTER_RATE:
		return in->offset < LTT_FILTER_WORDS && in->a <= 1 && filter_interval(in) &&
		       filter_burst(in);
	case LTT_FILTER_FIRST:
		return in->offset < LTT_FILTER_WORDS;
	default:
		return true;
	}
}

/* The members with a meaning of their own. */
static bool filter_special_valid(const struct ltt_filter *program, const struct ltt_filter_insn *in)
{
	switch (in->op) {
	case LTT_FILTER_RETURN:
		return in->constant <= 1;
	case LTT_FILTER_TEST_FIELD:
		return filter_relation_valid(in->a) && !((in->a ^ in->type) & LTT_FILTER_FLOAT);
	case LTT_FILTER_TEST_TEXT:
		return filter_text_relation_valid(in->a, LTT_FILTER_PATTERN) &&
		       filter_text_offset(in) + filter_text_length(in) <= program->head.text_bytes;
	case LTT_FILTER_TEST_HELD:
		return filter_text_relation_valid(in->a, LTT_FILTER_CONTAINS);
	case LTT_FILTER_CONTEXT:
		return in->offset < program->head.nr_contexts && !(in->type & ~LTT_FILTER_FLOAT) &&
		       filter_float_valid(in->type);
	case LTT_FILTER_ELEMENT:
		return in->constant >> 32 <= LTT_FILTER_SIZE;
	case LTT_FILTER_SKIP_SEQUENCE:
		return in->type <= LTT_FILTER_SIZE && (in->constant == 1 || in->constant == 2 ||
						       in->constant == 4 || in->constant == 8);
	default:
		return !filter_op_samples(in->op) || filter_sampling_valid(in);
	}
}

static bool filter_types_valid(const struct ltt_filter *program, const struct ltt_filter_insn *in,
			       unsigned int uses)
{
	return (!(uses & USE_NUMBER) || filter_number_valid(in->type)) &&
	       (!(uses & USE_TEXT) || filter_text_valid(program, in)) &&
	       (!(uses & USE_OPERATOR) || filter_operator_valid(in->type)) &&
	       (!(uses & USE_RELATION) || filter_relation_valid(in->type)) &&
	       filter_special_valid(program, in);
}

static bool filter_is_set(unsigned int set, unsigned int number)
{
	return number < LTT_FILTER_REGISTERS && set >> number & 1;
}

static bool filter_registers_valid(const struct ltt_filter_insn *in, unsigned int uses,
				   unsigned int set)
{
	return (!(uses & USE_A) || filter_is_set(set, in->a)) &&
	       (!(uses & SET_A) || in->a < LTT_FILTER_REGISTERS) &&
	       (!(uses & USE_BASE) || filter_is_set(set, in->base)) &&
	       (!(uses & USE_OFFSET) || filter_is_set(set, in->offset)) &&
	       (!(uses & USE_PLACE) || in->base == LTT_FILTER_FIXED ||
		filter_is_set(set, in->base)) &&
	       (!(uses & USE_HELD) || set & FILTER_HELD_SET);
}

static bool filter_jump_valid(const struct ltt_filter *program, unsigned int number)
{
	unsigned int jump = program->insns[number].jump;

	return jump == LTT_FILTER_REJECT || (jump > number && jump < program->head.nr_insns);
}

static bool filter_check_insn(struct filter_check *check, unsigned int number)
{
	const struct ltt_filter_insn *in = &check->program->insns[number];
	unsigned int uses, set = check->set[number];

	if (in->op == 0 || in->op >= LTT_FILTER_NR_OPS)
		return false;
	uses = filter_uses[in->op];
	if (!filter_types_valid(check->program, in, uses) || !filter_registers_valid(in, uses, set))
		return false;
	if (uses & USE_JUMP) {
		if (!filter_jump_valid(check->program, number))
			return false;
		check->set[in->jump] &= (uint16_t)set;
	}
	if (uses & SET_A)
		set |= 1u << in->a;
	if (uses & SET_HELD)
		set |= FILTER_HELD_SET;
	if (in->op != LTT_FILTER_RETURN && in->op != LTT_FILTER_JUMP)
		check->set[number + 1] &= (uint16_t)set;
	return true;
}

static bool filter_header_valid(const struct ltt_filter *program, size_t length)
{
	const struct ltt_filter_head *head = &program->head;

	return head->magic == LTT_FILTER_MAGIC && head->version == LTT_FILTER_VERSION &&
	       head->nr_insns > 0 && head->nr_insns <= LTT_FILTER_INSNS_MAX &&
	       head->text_bytes <= LTT_FILTER_TEXT_MAX &&
	       head->nr_contexts <= LTT_FILTER_CONTEXTS_MAX && !head->reserved &&
	       length == ltt_filter_bytes(program);
}

const struct ltt_filter *ltt_filter_verify(const void *bytes, size_t length)
{
	struct filter_check check = { .program = bytes };
	unsigned int i;

	if ((uintptr_t)bytes % 8 || length < sizeof(*check.program) ||
	    !filter_header_valid(check.program, length))
		return NULL;
	for (i = 1; i <= check.program->head.nr_insns; i++)
		check.set[i] = FILTER_ALL_SET;
	for (i = 0; i < check.program->head.nr_insns; i++)
		if (!filter_check_insn(&check, i))
			return NULL;
	return check.program->insns[i - 1].op == LTT_FILTER_RETURN ? check.program : NULL;
}

/* --- interpreter ------------------------------------------------------------------- */

struct filter_text {
	const uint8_t *at;
	size_t length;
};

struct filter_run {
	const struct ltt_filter *program;
	const uint8_t *payload;
	size_t length;
	const struct ltt_filter_value *contexts;
	uint64_t r[FILTER_BASES]; /* the last one is 0, for LTT_FILTER_FIXED */
	struct filter_text held;
	struct ltt_filter_state *state;
};

/** The result of an instruction. */
enum filter_outcome { FILTER_FAIL, FILTER_NEXT, FILTER_JUMP, FILTER_SKIP };

/* The number at an address that may be unaligned; floats become the bits of a double. */
static inline uint64_t filter_get(const uint8_t *at, uint8_t type)
{
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (type & LTT_FILTER_SIZE) {
	case 0:
		return type & LTT_FILTER_SIGNED ? (uint64_t)(int8_t)*at : *at;
	case 1:
		memcpy(&half, at, sizeof(half));
		half = type & LTT_FILTER_BIG_ENDIAN ? __builtin_bswap16(half) : half;
		return type & LTT_FILTER_SIGNED ? (uint64_t)(int16_t)half : half;
	case 2:
		memcpy(&word, at, sizeof(word));
		word = type & LTT_FILTER_BIG_ENDIAN ? __builtin_bswap32(word) : word;
		return type & LTT_FILTER_SIGNED ? (uint64_t)(int32_t)word : word;
	default:
		memcpy(&value, at, sizeof(value));
		return type & LTT_FILTER_BIG_ENDIAN ? __builtin_bswap64(value) : value;
	}
}

#ifndef __KERNEL__
static inline double filter_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t filter_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t filter_widen(uint64_t bits, uint8_t type)
{
	uint32_t word = (uint32_t)bits;
	float value;

	if (!(type & LTT_FILTER_FLOAT) || (type & LTT_FILTER_SIZE) == 3)
		return bits;
	memcpy(&value, &word, sizeof(value));
	return filter_bits(value);
}

static bool filter_compare_floats(double left, uint8_t relation, double right)
{
	switch (relation & FILTER_CODE) {
	case LTT_FILTER_EQ:
		return left == right;
	case LTT_FILTER_LT:
		return left < right;
	case LTT_FILTER_LE:
		return left <= right;
	case LTT_FILTER_GT:
		return left > right;
	default:
		return left >= right;
	}
}

static uint64_t filter_compute_float(uint64_t left_bits, uint8_t operation, uint64_t right_bits)
{
	double left = filter_double(left_bits), right = filter_double(right_bits);

	switch (operation & FILTER_CODE) {
	case LTT_FILTER_ADD:
		return filter_bits(left + right);
	case LTT_FILTER_SUB:
		return filter_bits(left - right);
	case LTT_FILTER_MUL:
		return filter_bits(left * right);
	default:
		return filter_bits(left / right);
	}
}
#else
static uint64_t filter_widen(uint64_t bits, uint8_t type)
{
	(void)type;
	return bits;
}
#endif

static inline bool filter_compare_integers(int64_t left, uint8_t relation, int64_t right)
{
	switch (relation & FILTER_CODE) {
	case LTT_FILTER_EQ:
		return left == right;
	case LTT_FILTER_LT:
		return left < right;
	case LTT_FILTER_LE:
		return left <= right;
	case LTT_FILTER_GT:
		return left > right;
	default:
		return left >= right;
	}
}

static inline enum filter_outcome filter_outcome_of(bool holds, uint8_t relation)
{
	return holds != !!(relation & LTT_FILTER_NOT) ? FILTER_NEXT : FILTER_JUMP;
}

static inline enum filter_outcome filter_test(uint64_t left, uint8_t relation, uint64_t right)
{
#ifndef __KERNEL__
	if (relation & LTT_FILTER_FLOAT)
		return filter_outcome_of(filter_compare_floats(filter_double(left), relation,
							       filter_double(right)),
					 relation);
#endif
	return filter_outcome_of(filter_compare_integers((int64_t)left, relation, (int64_t)right),
				 relation);
}

/* The @bytes at the instruction's place; NULL if they are not all in the payload. */
static inline const uint8_t *filter_at(const struct filter_run *run,
				       const struct ltt_filter_insn *in, size_t bytes)
{
	uint64_t base = run->r[in->base];

	if (base > run->length || run->length - base < in->offset + bytes)
		return NULL;
	return run->payload + base + in->offset;
}

static inline size_t filter_bytes(uint8_t type)
{
	return (size_t)1 << (type & LTT_FILTER_SIZE);
}

static size_t filter_room(const struct filter_run *run, const uint8_t *at)
{
	return run->length - (size_t)(at - run->payload);
}

static inline bool filter_load(const struct filter_run *run, const struct ltt_filter_insn *in,
			       uint64_t *ret_value)
{
	const uint8_t *at = filter_at(run, in, filter_bytes(in->type));

	if (!at)
		return false;
	*ret_value = filter_get(at, in->type);
	if (in->type & LTT_FILTER_FLOAT)
		*ret_value = filter_widen(*ret_value, in->type);
	return true;
}

static inline enum filter_outcome filter_test_field(const struct filter_run *run,
						    const struct ltt_filter_insn *in)
{
	uint64_t value;

	return filter_load(run, in, &value) ? filter_test(value, in->a, in->constant) : FILTER_FAIL;
}

/* --- texts */

static bool filter_text_ended(const uint8_t *at, size_t room, struct filter_text *ret)
{
	const uint8_t *end = room ? memchr(at, 0, room) : NULL;

	ret->at = at;
	ret->length = end ? (size_t)(end - at) : room;
	return true;
}

static bool filter_text_sequence(const struct filter_run *run, const struct ltt_filter_insn *in,
				 struct filter_text *ret)
{
	size_t head = filter_bytes(in->type);
	const uint8_t *at = filter_at(run, in, head);
	uint64_t count;

	if (!at)
		return false;
	count = filter_get(at, in->type & LTT_FILTER_SIZE);
	at += head;
	return count <= filter_room(run, at) && filter_text_ended(at, (size_t)count, ret);
}

static bool filter_text_context(const struct filter_run *run, const struct ltt_filter_insn *in,
				struct filter_text *ret)
{
	const struct ltt_filter_value *value = &run->contexts[in->offset];

	ret->at = (const uint8_t *)value->text;
	ret->length = value->length;
	return value->kind == LTT_FILTER_TEXT && value->text;
}

static bool filter_text_find(const struct filter_run *run, const struct ltt_filter_insn *in,
			     struct filter_text *ret)
{
	size_t count = 0;
	const uint8_t *at;

	switch (in->type & FILTER_TEXT_TYPE) {
	case LTT_FILTER_TEXT_CONTEXT:
		return filter_text_context(run, in, ret);
	case LTT_FILTER_TEXT_SEQUENCE:
		return filter_text_sequence(run, in, ret);
	case LTT_FILTER_TEXT_ARRAY:
		count = (size_t)(in->constant >> 32);
		at = filter_at(run, in, count);
		return at && filter_text_ended(at, count, ret);
	default:
		at = filter_at(run, in, 0);
		return at && filter_text_ended(at, filter_room(run, at), ret);
	}
}

static int filter_text_order(struct filter_text left, struct filter_text right)
{
	size_t least = left.length < right.length ? left.length : right.length;
	int order = least ? memcmp(left.at, right.at, least) : 0;

	if (order)
		return order;
	return left.length < right.length ? -1 : left.length > right.length;
}

/* Return: where @part begins in @text first; NULL: nowhere. */
static const uint8_t *filter_text_search(struct filter_text text, struct filter_text part)
{
	const uint8_t *at = text.at, *end = text.at + text.length;

	if (!part.length)
		return at;
	while ((size_t)(end - at) >= part.length) {
		at = memchr(at, part.at[0], (size_t)(end - at) - part.length + 1);
		if (!at || !memcmp(at, part.at, part.length))
			return at;
		at++;
	}
	return NULL;
}

/* Most texts differ in the first byte: no call then. */
static bool filter_text_begins(struct filter_text text, struct filter_text part)
{
	return text.length >= part.length &&
	       (!part.length || (text.at[0] == part.at[0] &&
				 !memcmp(text.at, part.at, part.length)));
}

static struct filter_text filter_text_behind(struct filter_text text, const uint8_t *at)
{
	return (struct filter_text){ at, (size_t)(text.at + text.length - at) };
}

/* The pattern up to its first star; @pattern becomes the part behind it. */
static bool filter_pattern_part(struct filter_text *pattern, struct filter_text *ret_part)
{
	const uint8_t *star = pattern->length ? memchr(pattern->at, 0, pattern->length) : NULL;

	ret_part->at = pattern->at;
	ret_part->length = star ? (size_t)(star - pattern->at) : pattern->length;
	if (star)
		*pattern = filter_text_behind(*pattern, star + 1);
	return star;
}

/* Between stars the first place is the best one; the last part ends the text. */
static bool filter_text_matches(struct filter_text text, struct filter_text pattern)
{
	struct filter_text part;
	const uint8_t *at;
	bool star = filter_pattern_part(&pattern, &part);

	if (!filter_text_begins(text, part))
		return false;
	text = filter_text_behind(text, text.at + part.length);
	if (!star)
		return text.length == 0;
	while (filter_pattern_part(&pattern, &part)) {
		at = filter_text_search(text, part);
		if (!at)
			return false;
		text = filter_text_behind(text, at + part.length);
	}
	if (text.length < part.length)
		return false;
	return !part.length || !memcmp(text.at + text.length - part.length, part.at, part.length);
}

static bool filter_compare_texts(struct filter_text left, uint8_t relation,
				 struct filter_text right)
{
	switch (relation & FILTER_CODE) {
	case LTT_FILTER_EQ:
		return left.length == right.length && filter_text_begins(left, right);
	case LTT_FILTER_LT:
		return filter_text_order(left, right) < 0;
	case LTT_FILTER_LE:
		return filter_text_order(left, right) <= 0;
	case LTT_FILTER_GT:
		return filter_text_order(left, right) > 0;
	case LTT_FILTER_GE:
		return filter_text_order(left, right) >= 0;
	case LTT_FILTER_CONTAINS:
		return filter_text_search(left, right);
	case LTT_FILTER_PREFIX:
		return filter_text_begins(left, right);
	default:
		return filter_text_matches(left, right);
	}
}

static struct filter_text filter_text_constant(const struct filter_run *run,
					       const struct ltt_filter_insn *in)
{
	const uint8_t *texts = (const uint8_t *)(run->program->insns + run->program->head.nr_insns);

	return (struct filter_text){ texts + filter_text_offset(in), filter_text_length(in) };
}

/* The end of the text need not be known: a NUL before the end of the prefix is a difference. */
static enum filter_outcome filter_test_prefix(const struct filter_run *run,
					      const struct ltt_filter_insn *in)
{
	const uint8_t *at = filter_at(run, in, 0);
	struct filter_text rest;

	if (!at)
		return FILTER_FAIL;
	rest = (struct filter_text){ at, filter_room(run, at) };
	return filter_outcome_of(filter_text_begins(rest, filter_text_constant(run, in)), in->a);
}

static enum filter_outcome filter_test_text(const struct filter_run *run,
					    const struct ltt_filter_insn *in)
{
	struct filter_text text;

	if (in->type == LTT_FILTER_STRING && (in->a & FILTER_CODE) == LTT_FILTER_PREFIX)
		return filter_test_prefix(run, in);
	if (!filter_text_find(run, in, &text))
		return FILTER_FAIL;
	return filter_outcome_of(filter_compare_texts(text, in->a, filter_text_constant(run, in)),
				 in->a);
}

static enum filter_outcome filter_test_held(const struct filter_run *run,
					    const struct ltt_filter_insn *in)
{
	struct filter_text text;

	if (!filter_text_find(run, in, &text))
		return FILTER_FAIL;
	return filter_outcome_of(filter_compare_texts(run->held, in->a, text), in->a);
}

/* --- values into registers */

static bool filter_run_length(const struct filter_run *run, const struct ltt_filter_insn *in,
			      uint64_t *ret_value)
{
	struct filter_text text;

	if (!filter_text_find(run, in, &text))
		return false;
	*ret_value = text.length;
	return true;
}

static bool filter_run_context(const struct filter_run *run, const struct ltt_filter_insn *in,
			       uint64_t *ret_value)
{
	const struct ltt_filter_value *value = &run->contexts[in->offset];

	if (value->kind == LTT_FILTER_INTEGER) {
		*ret_value = (uint64_t)value->integer;
#ifndef __KERNEL__
		if (in->type & LTT_FILTER_FLOAT)
			*ret_value = filter_bits((double)value->integer);
#endif
		return true;
	}
#ifndef __KERNEL__
	if (value->kind == LTT_FILTER_NUMBER && in->type & LTT_FILTER_FLOAT) {
		*ret_value = filter_bits(value->number);
		return true;
	}
#endif
	return false;
}

static bool filter_run_element(const struct filter_run *run, const struct ltt_filter_insn *in,
			       uint64_t *ret_value)
{
	uint8_t length_type = in->constant >> 32 & LTT_FILTER_SIZE;
	size_t head = filter_bytes(length_type), bytes = filter_bytes(in->type);
	uint64_t index = in->constant & 0xffffffffu;
	const uint8_t *at = filter_at(run, in, head);

	if (!at || index >= filter_get(at, length_type) ||
	    index >= filter_room(run, at + head) / bytes)
		return false;
	*ret_value = filter_widen(filter_get(at + head + index * bytes, in->type), in->type);
	return true;
}

static bool filter_run_divide(int64_t left, int64_t right, bool modulo, uint64_t *ret_value)
{
	if (right == 0)
		return false;
	if (right == -1) /* the least integer has no positive counterpart */
		*ret_value = modulo ? 0 : 0 - (uint64_t)left;
	else
		*ret_value = (uint64_t)(modulo ? left % right : left / right);
	return true;
}

static bool filter_compute_bits(uint64_t left, uint8_t operation, uint64_t right,
				uint64_t *ret_value)
{
	switch (operation) {
	case LTT_FILTER_AND:
		*ret_value = left & right;
		return true;
	case LTT_FILTER_OR:
		*ret_value = left | right;
		return true;
	case LTT_FILTER_XOR:
		*ret_value = left ^ right;
		return true;
	}
	if (right > 63)
		return false;
	*ret_value = operation == LTT_FILTER_SHL ? left << right : left >> right;
	return true;
}

bool ltt_filter_compute(uint64_t left, uint8_t operation, uint64_t right, uint64_t *ret_value)
{
	switch (operation) {
	case LTT_FILTER_ADD:
		*ret_value = left + right;
		return true;
	case LTT_FILTER_SUB:
		*ret_value = left - right;
		return true;
	case LTT_FILTER_MUL:
		*ret_value = left * right;
		return true;
	case LTT_FILTER_DIV:
	case LTT_FILTER_MOD:
		return filter_run_divide((int64_t)left, (int64_t)right, operation == LTT_FILTER_MOD,
					 ret_value);
	}
#ifndef __KERNEL__
	if (operation & LTT_FILTER_FLOAT) {
		*ret_value = filter_compute_float(left, operation, right);
		return true;
	}
#endif
	return filter_compute_bits(left, operation, right, ret_value);
}

static bool filter_run_to_float(uint64_t value, uint64_t *ret_value)
{
#ifdef __KERNEL__
	return false;
#else
	*ret_value = filter_bits((double)(int64_t)value);
	return true;
#endif
}

static bool filter_skip_string(const struct filter_run *run, const struct ltt_filter_insn *in,
			       uint64_t *ret_value)
{
	const uint8_t *at = filter_at(run, in, 1);
	const uint8_t *end = at ? memchr(at, 0, filter_room(run, at)) : NULL;

	if (!end)
		return false;
	*ret_value = (uint64_t)(end + 1 - run->payload);
	return true;
}

static bool filter_skip_sequence(const struct filter_run *run, const struct ltt_filter_insn *in,
				 uint64_t *ret_value)
{
	size_t head = filter_bytes(in->type);
	const uint8_t *at = filter_at(run, in, head);
	uint64_t count;

	if (!at)
		return false;
	count = filter_get(at, in->type);
	at += head;
	if (count > filter_room(run, at) / (size_t)in->constant)
		return false;
	*ret_value = (uint64_t)(at - run->payload) + count * in->constant;
	return true;
}

/* --- sampling */

/* FNV-1a. */
static uint64_t filter_hash_text(struct filter_text text)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < text.length; i++)
		hash = (hash ^ text.at[i]) * 0x100000001b3ull;
	return ltt_filter_mix(hash);
}

static uint32_t filter_random(struct ltt_filter_state *state)
{
	struct ltt_filter_samplers *samplers = state->samplers;

	if (!samplers->random)
		samplers->random = (uint64_t)(uintptr_t)samplers ^ ltt_filter_mix(state->now(0));
	samplers->random += 0x9e3779b97f4a7c15ull;
	return (uint32_t)(ltt_filter_mix(samplers->random) >> 32);
}

static uint32_t filter_sampler_tag(const struct ltt_filter_insn *in)
{
	return (in->offset + 1u) * 0x9e3779b1u ^ (uint32_t)in->constant;
}

static bool filter_is_native(uint8_t type)
{
	return !(type & (LTT_FILTER_FLOAT | LTT_FILTER_BIG_ENDIAN)) &&
	       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

bool ltt_filter_samples_at(const struct ltt_filter_insn *in, struct ltt_filter_sampling *ret)
{
	const struct ltt_filter_insn *by = in + 1;

	*ret = (struct ltt_filter_sampling){ .op = in->op,
					     .clock = in->a,
					     .tag = filter_sampler_tag(in),
					     .slot = in->offset % LTT_FILTER_SAMPLERS };
	if (in->op != LTT_FILTER_LOAD)
		return in->op == LTT_FILTER_SAMPLE || in->op == LTT_FILTER_RATE ||
		       in->op == LTT_FILTER_FIRST;
	ret->op = LTT_FILTER_SAMPLE_BY; /* a program ends with another instruction than a load */
	ret->bits = (uint8_t)(64 - 8 * filter_bytes(in->type));
	ret->has_sign = in->type & LTT_FILTER_SIGNED;
	ret->offset = in->offset;
	ret->most = by->constant;
	return by->op == LTT_FILTER_SAMPLE_BY && by->a == in->a && in->base == LTT_FILTER_FIXED &&
	       filter_is_native(in->type);
}

/* Periodic programs need the random place; a sampler that was another's begins anew, with the same
 * probability for each event. */
static inline enum filter_outcome filter_sample(struct ltt_filter_state *state,
						const struct ltt_filter_insn *in)
{
	struct ltt_filter_sampler *sampler;
	uint32_t nr = (uint32_t)in->constant, tag = filter_sampler_tag(in), left;

	if (!state)
		return FILTER_NEXT;
	sampler = &state->samplers->of[in->offset % LTT_FILTER_SAMPLERS];
	if (ltt_filter_sampler_skips(sampler, tag))
		return FILTER_SKIP;
	left = __atomic_load_n(&sampler->left, __ATOMIC_RELAXED);
	if (sampler->tag != tag || !left) {
		sampler->tag = tag;
		left = nr;
		sampler->take = 1 + (uint32_t)((uint64_t)filter_random(state) * nr >> 32);
	}
	__atomic_store_n(&sampler->left, left - 1, __ATOMIC_RELAXED);
	return left == sampler->take ? FILTER_NEXT : FILTER_SKIP;
}

/* The word is the time at which all events that were taken are paid for, one in each interval. One
 * beyond a full burst is of another rate. Threads that are refused only read it. */
static enum filter_outcome filter_rate(struct ltt_filter_state *state,
				       const struct ltt_filter_insn *in, uint64_t *word)
{
	uint64_t now = state->now(in->a), interval = filter_interval(in);
	uint64_t reach = filter_burst(in) * interval;
	uint64_t paid = __atomic_load_n(word, __ATOMIC_RELAXED), from;

	do {
		from = paid < now || paid - now > reach + interval ? now : paid;
		if (from - now > reach - interval) {
			state->closed = from - (reach - interval);
			return FILTER_SKIP;
		}
	} while (!__atomic_compare_exchange_n(word, &paid, from + interval, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return FILTER_NEXT;
}

static enum filter_outcome filter_first(struct ltt_filter_state *state,
					const struct ltt_filter_insn *in, uint64_t *word)
{
	const uint64_t mask = (1ull << LTT_FILTER_FIRST_BITS) - 1;
	uint64_t taken = __atomic_load_n(word, __ATOMIC_RELAXED), from;

	do {
		from = (taken ^ in->constant) & ~mask ? in->constant & ~mask : taken;
		if (from >= in->constant) {
			state->closed = UINT64_MAX;
			return FILTER_SKIP;
		}
	} while (!__atomic_compare_exchange_n(word, &taken, from + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return FILTER_NEXT;
}

/* Of LTT_FILTER_RATE and LTT_FILTER_FIRST: whether no event is taken now, without reading the
 * words. A time that is further away than an interval is of a clock that went back since. */
static inline bool filter_closed(const struct ltt_filter_state *state,
				 const struct ltt_filter_insn *in)
{
	if (!state || !state->closed)
		return false;
	return state->closed == UINT64_MAX ||
	       (in->op == LTT_FILTER_RATE &&
		state->closed - state->now(in->a) - 1 < filter_interval(in));
}

static enum filter_outcome filter_budget(struct ltt_filter_state *state,
					 const struct ltt_filter_insn *in)
{
	uint64_t *words;

	if (!state)
		return FILTER_NEXT;
	if (filter_closed(state, in))
		return FILTER_SKIP;
	words = state->words(state);
	if (!words)
		return FILTER_NEXT;
	return in->op == LTT_FILTER_RATE ? filter_rate(state, in, words + in->offset) :
					   filter_first(state, in, words + in->offset);
}

static enum filter_outcome filter_run_sampling(struct filter_run *run,
					       const struct ltt_filter_insn *in)
{
	uint64_t hash;

	switch (in->op) {
	case LTT_FILTER_SAMPLE:
		return filter_sample(run->state, in);
	case LTT_FILTER_SAMPLE_BY:
	case LTT_FILTER_SAMPLE_BY_TEXT:
		hash = in->op == LTT_FILTER_SAMPLE_BY ? ltt_filter_mix(run->r[in->a]) :
							filter_hash_text(run->held);
		return !run->state || hash <= in->constant ? FILTER_NEXT : FILTER_SKIP;
	default:
		return filter_budget(run->state, in);
	}
}

bool ltt_filter_samples(const struct ltt_filter *program)
{
	uint32_t i;

	for (i = 0; i < program->head.nr_insns; i++)
		if (filter_op_samples(program->insns[i].op))
			return true;
	return false;
}

/* --- the whole program */

/* Instructions that write register @a. Return: whether there is a value. */
static bool filter_value(const struct filter_run *run, const struct ltt_filter_insn *in,
			 uint64_t *ret_value)
{
	switch (in->op) {
	case LTT_FILTER_LOAD:
		return filter_load(run, in, ret_value);
	case LTT_FILTER_CONSTANT:
		*ret_value = in->constant;
		return true;
	case LTT_FILTER_COMPUTE:
		return ltt_filter_compute(run->r[in->base], in->type, run->r[in->offset],
					  ret_value);
	case LTT_FILTER_COMPUTE_CONSTANT:
		return ltt_filter_compute(run->r[in->base], in->type, in->constant, ret_value);
	case LTT_FILTER_CONTEXT:
		return filter_run_context(run, in, ret_value);
	case LTT_FILTER_ELEMENT:
		return filter_run_element(run, in, ret_value);
	case LTT_FILTER_LENGTH:
		return filter_run_length(run, in, ret_value);
	case LTT_FILTER_TO_FLOAT:
		return filter_run_to_float(run->r[in->base], ret_value);
	case LTT_FILTER_SKIP_STRING:
		return filter_skip_string(run, in, ret_value);
	default:
		return filter_skip_sequence(run, in, ret_value);
	}
}

static enum filter_outcome filter_execute(struct filter_run *run, const struct ltt_filter_insn *in)
{
	switch (in->op) {
	case LTT_FILTER_JUMP:
		return FILTER_JUMP;
	case LTT_FILTER_TEST_TEXT:
		return filter_test_text(run, in);
	case LTT_FILTER_TEST_REGISTER:
		return filter_test(run->r[in->a], in->type, in->constant);
	case LTT_FILTER_TEST_REGISTERS:
		return filter_test(run->r[in->a], in->type, run->r[in->base]);
	case LTT_FILTER_TEST_HELD:
		return filter_test_held(run, in);
	case LTT_FILTER_HOLD:
		return filter_text_find(run, in, &run->held) ? FILTER_NEXT : FILTER_FAIL;
	default:
		if (filter_op_samples(in->op))
			return filter_run_sampling(run, in);
		return filter_value(run, in, &run->r[in->a]) ? FILTER_NEXT : FILTER_FAIL;
	}
}

/* From @in on; no register has a value yet. */
static noinline enum ltt_filter_verdict filter_run_from(const struct ltt_filter *program,
							const struct ltt_filter_insn *in,
							const void *payload, size_t length,
							const struct ltt_filter_value *contexts,
							struct ltt_filter_state *state)
{
	enum filter_outcome outcome;
	struct filter_run run;

	run.program = program;
	run.payload = payload;
	run.length = length;
	run.contexts = contexts;
	run.state = state;
	run.r[LTT_FILTER_FIXED] = 0;
	while (in->op != LTT_FILTER_RETURN) {
		outcome = in->op == LTT_FILTER_TEST_FIELD ? filter_test_field(&run, in) :
							    filter_execute(&run, in);
		if (outcome == FILTER_NEXT)
			in++;
		else if (outcome == FILTER_JUMP && in->jump != LTT_FILTER_REJECT)
			in = program->insns + in->jump;
		else
			return outcome == FILTER_SKIP ? LTT_FILTER_SKIPPED : LTT_FILTER_REJECTED;
	}
	return (enum ltt_filter_verdict)in->constant;
}

/* Most programs begin with tests of integers in the fixed part, and most events end there. Return:
 * the first other instruction; NULL: rejected. */
static inline const struct ltt_filter_insn *filter_first_tests(const struct ltt_filter *program,
							       const void *payload, size_t length)
{
	const struct ltt_filter_insn *in = program->insns;
	uint64_t value;

	while (in->op == LTT_FILTER_TEST_FIELD && in->base == LTT_FILTER_FIXED &&
	       !(in->a & LTT_FILTER_FLOAT)) {
		if (length < in->offset + filter_bytes(in->type))
			return NULL;
		value = filter_get((const uint8_t *)payload + in->offset, in->type);
		if (filter_compare_integers((int64_t)value, in->a, (int64_t)in->constant) !=
		    !!(in->a & LTT_FILTER_NOT))
			in++;
		else if (in->jump != LTT_FILTER_REJECT)
			in = program->insns + in->jump;
		else
			return NULL;
	}
	return in;
}

bool ltt_filter_run(const struct ltt_filter *program, const void *payload, size_t length,
		    const struct ltt_filter_value *contexts)
{
	const struct ltt_filter_insn *in = filter_first_tests(program, payload, length);

	if (!in)
		return false;
	if (in->op == LTT_FILTER_RETURN)
		return in->constant;
	return filter_run_from(program, in, payload, length, contexts, NULL) == LTT_FILTER_ACCEPTED;
}

enum ltt_filter_verdict ltt_filter_decide(const struct ltt_filter *program, const void *payload,
					  size_t length, const struct ltt_filter_value *contexts,
					  struct ltt_filter_state *state)
{
	const struct ltt_filter_insn *in = filter_first_tests(program, payload, length);

	if (!in)
		return LTT_FILTER_REJECTED;
	if (in->op == LTT_FILTER_SAMPLE && filter_sample(state, in++) == FILTER_SKIP)
		return LTT_FILTER_SKIPPED;
	if ((in->op == LTT_FILTER_RATE || in->op == LTT_FILTER_FIRST) && filter_closed(state, in))
		return LTT_FILTER_SKIPPED;
	if (in->op == LTT_FILTER_RETURN)
		return (enum ltt_filter_verdict)in->constant;
	return filter_run_from(program, in, payload, length, contexts, state);
}
