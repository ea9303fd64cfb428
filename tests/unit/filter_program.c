/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of event filters: each rule of the verifier, each operation, and random damage. */
#include <string.h>

#include "check.h"
#include "filter/program.h"

#define INSNS 32u

/** A program that is being made, and the payload that it is for. */
struct draft {
	struct ltt_filter_head head;
	struct ltt_filter_insn insns[INSNS];
	char text[16];
};

static struct draft draft;

/* u8 200; s16 -2, big-endian; float 1.5; string "abc"; sequence of 3 u16 with a u8 length; then a
 * text sequence "hello" with a u32 length and u64 7. */
static const uint8_t payload[] = { 200, 0xff, 0xfe, 0, 0, 0xc0, 0x3f, 'a', 'b', 'c', 0,	  3,
				   1,	0,    2,    0, 3, 0,	5,    0,   0,	0,   'h', 'e',
				   'l', 'l',  'o',  7, 0, 0,	0,    0,   0,	0,   0 };
static const struct ltt_filter_value contexts[] = {
	{ .kind = LTT_FILTER_INTEGER, .integer = 42 },
	{ .kind = LTT_FILTER_TEXT, .text = "abc", .length = 3 },
	{ .kind = LTT_FILTER_ABSENT },
	{ .kind = LTT_FILTER_NUMBER, .number = 2.5 },
};

#define INSN(...) ((struct ltt_filter_insn){ __VA_ARGS__ })
#define ACCEPT INSN(.op = LTT_FILTER_RETURN, .constant = 1)
#define FIXED .base = LTT_FILTER_FIXED

static void begin(void)
{
	memset(&draft, 0, sizeof(draft));
	draft.head.magic = LTT_FILTER_MAGIC;
	draft.head.version = LTT_FILTER_VERSION;
	draft.head.nr_contexts = 4;
}

static void add(struct ltt_filter_insn insn)
{
	draft.insns[draft.head.nr_insns++] = insn;
}

/* The program in memory of its size, so that a sanitizer sees each overrun. */
static struct ltt_filter *pack(size_t *ret_length)
{
	size_t insns = draft.head.nr_insns * sizeof(draft.insns[0]);
	char *bytes;

	*ret_length = sizeof(draft.head) + insns + draft.head.text_bytes;
	bytes = malloc(*ret_length);
	memcpy(bytes, &draft.head, sizeof(draft.head));
	memcpy(bytes + sizeof(draft.head), draft.insns, insns);
	memcpy(bytes + sizeof(draft.head) + insns, draft.text, draft.head.text_bytes);
	return (struct ltt_filter *)bytes;
}

static bool is_valid(void)
{
	size_t length;
	struct ltt_filter *program = pack(&length);
	bool valid = ltt_filter_verify(program, length) == program;

	free(program);
	return valid;
}

static bool accepts(void)
{
	size_t length;
	struct ltt_filter *program = pack(&length);
	uint8_t *copy = malloc(sizeof(payload));
	bool accepted;

	memcpy(copy, payload, sizeof(payload));
	CHECK(ltt_filter_verify(program, length));
	accepted = ltt_filter_run(program, copy, sizeof(payload), contexts);
	free(copy);
	free(program);
	return accepted;
}

static bool one(struct ltt_filter_insn insn)
{
	begin();
	strcpy(draft.text, "abc");
	draft.head.text_bytes = 3;
	add(insn);
	add(ACCEPT);
	return accepts();
}

static bool one_valid(struct ltt_filter_insn insn)
{
	begin();
	strcpy(draft.text, "abc");
	draft.head.text_bytes = 3;
	add(insn);
	add(ACCEPT);
	return is_valid();
}

static void test_fields(void)
{
	const double half = 1.5;
	uint64_t bits;

	memcpy(&bits, &half, sizeof(bits));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .constant = 200)));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .constant = 201)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .a = LTT_FILTER_NOT, .constant = 201)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .type = LTT_FILTER_SIGNED,
		       .a = LTT_FILTER_LT, .constant = 0)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = 1,
		       .type = 1 | LTT_FILTER_SIGNED | LTT_FILTER_BIG_ENDIAN,
		       .constant = (uint64_t)-2)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = 3,
		       .type = 2 | LTT_FILTER_FLOAT, .a = LTT_FILTER_FLOAT, .constant = bits)));
	/* The last byte of the payload, and the first one behind it, with each relation. */
	CHECK(one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = sizeof(payload) - 1)));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = sizeof(payload))));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = sizeof(payload),
			.a = LTT_FILTER_NOT)));
	CHECK(one(INSN(.op = LTT_FILTER_LOAD, FIXED, .offset = sizeof(payload) - 1)));
	CHECK(!one(INSN(.op = LTT_FILTER_LOAD, FIXED, .offset = sizeof(payload))));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .offset = sizeof(payload) - 7,
			.type = 3, .a = LTT_FILTER_NOT, .constant = 1)));
}

static void test_texts(void)
{
	const uint64_t abc = 3 << 16;

	CHECK(one(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 7, .type = LTT_FILTER_STRING,
		       .constant = abc)));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 7, .type = LTT_FILTER_STRING,
			.constant = 2 << 16)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 7,
		       .type = LTT_FILTER_TEXT_ARRAY, .constant = 2ull << 32 | 2 << 16)));
	CHECK(one(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 1,
		       .type = LTT_FILTER_TEXT_CONTEXT, .constant = abc)));
	CHECK(!one(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 2,
			.type = LTT_FILTER_TEXT_CONTEXT, .a = LTT_FILTER_NOT, .constant = abc)));
}

static void test_registers(void)
{
	begin();
	add(INSN(.op = LTT_FILTER_SKIP_STRING, .a = 7, FIXED, .offset = 7));
	add(INSN(.op = LTT_FILTER_ELEMENT, .a = 0, .base = 7, .type = 1, .constant = 2));
	add(INSN(.op = LTT_FILTER_TEST_REGISTER, .a = 0, .constant = 3));
	add(INSN(.op = LTT_FILTER_SKIP_SEQUENCE, .a = 6, .base = 7, .constant = 2));
	add(INSN(.op = LTT_FILTER_LENGTH, .a = 1, .base = 6, .type = LTT_FILTER_TEXT_SEQUENCE | 2));
	add(INSN(.op = LTT_FILTER_TEST_REGISTER, .a = 1, .constant = 5));
	add(INSN(.op = LTT_FILTER_COMPUTE, .a = 2, .base = 0, .offset = 1, .type = LTT_FILTER_MUL));
	add(INSN(.op = LTT_FILTER_TEST_REGISTER, .a = 2, .constant = 15));
	add(INSN(.op = LTT_FILTER_CONTEXT, .a = 3, .offset = 0));
	add(INSN(.op = LTT_FILTER_TEST_REGISTERS, .a = 2, .base = 3, .type = LTT_FILTER_LT));
	add(INSN(.op = LTT_FILTER_HOLD, .offset = 1, FIXED, .type = LTT_FILTER_TEXT_CONTEXT));
	add(INSN(.op = LTT_FILTER_TEST_HELD, .offset = 7, FIXED, .type = LTT_FILTER_STRING));
	add(INSN(.op = LTT_FILTER_TO_FLOAT, .a = 4, .base = 3));
	add(INSN(.op = LTT_FILTER_CONTEXT, .a = 5, .offset = 3, .type = LTT_FILTER_FLOAT));
	add(INSN(.op = LTT_FILTER_COMPUTE, .a = 4, .base = 4, .offset = 5,
		 .type = LTT_FILTER_SUB | LTT_FILTER_FLOAT));
	add(INSN(.op = LTT_FILTER_TEST_REGISTERS, .a = 4, .base = 5,
		 .type = LTT_FILTER_GT | LTT_FILTER_FLOAT, .jump = 18));
	add(INSN(.op = LTT_FILTER_JUMP, .jump = 19));
	add(INSN(.op = LTT_FILTER_COMPUTE_CONSTANT, .a = 0, .base = 0, .type = LTT_FILTER_DIV));
	add(INSN(.op = LTT_FILTER_RETURN));
	add(ACCEPT);
	CHECK(accepts());
	draft.insns[1].constant = 3; /* beyond the end */
	CHECK(!accepts());
	draft.insns[1].constant = 2;
}

/* --- the verifier */

static void test_members(void)
{
	const uint64_t abc = 3 << 16;

	CHECK(!one_valid(INSN(.op = 0)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_NR_OPS)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_RETURN, .constant = 2)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_LOAD, .a = 8, FIXED)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_LOAD, .base = 9)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_LOAD, .base = 7))); /* was not written */
	CHECK(!one_valid(INSN(.op = LTT_FILTER_LOAD, FIXED, .type = 0x20)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_LOAD, FIXED, .type = 1 | LTT_FILTER_FLOAT)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .a = LTT_FILTER_CONTAINS)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_TEST_FIELD, FIXED, .a = LTT_FILTER_FLOAT)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_CONTEXT, .offset = 4)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_TEST_TEXT, .type = LTT_FILTER_TEXT_CONTEXT, FIXED,
			      .offset = 4)));
	CHECK(one_valid(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .type = LTT_FILTER_STRING,
			     .constant = abc)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .type = LTT_FILTER_STRING,
			      .constant = abc + 1)));
	CHECK(!one_valid(
		INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .type = LTT_FILTER_STRING, .a = 8)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_TEST_HELD, FIXED, .type = LTT_FILTER_STRING)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_SKIP_SEQUENCE, FIXED, .constant = 0)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_SKIP_SEQUENCE, FIXED, .constant = 3)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_ELEMENT, FIXED, .constant = 4ull << 32)));
	CHECK(!one_valid(INSN(.op = LTT_FILTER_COMPUTE, .type = LTT_FILTER_ADD)));
}

static void test_jumps(void)
{
	begin();
	add(INSN(.op = LTT_FILTER_CONSTANT, .a = 1));
	add(INSN(.op = LTT_FILTER_TEST_REGISTER, .a = 1, .jump = 3));
	add(INSN(.op = LTT_FILTER_CONSTANT, .a = 2));
	add(INSN(.op = LTT_FILTER_TEST_REGISTER, .a = 1));
	add(ACCEPT);
	CHECK(is_valid());
	draft.insns[3].a = 2; /* written on one way only */
	CHECK(!is_valid());
	draft.insns[3].a = 1;
	draft.insns[1].jump = 5;
	CHECK(!is_valid());
	draft.insns[1].jump = 1;
	CHECK(!is_valid());
	draft.insns[1].jump = 3;
	draft.insns[4] = INSN(.op = LTT_FILTER_CONSTANT);
	CHECK(!is_valid()); /* no end */
}

static void test_header(void)
{
	size_t length;
	struct ltt_filter *program;

	begin();
	CHECK(!is_valid());
	add(ACCEPT);
	CHECK(is_valid());
	program = pack(&length);
	CHECK(!ltt_filter_verify(program, length - 1) && !ltt_filter_verify(program, 8));
	free(program);
	draft.head.reserved = 1;
	CHECK(!is_valid());
	draft.head.reserved = 0;
	draft.head.version++;
	CHECK(!is_valid());
	draft.head.version--;
	draft.head.nr_contexts = LTT_FILTER_CONTEXTS_MAX + 1;
	CHECK(!is_valid());
}

/* --- damage */

static uint64_t dice = 88172645463325252ull;

static uint64_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice;
}

/* A few bytes of the program change, the payload is cut anywhere: no byte outside is read. */
static bool try_damaged(const struct ltt_filter *whole, size_t length)
{
	struct ltt_filter *program = malloc(length);
	size_t bytes = roll() % (sizeof(payload) + 1);
	uint8_t *cut = malloc(bytes ? bytes : 1);
	const struct ltt_filter *verified;

	memcpy(program, whole, length);
	memcpy(cut, payload, bytes);
	for (uint64_t i = roll() % 4; i > 0; i--)
		((uint8_t *)program)[sizeof(*program) + roll() % (length - sizeof(*program))] =
			(uint8_t)(roll() % 4 ? roll() % 34 : roll());
	if (bytes && roll() % 2)
		cut[roll() % bytes] = (uint8_t)roll();
	verified = ltt_filter_verify(program, length);
	if (verified)
		ltt_filter_run(verified, cut, bytes, contexts);
	free(cut);
	free(program);
	return verified;
}

static void test_damage(void)
{
	uint32_t nr_valid = 0;
	size_t length;
	struct ltt_filter *program;

	test_registers();
	memcpy(draft.text, "a\0c", 3);
	draft.head.text_bytes = 3;
	draft.insns[19] =
		INSN(.op = LTT_FILTER_TEST_TEXT, FIXED, .offset = 7, .type = LTT_FILTER_STRING,
		     .a = LTT_FILTER_PATTERN, .constant = 3 << 16);
	add(ACCEPT);
	CHECK(accepts());
	program = pack(&length);
	for (uint32_t i = 0; i < 1000000; i++)
		nr_valid += try_damaged(program, length);
	free(program);
	CHECK(nr_valid > 100000 && nr_valid < 900000);
}

int main(void)
{
	test_fields();
	test_texts();
	test_registers();
	test_members();
	test_jumps();
	test_header();
	test_damage();
	return 0;
}
