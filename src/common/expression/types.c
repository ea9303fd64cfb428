/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names become fields, contexts and labels; types are checked; constants are computed. */
#include <string.h>

#include "base/mem.h"
#include "tree.h"

#define ENDING_INSNS 6u /* at most: sampling and the return */

static struct filter_node *filter_resolve_any(struct filter_compiler *c, struct filter_node *node);

static bool filter_is_constant(const struct filter_node *node)
{
	return node->kind == NODE_NUMBER || node->kind == NODE_TEXT;
}

static struct filter_node *filter_make_integer(struct filter_node *node, uint64_t value)
{
	node->kind = NODE_NUMBER;
	node->type = TYPE_INTEGER;
	node->value = value;
	return node;
}

static struct filter_node *filter_unknown(struct filter_node *node)
{
	node->type = TYPE_UNKNOWN;
	return node;
}

static const struct layout_field *filter_field_of(const struct filter_compiler *c,
						  const struct filter_node *node)
{
	return node->kind == NODE_FIELD || node->kind == NODE_ELEMENT ?
		       &c->layout->fields[node->field] :
		       NULL;
}

/* --- leaves */

static enum filter_type filter_type_of_field(const struct layout_field *f)
{
	if (f->kind == LTT_KIND_STRING || f->flags & LTT_FIELD_TEXT)
		return TYPE_TEXT;
	if (f->kind == LTT_KIND_ARRAY || f->kind == LTT_KIND_SEQUENCE)
		return TYPE_LIST;
	return f->kind == LTT_KIND_FLOAT ? TYPE_FLOAT : TYPE_INTEGER;
}

static struct filter_node *filter_resolve_name(struct filter_compiler *c, struct filter_node *node)
{
	int number;

	if (!c->layout)
		return filter_unknown(node);
	number = filter_find_field(c, node->text);
	node->type = TYPE_NAME;
	if (number < 0)
		return node;
	node->kind = NODE_FIELD;
	node->field = (uint32_t)number;
	node->type = filter_type_of_field(&c->layout->fields[number]);
	return node;
}

static struct filter_node *filter_resolve_context(struct filter_compiler *c,
						  struct filter_node *node)
{
	static const enum filter_type types[] = { [LTT_FILTER_ABSENT] = TYPE_ANY,
						  [LTT_FILTER_INTEGER] = TYPE_INTEGER,
						  [LTT_FILTER_NUMBER] = TYPE_FLOAT,
						  [LTT_FILTER_TEXT] = TYPE_TEXT };

	for (size_t i = 0; i < c->nr_contexts; i++)
		if (strcmp(c->contexts[i].name, node->text) == 0) {
			node->context = &c->contexts[i];
			node->type = types[node->context->kind];
			return node;
		}
	if (c->layout)
		filter_no_context(c, node->column, node->text);
	return filter_unknown(node);
}

/* A tree whose value is needed: a name has to be that of a field. */
static struct filter_node *filter_resolve_value(struct filter_compiler *c, struct filter_node *node)
{
	node = filter_resolve_any(c, node);
	if (node->type != TYPE_NAME)
		return node;
	filter_no_field(c, node->column, node->text);
	return filter_unknown(node);
}

/* A context of any type is one of @type from here on. */
static void filter_settle(struct filter_node *node, enum filter_type type)
{
	if (node->type == TYPE_ANY)
		node->type = type == TYPE_TEXT || type == TYPE_FLOAT ? type : TYPE_INTEGER;
}

static struct filter_node *filter_resolve_number(struct filter_compiler *c,
						 struct filter_node *node)
{
	node = filter_resolve_value(c, node);
	filter_settle(node, TYPE_INTEGER);
	if (node->type == TYPE_TEXT && node->kind == NODE_TEXT)
		filter_fail(c, node->column, "a text is no number");
	else if (node->type == TYPE_TEXT)
		filter_fail(c, node->column, "'%s' is text, and a number is needed here",
			    node->text);
	if (node->type == TYPE_LIST)
		filter_fail(c, node->column, "'%s' is an array; use %s[0] or len(%s)", node->text,
			    node->text, node->text);
	return node;
}

static struct filter_node *filter_to_float(struct filter_compiler *c, struct filter_node *node)
{
	struct filter_node *wide;

	if (node->type != TYPE_INTEGER)
		return node;
	wide = filter_node_new(c, NODE_TO_FLOAT, node->column);
	wide->type = TYPE_FLOAT;
	wide->left = node;
	if (node->kind == NODE_NUMBER) {
		wide->kind = NODE_NUMBER;
		wide->value = filter_bits_of((double)(int64_t)node->value);
	}
	return wide;
}

/* Both sides have one type afterwards. Return: it; TYPE_UNKNOWN: absent, or failed. */
static enum filter_type filter_unite(struct filter_compiler *c, struct filter_node *node)
{
	if (c->failed || node->left->type == TYPE_UNKNOWN || node->right->type == TYPE_UNKNOWN)
		return TYPE_UNKNOWN;
	if (node->left->type == TYPE_FLOAT || node->right->type == TYPE_FLOAT) {
		node->left = filter_to_float(c, node->left);
		node->right = filter_to_float(c, node->right);
	}
	return node->left->type;
}

/* --- operators */

static struct filter_node *filter_resolve_compute(struct filter_compiler *c,
						  struct filter_node *node)
{
	uint64_t value;

	node->left = filter_resolve_number(c, node->left);
	node->right = filter_resolve_number(c, node->right);
	node->type = filter_unite(c, node);
	if (node->type == TYPE_FLOAT) {
		if (node->op >= LTT_FILTER_MOD)
			filter_fail(c, node->column, "the operator needs integers, not floats");
		node->op |= LTT_FILTER_FLOAT;
	}
	if (c->failed || node->type == TYPE_UNKNOWN || !filter_is_constant(node->left) ||
	    !filter_is_constant(node->right))
		return node;
	if (!ltt_filter_compute(node->left->value, node->op, node->right->value, &value)) {
		if (c->mode & FILTER_STRICT)
			filter_fail(c, node->column,
				    "no result; a divisor is 0, or a shift not 0 to 63");
		return node;
	}
	node->kind = NODE_NUMBER;
	node->value = value;
	return node;
}

static bool filter_compare_constants(const struct filter_node *node)
{
	const struct filter_node *l = node->left, *r = node->right;
	bool is_float = l->type == TYPE_FLOAT;
	double x = is_float ? filter_double_of(l->value) : 0;
	double y = is_float ? filter_double_of(r->value) : 0;
	int64_t i = (int64_t)l->value, j = (int64_t)r->value;

	switch (node->op & ~(LTT_FILTER_NOT | LTT_FILTER_FLOAT)) {
	case LTT_FILTER_EQ:
		return is_float ? x == y : i == j;
	case LTT_FILTER_LT:
		return is_float ? x < y : i < j;
	case LTT_FILTER_LE:
		return is_float ? x <= y : i <= j;
	case LTT_FILTER_GT:
		return is_float ? x > y : i > j;
	default:
		return is_float ? x >= y : i >= j;
	}
}

/* Two texts: the order of their bytes is compared with 0. */
static bool filter_compare_literals(struct filter_node *node)
{
	if (node->op == LTT_FILTER_CONTAINS)
		return strstr(node->left->text, node->right->text);
	node->left->value = (uint64_t)(int64_t)strcmp(node->left->text, node->right->text);
	node->right->value = 0;
	return filter_compare_constants(node);
}

static struct filter_node *filter_fold_relation(struct filter_node *node)
{
	bool holds = node->left->kind == NODE_TEXT ? filter_compare_literals(node) :
						     filter_compare_constants(node);

	return filter_make_integer(node, holds != !!(node->op & LTT_FILTER_NOT));
}

/* 5 < x is x > 5. */
static void filter_mirror(struct filter_node *node)
{
	static const uint8_t mirrored[] = { LTT_FILTER_EQ, LTT_FILTER_GT, LTT_FILTER_GE,
					    LTT_FILTER_LT, LTT_FILTER_LE };
	struct filter_node *left = node->left;

	node->left = node->right;
	node->right = left;
	node->op = mirrored[node->op & 7] | (node->op & (LTT_FILTER_NOT | LTT_FILTER_FLOAT));
}

static struct filter_node *filter_relate_texts(struct filter_compiler *c, struct filter_node *node)
{
	bool is_part = node->op == LTT_FILTER_CONTAINS;

	if (node->left->kind == NODE_TEXT && node->right->kind != NODE_TEXT) {
		if (is_part) {
			filter_fail(c, node->column,
				    "the left side of =~ is a constant; use a field");
			return node;
		}
		filter_mirror(node);
	}
	if (node->right->has_star && (node->op & ~LTT_FILTER_NOT) != LTT_FILTER_EQ && !is_part)
		filter_fail(c, node->right->column, "a pattern has no order; use \\* for a star");
	if (node->left->kind != NODE_TEXT || c->failed)
		return node;
	if (node->left->has_star || node->right->has_star) {
		filter_fail(c, node->column, "a pattern needs a field on the other side");
		return node;
	}
	return filter_fold_relation(node);
}

static struct filter_node *filter_relate_numbers(struct filter_compiler *c,
						 struct filter_node *node)
{
	if (node->op == LTT_FILTER_CONTAINS) {
		filter_fail(c, node->column, "=~ needs texts, not numbers");
		return node;
	}
	if (node->left->kind == NODE_NUMBER && node->right->kind != NODE_NUMBER)
		filter_mirror(node);
	if (filter_unite(c, node) == TYPE_FLOAT)
		node->op |= LTT_FILTER_FLOAT;
	if (c->failed || node->left->kind != NODE_NUMBER || node->right->kind != NODE_NUMBER)
		return node;
	return filter_fold_relation(node);
}

/* --- labels */

static struct filter_node *filter_relation_with(struct filter_compiler *c, struct filter_node *left,
						uint8_t op, int64_t value, uint32_t column)
{
	struct filter_node *node = filter_node_new(c, NODE_RELATION, column);

	node->type = TYPE_INTEGER;
	node->op = op;
	node->left = left;
	node->right = filter_make_integer(filter_node_new(c, NODE_NUMBER, column), 0);
	node->right->value = (uint64_t)value;
	return node;
}

/* The field equals a label if it is in its range. */
static struct filter_node *filter_relate_label(struct filter_compiler *c, struct filter_node *node,
					       const struct layout_label *label)
{
	struct filter_node *field = node->left;
	uint8_t op = node->op & ~LTT_FILTER_NOT;
	struct filter_node *range, *inverse;

	if (label->first == label->last || op != LTT_FILTER_EQ)
		return filter_relation_with(
			c, field, node->op,
			op == LTT_FILTER_GT || op == LTT_FILTER_LE ? label->last : label->first,
			node->column);
	range = filter_node_new(c, NODE_AND, node->column);
	range->type = TYPE_INTEGER;
	range->left = filter_relation_with(c, field, LTT_FILTER_GE, label->first, node->column);
	range->right = filter_relation_with(c, field, LTT_FILTER_LE, label->last, node->column);
	if (!(node->op & LTT_FILTER_NOT))
		return range;
	inverse = filter_node_new(c, NODE_NOT, node->column);
	inverse->type = TYPE_INTEGER;
	inverse->left = range;
	return inverse;
}

/* Bits of a set that a label decides (trace/layout.h); of no bits, all: it is the value 0. */
static uint64_t filter_label_bits(const struct layout_field *field, uint64_t label)
{
	uint64_t bits = label & ~field->mask ? label : field->mask;

	return bits ? bits : ~(uint64_t)0;
}

/* The value, and the bits, of labels with bars between them. Return: false: one is none. */
static bool filter_find_labels(const struct layout_field *field, const char *text,
			       uint64_t *ret_value, uint64_t *ret_bits)
{
	*ret_value = *ret_bits = 0;
	for (size_t len; *text; text += len + (text[len] == '|')) {
		const struct layout_label *label = field->labels;
		uint32_t i = 0;

		len = strcspn(text, "|");
		while (i < field->nr_labels && (strncmp(label[i].text, text, len) != 0 ||
						label[i].text[len]))
			i++;
		if (i == field->nr_labels)
			return false;
		*ret_value |= (uint64_t)label[i].first;
		*ret_bits |= filter_label_bits(field, (uint64_t)label[i].first);
	}
	return *ret_bits;
}

/* A set equals labels if it has them; its order is that of its value. */
static struct filter_node *filter_relate_set(struct filter_compiler *c, struct filter_node *node,
					     uint64_t value, uint64_t bits)
{
	struct filter_node *number = filter_node_new(c, NODE_NUMBER, node->column);
	struct filter_node *left = node->left;

	if ((node->op & ~LTT_FILTER_NOT) == LTT_FILTER_EQ) {
		left = filter_node_new(c, NODE_COMPUTE, node->column);
		left->type = TYPE_INTEGER;
		left->op = LTT_FILTER_AND;
		left->left = node->left;
		left->right = filter_make_integer(number, bits);
	}
	return filter_relation_with(c, left, node->op, (int64_t)value, node->column);
}

static bool filter_is_enum(const struct filter_compiler *c, const struct filter_node *node)
{
	const struct layout_field *field = filter_field_of(c, node);

	return field && (field->kind == LTT_KIND_ENUM || field->nr_labels);
}

static bool filter_may_be_label(const struct filter_node *node)
{
	return node->type == TYPE_NAME || node->kind == NODE_TEXT;
}

/* Return: false if it is none. The field comes to the left side. */
static bool filter_is_label_relation(const struct filter_compiler *c, struct filter_node *node)
{
	if (node->op == LTT_FILTER_CONTAINS)
		return false;
	if (filter_is_enum(c, node->right) && filter_may_be_label(node->left))
		filter_mirror(node);
	return filter_is_enum(c, node->left) && filter_may_be_label(node->right);
}

static struct filter_node *filter_find_label(struct filter_compiler *c, struct filter_node *node)
{
	const struct layout_field *field = filter_field_of(c, node->left);
	uint64_t value, bits;

	if (field->is_set && filter_find_labels(field, node->right->text, &value, &bits))
		return filter_relate_set(c, node, value, bits);
	for (uint32_t i = 0; !field->is_set && i < field->nr_labels; i++)
		if (strcmp(field->labels[i].text, node->right->text) == 0)
			return filter_relate_label(c, node, &field->labels[i]);
	filter_no_label(c, node->right->column, node->right->text, field);
	return filter_unknown(node);
}

/* --- relations, whose sides are resolved */

static void filter_check_side(struct filter_compiler *c, struct filter_node *side)
{
	if (side->type == TYPE_NAME) {
		filter_no_field(c, side->column, side->text);
		side->type = TYPE_UNKNOWN;
	} else if (side->type == TYPE_LIST) {
		filter_fail(c, side->column, "'%s' is an array; use %s[0] or len(%s)", side->text,
			    side->text, side->text);
	}
}

static void filter_fail_mixed(struct filter_compiler *c, const struct filter_node *node)
{
	bool is_left = node->left->type == TYPE_TEXT;
	const struct filter_node *text = is_left ? node->left : node->right;
	const struct filter_node *number = is_left ? node->right : node->left;

	if (text->kind != NODE_TEXT)
		filter_fail(c, node->column, "'%s' is text, and the other side a number",
			    text->text);
	else if (number->text)
		filter_fail(c, node->column, "'%s' is a number, and the other side text",
			    number->text);
	else
		filter_fail(c, node->column, "one side is a number, and the other side text");
}

/* Without the type of one side, the other one may still be wrong. */
static void filter_check_constants(struct filter_compiler *c, const struct filter_node *node)
{
	const struct filter_node *text = node->left->kind == NODE_TEXT ? node->left : node->right;
	bool is_part = node->op == LTT_FILTER_CONTAINS;

	if (is_part && (node->left->kind == NODE_NUMBER || node->right->kind == NODE_NUMBER))
		filter_fail(c, node->column, "=~ needs texts, not numbers");
	else if (is_part && node->left->kind == NODE_TEXT)
		filter_fail(c, node->column, "the left side of =~ is a constant; use a field");
	else if (text->kind == NODE_TEXT && text->has_star && !is_part &&
		 (node->op & ~LTT_FILTER_NOT) != LTT_FILTER_EQ)
		filter_fail(c, text->column, "a pattern has no order; use \\* for a star");
}

static struct filter_node *filter_relate(struct filter_compiler *c, struct filter_node *node)
{
	node->type = TYPE_INTEGER;
	if (!c->failed && filter_is_label_relation(c, node))
		return filter_find_label(c, node);
	filter_check_side(c, node->left);
	filter_check_side(c, node->right);
	filter_settle(node->left, node->op == LTT_FILTER_CONTAINS ? TYPE_TEXT : node->right->type);
	filter_settle(node->right, node->left->type);
	if (node->left->type == TYPE_UNKNOWN || node->right->type == TYPE_UNKNOWN)
		filter_check_constants(c, node);
	if (c->failed || node->left->type == TYPE_UNKNOWN || node->right->type == TYPE_UNKNOWN)
		return filter_unknown(node);
	if (node->left->type == TYPE_TEXT && node->right->type == TYPE_TEXT)
		return filter_relate_texts(c, node);
	if (node->left->type == TYPE_TEXT || node->right->type == TYPE_TEXT) {
		filter_fail_mixed(c, node);
		return node;
	}
	return filter_relate_numbers(c, node);
}

static struct filter_node *filter_resolve_relation(struct filter_compiler *c,
						   struct filter_node *node)
{
	node->left = filter_resolve_any(c, node->left);
	node->right = filter_resolve_any(c, node->right);
	return filter_relate(c, node);
}

/* x in (1, 2) is x == 1 || x == 2. */
static struct filter_node *filter_resolve_in(struct filter_compiler *c, struct filter_node *node)
{
	struct filter_node *left = filter_resolve_any(c, node->left), *tree = NULL;
	struct filter_node *next, *equal, *both;

	for (struct filter_node *item = node->right; item && !c->failed; item = next) {
		next = item->item;
		equal = filter_node_new(c, NODE_RELATION, item->column);
		equal->left = left;
		equal->right = filter_resolve_any(c, item);
		equal->op = LTT_FILTER_EQ;
		equal = filter_relate(c, equal);
		if (!tree) {
			tree = equal;
			continue;
		}
		both = filter_node_new(c, NODE_OR, item->column);
		both->left = tree;
		both->right = equal;
		both->type = TYPE_INTEGER;
		tree = both;
	}
	return tree ? tree : node;
}

/* --- logic */

static bool filter_is_true(const struct filter_node *node)
{
	return node->type == TYPE_FLOAT ? filter_double_of(node->value) != 0 : node->value != 0;
}

static struct filter_node *filter_resolve_logic(struct filter_compiler *c, struct filter_node *node)
{
	bool is_or = node->kind == NODE_OR;

	node->left = filter_resolve_number(c, node->left);
	node->right = filter_resolve_number(c, node->right);
	node->type = TYPE_INTEGER;
	if (!c->failed && node->left->kind == NODE_NUMBER && filter_is_true(node->left) == is_or)
		return filter_make_integer(node, is_or);
	return node;
}

static struct filter_node *filter_resolve_not(struct filter_compiler *c, struct filter_node *node)
{
	node->left = filter_resolve_number(c, node->left);
	node->type = TYPE_INTEGER;
	if (node->left->kind == NODE_NUMBER)
		return filter_make_integer(node, !filter_is_true(node->left));
	return node;
}

/* --- parts of arrays and texts */

static struct filter_node *filter_resolve_length(struct filter_compiler *c,
						 struct filter_node *node)
{
	struct filter_node *left = node->left = filter_resolve_value(c, node->left);

	node->type = TYPE_INTEGER;
	filter_settle(left, TYPE_TEXT);
	if (left->type == TYPE_UNKNOWN)
		return filter_unknown(node);
	if (left->type != TYPE_TEXT && left->type != TYPE_LIST)
		filter_fail(c, node->column, "len() needs a text or an array");
	else if (left->kind == NODE_TEXT)
		return filter_make_integer(node, left->length);
	else if (left->type == TYPE_LIST && filter_field_of(c, left)->kind == LTT_KIND_ARRAY)
		return filter_make_integer(node, filter_field_of(c, left)->count);
	return node;
}

static struct filter_node *filter_index_list(struct filter_compiler *c, struct filter_node *node)
{
	const struct layout_field *f = filter_field_of(c, node->left);
	uint64_t index = node->right->value;

	node->field = node->left->field;
	node->text = xstrdup(node->left->text);
	node->type = f->flags & LTT_FIELD_FLOAT_ELEM ? TYPE_FLOAT : TYPE_INTEGER;
	node->kind = f->kind == LTT_KIND_ARRAY ? NODE_FIELD : NODE_ELEMENT;
	node->index = (uint32_t)index;
	if (index > UINT32_MAX || (f->kind == LTT_KIND_ARRAY && index >= f->count)) {
		filter_absent(c, node->column, "'%s' has no element %lld", f->name,
			      (long long)index);
		return filter_unknown(node);
	}
	return node;
}

static struct filter_node *filter_resolve_index(struct filter_compiler *c, struct filter_node *node)
{
	node->left = filter_resolve_value(c, node->left);
	node->right = filter_resolve_number(c, node->right);
	if (node->right->kind != NODE_NUMBER || node->right->type != TYPE_INTEGER)
		filter_fail(c, node->right->column, "an index is a constant integer");
	if (c->failed || node->left->type == TYPE_UNKNOWN)
		return filter_unknown(node);
	if (node->left->type != TYPE_LIST)
		filter_fail(c, node->column, "only arrays of numbers have elements");
	else
		return filter_index_list(c, node);
	return filter_unknown(node);
}

static struct filter_node *filter_resolve_leaf(struct filter_compiler *c, struct filter_node *node)
{
	(void)c;
	if (node->kind == NODE_TEXT)
		node->type = TYPE_TEXT;
	return node;
}

static struct filter_node *filter_resolve_any(struct filter_compiler *c, struct filter_node *node)
{
	static struct filter_node *(*const resolve[])(struct filter_compiler *,
						      struct filter_node *) = {
		[NODE_NUMBER] = filter_resolve_leaf,	   [NODE_TEXT] = filter_resolve_leaf,
		[NODE_NAME] = filter_resolve_name,	   [NODE_CONTEXT] = filter_resolve_context,
		[NODE_LENGTH] = filter_resolve_length,	   [NODE_COMPUTE] = filter_resolve_compute,
		[NODE_RELATION] = filter_resolve_relation, [NODE_IN] = filter_resolve_in,
		[NODE_INDEX] = filter_resolve_index,	   [NODE_AND] = filter_resolve_logic,
		[NODE_OR] = filter_resolve_logic,	   [NODE_NOT] = filter_resolve_not,
	};

	return c->failed ? node : resolve[node->kind](c, node);
}

struct filter_node *filter_resolve_key(struct filter_compiler *c, struct filter_node *node)
{
	node = filter_resolve_value(c, node);
	filter_settle(node, TYPE_TEXT);
	if (c->failed || node->type == TYPE_UNKNOWN)
		return node;
	if (node->kind != NODE_FIELD && node->kind != NODE_CONTEXT)
		filter_fail(c, node->column,
			    "sampling by a value needs the name of a field or context");
	else if (node->type != TYPE_INTEGER && node->type != TYPE_TEXT)
		filter_fail(c, node->column,
			    "'%s' is neither an integer nor text: events can't be sampled by it",
			    node->text);
	return node;
}

/* Each makes one instruction at least. */
static uint32_t filter_count_terms(const struct filter_node *node)
{
	if (node->kind == NODE_AND || node->kind == NODE_OR)
		return filter_count_terms(node->left) + filter_count_terms(node->right);
	if (node->kind == NODE_NOT)
		return filter_count_terms(node->left);
	return node->kind != NODE_NUMBER;
}

/* Of a program for some layout. Two instructions for each part of the expression: one of them finds
 * a field that follows a text. */
static size_t filter_estimate(const struct filter_compiler *c)
{
	size_t insns = ENDING_INSNS, text = 0;

	for (const struct filter_node *node = c->allocated; node; node = node->allocated) {
		insns += 2;
		text += node->kind == NODE_TEXT ? node->length + 2 : 0;
	}
	return sizeof(struct ltt_filter) +
	       MIN(insns, (size_t)LTT_FILTER_INSNS_MAX) * sizeof(struct ltt_filter_insn) +
	       MIN(text, (size_t)LTT_FILTER_TEXT_MAX);
}

struct filter_node *filter_resolve(struct filter_compiler *c, struct filter_node *node)
{
	node = filter_resolve_number(c, node);
	if (!c->failed && !c->layout && filter_count_terms(node) >= LTT_FILTER_INSNS_MAX)
		filter_fail(c, 1, "the expression is too large; divide it");
	if (!c->failed && c->result->status == FILTER_COMPILED && node->kind == NODE_NUMBER &&
	    !filter_is_true(node))
		filter_absent(c, node->column, "the expression never holds");
	if (!c->layout)
		c->result->bytes = filter_estimate(c);
	return node;
}
