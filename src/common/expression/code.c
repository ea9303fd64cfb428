/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a tree. Intermediate values are in the registers from 0 upwards, positions
 * behind strings and sequences from 7 downwards; a position stays known until its register is
 * needed, or until a way joins on which it was not computed.
 */
#include <string.h>

#include "base/mem.h"
#include "tree.h"

#define LABELS (2 * LTT_FILTER_INSNS_MAX + 1)

/** The segment that begins at a register's position; 0: none. A segment follows each field whose
 *  length varies. */
struct filter_known {
	uint32_t segment[LTT_FILTER_REGISTERS];
};

struct filter_label {
	uint16_t at;
	bool reached;
	struct filter_known known; /* on every way to here */
};

struct filter_code {
	struct filter_compiler *c;
	struct ltt_filter_insn insns[LTT_FILTER_INSNS_MAX];
	uint16_t nr_insns, nr_labels, nr_contexts;
	uint32_t text_bytes;
	char text[LTT_FILTER_TEXT_MAX];
	struct filter_label labels[LABELS];
	struct filter_known known;
	bool reachable;
	unsigned int top; /* registers below hold values */
};

static void filter_gen_test(struct filter_code *g, const struct filter_node *node, bool inverse,
			    uint16_t miss);
static void filter_gen_value(struct filter_code *g, const struct filter_node *node,
			     unsigned int to);

static void filter_gen_large(struct filter_code *g)
{
	filter_fail(g->c, 1, "the expression is too large; divide it");
}

/* --- instructions and labels */

static void filter_known_join(struct filter_known *known, const struct filter_known *other)
{
	for (unsigned int i = 0; i < LTT_FILTER_REGISTERS; i++)
		if (known->segment[i] != other->segment[i])
			known->segment[i] = 0;
}

static uint16_t filter_gen_label(struct filter_code *g)
{
	if (g->nr_labels + 1 >= LABELS) {
		filter_gen_large(g);
		return LTT_FILTER_REJECT;
	}
	return ++g->nr_labels; /* 0 is LTT_FILTER_REJECT */
}

static void filter_gen_reach(struct filter_code *g, uint16_t number)
{
	struct filter_label *label = &g->labels[number];

	if (label->reached)
		filter_known_join(&label->known, &g->known);
	else
		label->known = g->known;
	label->reached = true;
}

static void filter_gen_place(struct filter_code *g, uint16_t number)
{
	struct filter_label *label = &g->labels[number];

	label->at = g->nr_insns;
	if (label->reached && g->reachable)
		filter_known_join(&g->known, &label->known);
	else if (label->reached)
		g->known = label->known;
	g->reachable = g->reachable || label->reached;
}

/* @insn.jump is a label. */
static void filter_gen_add(struct filter_code *g, struct ltt_filter_insn insn)
{
	if (g->nr_insns == LTT_FILTER_INSNS_MAX)
		filter_gen_large(g);
	if (g->c->failed)
		return;
	g->insns[g->nr_insns++] = insn;
	if (insn.jump != LTT_FILTER_REJECT)
		filter_gen_reach(g, insn.jump);
	if (insn.op == LTT_FILTER_JUMP || insn.op == LTT_FILTER_RETURN)
		g->reachable = false;
}

#define ADD(g, ...) filter_gen_add(g, (struct ltt_filter_insn){ __VA_ARGS__ })

/* Return: a register for a value, which is free again when @top is put back. */
static unsigned int filter_gen_take(struct filter_code *g, unsigned int number)
{
	if (number + 1 >= LTT_FILTER_REGISTERS) { /* one is left for positions */
		filter_fail(g->c, 1, "the expression is nested too deeply");
		return 0;
	}
	g->known.segment[number] = 0;
	g->top = MAX(g->top, number + 1);
	return number;
}

/* --- places of fields */

/** Where a field is: bytes behind the beginning of a segment. */
struct filter_place {
	uint32_t segment;
	uint64_t offset;
};

static bool filter_varies(const struct layout_field *f)
{
	return f->kind == LTT_KIND_STRING || f->kind == LTT_KIND_SEQUENCE;
}

static uint64_t filter_fixed_bytes(const struct layout_field *f)
{
	return (uint64_t)f->size_bits / 8 * (f->kind == LTT_KIND_ARRAY ? f->count : 1);
}

static struct filter_place filter_place_of(const struct layout *layout, uint32_t field)
{
	struct filter_place place = { 0, 0 };

	for (uint32_t i = 0; i < field; i++) {
		if (filter_varies(&layout->fields[i]))
			place = (struct filter_place){ place.segment + 1, 0 };
		else
			place.offset += filter_fixed_bytes(&layout->fields[i]);
	}
	return place;
}

static uint8_t filter_log2(unsigned int bits)
{
	return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

/* A register for a position: unused, or else that of the segment that is nearest to the end. */
static unsigned int filter_gen_position(const struct filter_code *g)
{
	unsigned int best = LTT_FILTER_REGISTERS - 1;

	for (unsigned int i = LTT_FILTER_REGISTERS; i-- > g->top;) {
		if (!g->known.segment[i])
			return i;
		if (g->known.segment[i] > g->known.segment[best])
			best = i;
	}
	return best;
}

static void filter_gen_skip(struct filter_code *g, const struct layout_field *f, uint8_t to,
			    uint8_t base, uint64_t offset)
{
	if (offset > UINT16_MAX)
		filter_fail(g->c, 1, "a field is more than 65535 bytes away");
	if (f->kind == LTT_KIND_STRING)
		ADD(g, .op = LTT_FILTER_SKIP_STRING, .a = to, .base = base,
		    .offset = (uint16_t)offset);
	else
		ADD(g, .op = LTT_FILTER_SKIP_SEQUENCE, .a = to, .base = base,
		    .offset = (uint16_t)offset, .type = filter_log2(f->length_bits),
		    .constant = f->size_bits / 8);
}

/* Emit the ways from the known segment that is nearest before @segment. */
static uint8_t filter_gen_base(struct filter_code *g, uint32_t segment)
{
	const struct layout *layout = g->c->layout;
	uint8_t to, base = LTT_FILTER_FIXED;
	uint32_t from = 0, at = 0;
	uint64_t offset = 0;

	for (unsigned int i = 0; i < LTT_FILTER_REGISTERS; i++)
		if (g->known.segment[i] > from && g->known.segment[i] <= segment) {
			from = g->known.segment[i];
			base = (uint8_t)i;
		}
	if (from == segment)
		return base;
	to = (uint8_t)filter_gen_position(g);
	for (uint32_t i = 0; i < layout->nr_fields && at < segment; i++) {
		const struct layout_field *f = &layout->fields[i];

		if (!filter_varies(f)) {
			offset += filter_fixed_bytes(f);
			continue;
		}
		if (at++ >= from) {
			filter_gen_skip(g, f, to, base, offset);
			base = to;
		}
		offset = 0;
	}
	g->known.segment[to] = segment;
	return to;
}

/* An instruction whose place is the field's, or its element's in an array. */
static struct ltt_filter_insn filter_gen_at(struct filter_code *g, const struct filter_node *node)
{
	const struct layout_field *f = &g->c->layout->fields[node->field];
	struct filter_place place = filter_place_of(g->c->layout, node->field);
	struct ltt_filter_insn in = { .base = LTT_FILTER_FIXED };

	if (f->kind == LTT_KIND_ARRAY)
		place.offset += (uint64_t)node->index * f->size_bits / 8;
	if (place.offset > UINT16_MAX)
		filter_fail(g->c, node->column, "a field is more than 65535 bytes away");
	in.base = filter_gen_base(g, place.segment);
	in.offset = (uint16_t)place.offset;
	return in;
}

static uint8_t filter_number_type(const struct layout_field *f)
{
	bool is_float = f->kind == LTT_KIND_FLOAT || f->flags & LTT_FIELD_FLOAT_ELEM;
	uint8_t type = filter_log2(f->size_bits);

	if (f->flags & LTT_FIELD_BIG_ENDIAN)
		type |= LTT_FILTER_BIG_ENDIAN;
	if (is_float)
		return type | LTT_FILTER_FLOAT;
	return type | (f->flags & LTT_FIELD_SIGNED ? LTT_FILTER_SIGNED : 0);
}

static struct ltt_filter_insn filter_gen_number_at(struct filter_code *g,
						   const struct filter_node *node)
{
	struct ltt_filter_insn in = filter_gen_at(g, node);

	in.type = filter_number_type(&g->c->layout->fields[node->field]);
	return in;
}

static void filter_gen_use_context(struct filter_code *g, const struct filter_context *context)
{
	g->nr_contexts = MAX(g->nr_contexts, context->number + 1);
}

static struct ltt_filter_insn filter_gen_text_at(struct filter_code *g,
						 const struct filter_node *node)
{
	const struct layout_field *f;
	struct ltt_filter_insn in = { .base = LTT_FILTER_FIXED, .type = LTT_FILTER_TEXT_CONTEXT };

	if (node->kind == NODE_CONTEXT) {
		in.offset = node->context->number;
		filter_gen_use_context(g, node->context);
		return in;
	}
	f = &g->c->layout->fields[node->field];
	in = filter_gen_at(g, node);
	in.type = LTT_FILTER_STRING;
	if (f->kind == LTT_KIND_SEQUENCE)
		in.type = LTT_FILTER_TEXT_SEQUENCE | filter_log2(f->length_bits);
	if (f->kind == LTT_KIND_ARRAY) {
		in.type = LTT_FILTER_TEXT_ARRAY;
		in.constant = (uint64_t)f->count << 32;
	}
	return in;
}

/* --- tests */

/* Return: the constant's offset and length, as an instruction has them. */
static uint64_t filter_gen_text(struct filter_code *g, const char *text, uint32_t length)
{
	uint32_t offset = g->text_bytes;

	if (length > sizeof(g->text) - offset) {
		filter_gen_large(g);
		return 0;
	}
	memcpy(g->text + offset, text, length);
	g->text_bytes += length;
	return offset | (uint64_t)length << 16;
}

/* The stars around a part that is sought by =~. */
static uint64_t filter_gen_part(struct filter_code *g, const struct filter_node *node)
{
	char *text AUTO_FREE = xalloc(node->length + 2);

	memcpy(text + 1, node->text, node->length);
	return filter_gen_text(g, text, node->length + 2);
}

static void filter_gen_literal(struct filter_code *g, struct ltt_filter_insn *in,
			       const struct filter_node *node)
{
	uint8_t inverse = in->a & LTT_FILTER_NOT;

	if (!node->has_star) {
		in->constant |= filter_gen_text(g, node->text, node->length);
	} else if ((in->a & ~LTT_FILTER_NOT) == LTT_FILTER_CONTAINS) {
		in->constant |= filter_gen_part(g, node);
		in->a = LTT_FILTER_PATTERN | inverse;
	} else if (strlen(node->text) == node->length - 1) {
		in->constant |= filter_gen_text(g, node->text, node->length - 1);
		in->a = LTT_FILTER_PREFIX | inverse;
	} else {
		in->constant |= filter_gen_text(g, node->text, node->length);
		in->a = LTT_FILTER_PATTERN | inverse;
	}
}

static void filter_gen_text_relation(struct filter_code *g, const struct filter_node *node,
				     uint8_t relation, uint16_t miss)
{
	struct ltt_filter_insn in = filter_gen_text_at(g, node->left);

	if (node->right->kind == NODE_TEXT) {
		in.op = LTT_FILTER_TEST_TEXT;
		in.a = relation;
		filter_gen_literal(g, &in, node->right);
	} else {
		in.op = LTT_FILTER_HOLD;
		filter_gen_add(g, in);
		in = filter_gen_text_at(g, node->right);
		in.op = LTT_FILTER_TEST_HELD;
		in.a = relation;
	}
	in.jump = miss;
	filter_gen_add(g, in);
}

/* Two numbers, at least one of which is no constant: that is the left one. */
static void filter_gen_relation(struct filter_code *g, const struct filter_node *node,
				uint8_t relation, uint16_t miss)
{
	unsigned int top = g->top, right, left;
	struct ltt_filter_insn in;

	if (node->right->kind == NODE_NUMBER && node->left->kind == NODE_FIELD) {
		in = filter_gen_number_at(g, node->left);
		in.op = LTT_FILTER_TEST_FIELD;
		in.a = relation;
		in.constant = node->right->value;
		in.jump = miss;
		filter_gen_add(g, in);
		return;
	}
	left = filter_gen_take(g, top);
	filter_gen_value(g, node->left, left);
	if (node->right->kind == NODE_NUMBER) {
		ADD(g, .op = LTT_FILTER_TEST_REGISTER, .a = (uint8_t)left, .type = relation,
		    .constant = node->right->value, .jump = miss);
	} else {
		right = filter_gen_take(g, top + 1);
		filter_gen_value(g, node->right, right);
		ADD(g, .op = LTT_FILTER_TEST_REGISTERS, .a = (uint8_t)left, .base = (uint8_t)right,
		    .type = relation, .jump = miss);
	}
	g->top = top;
}

/* Left && right: continue if both hold. */
static void filter_gen_both(struct filter_code *g, const struct filter_node *node, bool inverse,
			    uint16_t miss)
{
	filter_gen_test(g, node->left, inverse, miss);
	filter_gen_test(g, node->right, inverse, miss);
}

/* Left || right: where the left one holds, the right one is passed over. */
static void filter_gen_either(struct filter_code *g, const struct filter_node *node, bool inverse,
			      uint16_t miss)
{
	uint16_t hit = filter_gen_label(g);

	filter_gen_test(g, node->left, !inverse, hit);
	filter_gen_test(g, node->right, inverse, miss);
	filter_gen_place(g, hit);
}

/* Not 0. */
static void filter_gen_truth(struct filter_code *g, const struct filter_node *node, bool inverse,
			     uint16_t miss)
{
	struct filter_node zero = { .kind = NODE_NUMBER, .type = node->type };
	struct filter_node relation = { .left = (struct filter_node *)node, .right = &zero };
	uint8_t flags = node->type == TYPE_FLOAT ? LTT_FILTER_FLOAT : 0;

	if (node->kind != NODE_NUMBER) {
		filter_gen_relation(g, &relation, flags | (inverse ? 0 : LTT_FILTER_NOT), miss);
		return;
	}
	flags = node->type == TYPE_FLOAT ? filter_double_of(node->value) != 0 : node->value != 0;
	if (flags == inverse)
		ADD(g, .op = LTT_FILTER_JUMP, .jump = miss);
}

/* Continue if the tree holds, or if it does not and @inverse is set; else jump to @miss. */
static void filter_gen_test(struct filter_code *g, const struct filter_node *node, bool inverse,
			    uint16_t miss)
{
	uint8_t relation = node->op ^ (inverse ? LTT_FILTER_NOT : 0);

	if (g->c->failed)
		return;
	if (node->kind == NODE_NOT)
		filter_gen_test(g, node->left, !inverse, miss);
	else if (node->kind == NODE_AND || node->kind == NODE_OR)
		((node->kind == NODE_AND) != inverse ? filter_gen_both :
						       filter_gen_either)(g, node, inverse, miss);
	else if (node->kind == NODE_RELATION && node->left->type == TYPE_TEXT)
		filter_gen_text_relation(g, node, relation, miss);
	else if (node->kind == NODE_RELATION)
		filter_gen_relation(g, node, relation, miss);
	else
		filter_gen_truth(g, node, inverse, miss);
}

/* --- values */

/* 1 or 0. */
static void filter_gen_bool(struct filter_code *g, const struct filter_node *node, uint8_t to)
{
	uint16_t no = filter_gen_label(g), end = filter_gen_label(g);

	filter_gen_test(g, node, false, no);
	ADD(g, .op = LTT_FILTER_CONSTANT, .a = to, .constant = 1);
	ADD(g, .op = LTT_FILTER_JUMP, .jump = end);
	filter_gen_place(g, no);
	ADD(g, .op = LTT_FILTER_CONSTANT, .a = to);
	filter_gen_place(g, end);
}

static void filter_gen_compute(struct filter_code *g, const struct filter_node *node, uint8_t to)
{
	unsigned int top = g->top, right;

	filter_gen_value(g, node->left, to);
	if (node->right->kind == NODE_NUMBER) {
		ADD(g, .op = LTT_FILTER_COMPUTE_CONSTANT, .a = to, .base = to, .type = node->op,
		    .constant = node->right->value);
		return;
	}
	right = filter_gen_take(g, to + 1u);
	filter_gen_value(g, node->right, right);
	ADD(g, .op = LTT_FILTER_COMPUTE, .a = to, .base = to, .type = node->op,
	    .offset = (uint16_t)right);
	g->top = top;
}

static struct ltt_filter_insn filter_gen_element(struct filter_code *g,
						 const struct filter_node *node)
{
	struct ltt_filter_insn in = filter_gen_number_at(g, node);
	const struct layout_field *f = &g->c->layout->fields[node->field];

	in.op = LTT_FILTER_ELEMENT;
	in.constant = node->index | (uint64_t)filter_log2(f->length_bits) << 32;
	return in;
}

/* Of a text, or the length that is before a sequence. */
static struct ltt_filter_insn filter_gen_length(struct filter_code *g,
						const struct filter_node *node)
{
	struct ltt_filter_insn in;

	if (node->left->type == TYPE_TEXT) {
		in = filter_gen_text_at(g, node->left);
		in.op = LTT_FILTER_LENGTH;
		return in;
	}
	in = filter_gen_at(g, node->left);
	in.op = LTT_FILTER_LOAD;
	in.type = filter_log2(g->c->layout->fields[node->left->field].length_bits);
	return in;
}

/* Values that one instruction gets. */
static struct ltt_filter_insn filter_gen_leaf(struct filter_code *g, const struct filter_node *node)
{
	struct ltt_filter_insn in;

	switch (node->kind) {
	case NODE_FIELD:
		in = filter_gen_number_at(g, node);
		in.op = LTT_FILTER_LOAD;
		return in;
	case NODE_CONTEXT:
		filter_gen_use_context(g, node->context);
		return (struct ltt_filter_insn){ .op = LTT_FILTER_CONTEXT,
						 .offset = node->context->number,
						 .type = node->type == TYPE_FLOAT ?
								 LTT_FILTER_FLOAT :
								 0 };
	case NODE_ELEMENT:
		return filter_gen_element(g, node);
	case NODE_LENGTH:
		return filter_gen_length(g, node);
	default:
		return (struct ltt_filter_insn){ .op = LTT_FILTER_CONSTANT,
						 .constant = node->value };
	}
}

/* Into register @to, which was taken; registers from there on are free. */
static void filter_gen_value(struct filter_code *g, const struct filter_node *node, unsigned int to)
{
	struct ltt_filter_insn in;

	if (g->c->failed)
		return;
	switch (node->kind) {
	case NODE_COMPUTE:
		filter_gen_compute(g, node, (uint8_t)to);
		return;
	case NODE_TO_FLOAT:
		filter_gen_value(g, node->left, to);
		ADD(g, .op = LTT_FILTER_TO_FLOAT, .a = (uint8_t)to, .base = (uint8_t)to);
		return;
	case NODE_RELATION:
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
		filter_gen_bool(g, node, (uint8_t)to);
		return;
	default:
		in = filter_gen_leaf(g, node);
		in.a = (uint8_t)to;
		filter_gen_add(g, in);
	}
}

/* --- the ending */

/* Registers of the tests are free here. */
static void filter_gen_key(struct filter_code *g, const struct filter_node *key, uint32_t one_in)
{
	struct ltt_filter_insn in;

	if (key->type == TYPE_TEXT) {
		in = filter_gen_text_at(g, key);
		in.op = LTT_FILTER_HOLD;
		filter_gen_add(g, in);
		ADD(g, .op = LTT_FILTER_SAMPLE_BY_TEXT, .constant = UINT64_MAX / one_in);
		return;
	}
	filter_gen_value(g, key, filter_gen_take(g, 0));
	ADD(g, .op = LTT_FILTER_SAMPLE_BY, .constant = UINT64_MAX / one_in);
}

static void filter_gen_ending(struct filter_code *g, const struct filter_ending *e)
{
	g->top = 0;
	if (e->one_in && g->c->key)
		filter_gen_key(g, g->c->key, e->one_in);
	else if (e->one_in)
		ADD(g, .op = LTT_FILTER_SAMPLE, .offset = e->number, .constant = e->one_in);
	if (e->interval)
		ADD(g, .op = LTT_FILTER_RATE, .a = e->clock, .offset = e->word,
		    .constant = e->interval | (uint64_t)e->burst << LTT_FILTER_INTERVAL_BITS);
	if (e->first)
		ADD(g, .op = LTT_FILTER_FIRST, .offset = (uint16_t)(e->word + 1),
		    .constant = e->first | (uint64_t)e->start << LTT_FILTER_FIRST_BITS);
}

/* --- the whole program */

static void filter_gen_pack(struct filter_code *g)
{
	size_t insns = g->nr_insns * sizeof(g->insns[0]);
	size_t bytes = sizeof(struct ltt_filter) + insns + g->text_bytes;
	struct ltt_filter *program = xalloc(bytes);

	program->head = (struct ltt_filter_head){ .magic = LTT_FILTER_MAGIC,
						  .version = LTT_FILTER_VERSION,
						  .nr_insns = g->nr_insns,
						  .text_bytes = (uint16_t)g->text_bytes,
						  .nr_contexts = g->nr_contexts };
	for (uint16_t i = 0; i < g->nr_insns; i++) {
		program->insns[i] = g->insns[i];
		if (g->insns[i].jump != LTT_FILTER_REJECT)
			program->insns[i].jump = g->labels[g->insns[i].jump].at;
	}
	memcpy((char *)program->insns + insns, g->text, g->text_bytes);
	g->c->result->program = program;
	g->c->result->bytes = bytes;
}

void filter_generate(struct filter_compiler *c, const struct filter_node *root)
{
	struct filter_code *g AUTO_FREE = xalloc(sizeof(*g));

	g->c = c;
	g->reachable = true;
	if (root)
		filter_gen_test(g, root, false, LTT_FILTER_REJECT);
	if (c->ending)
		filter_gen_ending(g, c->ending);
	ADD(g, .op = LTT_FILTER_RETURN, .constant = 1);
	if (!c->failed)
		filter_gen_pack(g);
}
