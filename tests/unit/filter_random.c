/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A million random expressions of event filters (10000 in the gate), each on a random payload: the
 * compiled program decides as an interpreter that walks the tree, on values that it knows by name.
 */
#include <stdlib.h>

#include "lib/filter_event.h"

#ifdef __SANITIZE_ADDRESS__
#define EXPRESSIONS 200000u
#else
#define EXPRESSIONS 1000000u
#endif
#define SHORT_RUN 10000u /* with LTT_TEST_SHORT */
#define INTEGERS 6u
#define OWN_TEXTS 3u /* the others are contexts */
#define TEXTS 5u
#define NODES 64u

enum kind {
	NUMBER,
	FLOATING,
	FIELD_INT,
	FIELD_FLOAT,
	FIELD_ITEM,
	CONTEXT_INT,
	CONTEXT_FLOAT,
	CONTEXT_ABSENT,
	LENGTH,
	NR_LEAVES,
	COMPUTE,
	UNARY,
	RELATION,
	TEXTS_RELATION,
	TEXT_CONSTANT,
	TEXT_PATTERN,
	AND,
	OR,
	NOT,
	IN
};

struct tree {
	enum kind kind;
	bool is_float;
	int op;
	uint32_t which, other;
	int64_t integer;
	double number;
	struct tree *left, *right;
};

struct value {
	bool is_float;
	int64_t integer;
	double number;
};

static const char *const names[] = { "i0", "i1", "i2", "i3", "i4", "i5" };
static const char *const text_names[] = { "s0", "s1", "t0", "$ctx.procname", "$app.shop:user" };
static const char *const words[] = { "", "a", "ab", "abc", "b", "abab" };
static const char *const patterns[] = { "*", "a*", "*b", "*a*", "a*b", "*b*a*b", "ab*", "**c" };
static const char *const operators[] = { "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>" };
/* A higher one binds tighter. */
static const uint32_t levels[] = { 9, 9, 10, 10, 10, 7, 5, 6, 8, 8 };
#define LEVEL_OR 1u
#define LEVEL_AND 2u
#define LEVEL_COMPUTE 5u /* the least of an operator that is no relation */
#define LEVEL_UNARY 11u
#define WHOLE 4u /* operators from here on need integers */
static const char unaries[] = "-+~!";
static const char *const relations[] = { "==", "<", "<=", ">", ">=", "!=", "=~" };

static struct filter_event event;
static int64_t integers[INTEGERS], items[4];
static uint32_t nr_items;
static double floating;
static const char *texts[TEXTS] = { [3] = "nginx", [4] = "ann" }; /* see filter_event.c */

static struct tree nodes[NODES];
static uint32_t nr_nodes;
static char expression[FILTER_MAX_BYTES];
static size_t written;
static bool failed; /* a value could not be computed */

static uint64_t dice = 88172645463325252ull;

static uint32_t roll(uint32_t sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (uint32_t)(dice >> 11) % sides;
}

/* --- the payload */

static void make_layout(void)
{
	event.layout = layout_new(16, 1, 128);
#define INT(n, bits, f)                          \
	layout_add_field(event.layout,           \
			 &(struct layout_field){ \
				 .name = n, .kind = LTT_KIND_INT, .size_bits = bits, .flags = f })
	CHECK(INT("i0", 8, 0) && INT("i1", 16, LTT_FIELD_SIGNED) && INT("i2", 64, 0));
	CHECK(layout_add_field(event.layout,
			       &(struct layout_field){ .name = "s0", .kind = LTT_KIND_STRING }));
	CHECK(INT("i3", 32, LTT_FIELD_SIGNED | LTT_FIELD_BIG_ENDIAN));
	CHECK(layout_add_field(event.layout, &(struct layout_field){ .name = "f0",
								     .kind = LTT_KIND_FLOAT,
								     .size_bits = 64 }));
	CHECK(layout_add_field(event.layout, &(struct layout_field){ .name = "q0",
								     .kind = LTT_KIND_SEQUENCE,
								     .size_bits = 32,
								     .length_bits = 8,
								     .flags = LTT_FIELD_SIGNED }));
	CHECK(INT("i4", 16, 0));
	CHECK(layout_add_field(event.layout,
			       &(struct layout_field){ .name = "s1", .kind = LTT_KIND_STRING }));
	CHECK(layout_add_field(event.layout, &(struct layout_field){ .name = "t0",
								     .kind = LTT_KIND_SEQUENCE,
								     .size_bits = 8,
								     .length_bits = 16,
								     .flags = LTT_FIELD_TEXT }));
	CHECK(INT("i5", 64, LTT_FIELD_SIGNED | LTT_FIELD_NOWRITE));
}

static void put(const void *bytes, size_t length)
{
	memcpy(event.bytes + event.length, bytes, length);
	event.length += length;
}

static void put_integer(uint32_t which, int64_t value, size_t bytes)
{
	integers[which] = value;
	put(&value, bytes);
}

static void put_text(uint32_t which, bool ended)
{
	texts[which] = words[roll(ARRAY_SIZE(words))];
	if (!ended)
		put(&(uint16_t){ (uint16_t)strlen(texts[which]) }, 2);
	put(texts[which], strlen(texts[which]) + ended);
}

static void put_items(void)
{
	nr_items = roll(4);
	put(&(uint8_t){ (uint8_t)nr_items }, 1);
	for (uint32_t i = 0; i < nr_items; i++) {
		int32_t item = (int32_t)roll(7) - 3;

		items[i] = item;
		put(&item, sizeof(item));
	}
}

static void make_payload(void)
{
	uint32_t swapped;

	event.length = 0;
	put_integer(0, roll(2) ? roll(6) : roll(256), 1);
	put_integer(1, (int64_t)roll(9) - 4, 2);
	put_integer(2, roll(8) ? roll(100) : (int64_t)(dice << 1), 8);
	put_text(0, true);
	integers[3] = roll(2) ? (int64_t)roll(9) - 4 : (int32_t)dice;
	swapped = __builtin_bswap32((uint32_t)integers[3]);
	put(&swapped, sizeof(swapped));
	floating = (double)roll(9) / 2 - 2;
	put(&floating, sizeof(floating));
	put_items();
	put_integer(4, roll(70), 2);
	put_text(1, true);
	put_text(2, false);
	put_integer(5, roll(8) ? (int64_t)roll(9) - 4 : INT64_MIN, 8);
}

/* --- the tree, and its expression */

static struct tree *make_condition(uint32_t depth, uint32_t level);

static struct tree *new_node(enum kind kind)
{
	CHECK_IS(nr_nodes, <, NODES);
	nodes[nr_nodes] = (struct tree){ .kind = kind };
	return &nodes[nr_nodes++];
}

#define SAY(...)    \
	(written += \
	 (size_t)snprintf(expression + written, sizeof(expression) - written, __VA_ARGS__))

/* @whole: an integer. */
static struct tree *make_leaf(bool whole)
{
	struct tree *tree = new_node((enum kind)roll(NR_LEAVES));

	if (tree->kind == CONTEXT_ABSENT && roll(8))
		tree->kind = CONTEXT_INT;
	if (whole &&
	    (tree->kind == FLOATING || tree->kind == FIELD_FLOAT || tree->kind == CONTEXT_FLOAT))
		tree->kind = FIELD_INT;
	tree->which = roll(tree->kind == LENGTH	    ? TEXTS + 1 :
			   tree->kind == FIELD_ITEM ? 4 :
						      INTEGERS);
	tree->is_float =
		tree->kind == FLOATING || tree->kind == FIELD_FLOAT || tree->kind == CONTEXT_FLOAT;
	tree->integer = roll(4) ? (int64_t)roll(9) - 3 : (int64_t)roll(70);
	tree->number = (double)roll(9) / 2;
	if (tree->kind == NUMBER)
		SAY("%lld", (long long)tree->integer);
	else if (tree->kind == FLOATING)
		SAY("%.2f", tree->number);
	else if (tree->kind == FIELD_INT)
		SAY("%s", names[tree->which]);
	else if (tree->kind == FIELD_FLOAT)
		SAY("f0");
	else if (tree->kind == FIELD_ITEM)
		SAY("q0[%u]", tree->which);
	else if (tree->kind == CONTEXT_INT)
		SAY("$ctx.vpid");
	else if (tree->kind == CONTEXT_FLOAT)
		SAY("$ctx.load");
	else if (tree->kind == CONTEXT_ABSENT)
		SAY("$app.shop:absent");
	else
		SAY("len(%s)", tree->which < TEXTS ? text_names[tree->which] : "q0");
	return tree;
}

static struct tree *make_number(uint32_t depth, uint32_t level, bool whole);

/* ~ needs an integer; ! makes one. */
static struct tree *make_unary(uint32_t depth, bool whole)
{
	struct tree *tree = new_node(UNARY);

	tree->op = (int)roll(4);
	SAY("%c ", unaries[tree->op]);
	tree->left = make_number(depth - 1, LEVEL_UNARY, whole || tree->op == 2);
	tree->is_float = tree->left->is_float && tree->op < 2;
	return tree;
}

/* Parentheses are there if the operators demand them, and sometimes if not. */
static struct tree *make_compute(uint32_t depth, uint32_t level, bool whole)
{
	struct tree *tree = new_node(COMPUTE);
	bool grouped;

	tree->op = (int)roll(ARRAY_SIZE(operators));
	whole = whole || (uint32_t)tree->op >= WHOLE;
	grouped = levels[tree->op] < level || roll(4) == 0;
	SAY("%s", grouped ? "(" : "");
	tree->left = make_number(depth - 1, levels[tree->op], whole);
	SAY(" %s ", operators[tree->op]);
	tree->right = make_number(depth - 1, levels[tree->op] + 1, whole);
	SAY("%s", grouped ? ")" : "");
	tree->is_float = tree->left->is_float || tree->right->is_float;
	return tree;
}

static struct tree *make_number(uint32_t depth, uint32_t level, bool whole)
{
	struct tree *tree;

	if (depth == 0 || nr_nodes > NODES / 2 || roll(3) == 0)
		return make_leaf(whole);
	if (roll(8) == 0) {
		SAY("(");
		tree = make_condition(depth - 1, LEVEL_OR);
		SAY(")");
		return tree;
	}
	return roll(5) ? make_compute(depth, level, whole) : make_unary(depth, whole);
}

static struct tree *make_relation(uint32_t depth)
{
	struct tree *tree = new_node(RELATION);

	tree->op = (int)roll(6);
	tree->left = make_number(depth, LEVEL_COMPUTE, false);
	SAY(" %s ", relations[tree->op]);
	tree->right = make_number(depth, LEVEL_COMPUTE, false);
	return tree;
}

static struct tree *make_text_relation(void)
{
	static const enum kind kinds[] = { TEXT_CONSTANT, TEXTS_RELATION, TEXT_PATTERN };
	struct tree *tree = new_node(kinds[roll(3)]);

	tree->op = (int)roll(7);
	tree->which = roll(TEXTS);
	if (tree->kind == TEXT_PATTERN)
		tree->op = roll(2) ? 0 : 5;
	tree->other = roll(tree->kind == TEXTS_RELATION ? TEXTS :
			   tree->kind == TEXT_CONSTANT	? ARRAY_SIZE(words) :
							  ARRAY_SIZE(patterns));
	SAY("%s %s ", text_names[tree->which], relations[tree->op]);
	if (tree->kind == TEXTS_RELATION)
		SAY("%s", text_names[tree->other]);
	else
		SAY("\"%s\"",
		    tree->kind == TEXT_CONSTANT ? words[tree->other] : patterns[tree->other]);
	return tree;
}

static struct tree *make_in(void)
{
	struct tree *tree = new_node(IN);

	tree->left = make_leaf(false);
	SAY(" in (");
	tree->right = make_leaf(false);
	SAY(", %u)", tree->other = roll(5));
	return tree;
}

static struct tree *make_not(uint32_t depth)
{
	struct tree *tree = new_node(NOT);

	SAY("!(");
	tree->left = make_condition(depth - 1, LEVEL_OR);
	SAY(")");
	return tree;
}

static struct tree *make_logic(uint32_t depth, uint32_t level)
{
	struct tree *tree = new_node(roll(2) ? AND : OR);
	uint32_t own = tree->kind == AND ? LEVEL_AND : LEVEL_OR;
	bool grouped = own < level || roll(4) == 0;

	SAY("%s", grouped ? "(" : "");
	tree->left = make_condition(depth - 1, own);
	SAY(tree->kind == AND ? " && " : " || ");
	tree->right = make_condition(depth - 1, own + 1);
	SAY("%s", grouped ? ")" : "");
	return tree;
}

static struct tree *make_condition(uint32_t depth, uint32_t level)
{
	uint32_t kind = roll(10);

	if (depth > 0 && nr_nodes < NODES / 2 && kind < 5)
		return kind ? make_logic(depth, level) : make_not(depth);
	if (kind < 7)
		return make_relation(depth > 1 ? depth - 1 : depth);
	return kind < 9 ? make_text_relation() : make_in();
}

/* --- the other interpreter */

static struct value walk(const struct tree *tree);

static struct value integer_of(int64_t integer)
{
	return (struct value){ .integer = integer, .number = (double)integer };
}

static struct value float_of(double number)
{
	return (struct value){ .is_float = true, .number = number };
}

static struct value walk_floats(int op, double l, double r)
{
	return float_of(op == 0 ? l + r : op == 1 ? l - r : op == 2 ? l * r : l / r);
}

static struct value walk_division(bool rest, int64_t l, int64_t r)
{
	failed = failed || r == 0;
	if (r == 0 || r == -1)
		return integer_of(rest ? 0 : (int64_t)(0 - (uint64_t)l));
	return integer_of(rest ? l % r : l / r);
}

static struct value walk_integers(int op, int64_t l, int64_t r)
{
	uint64_t x = (uint64_t)l, y = (uint64_t)r;

	if (op == 3 || op == 4)
		return walk_division(op == 4, l, r);
	if (op >= 8 && y > 63) {
		failed = true;
		return integer_of(0);
	}
	return integer_of((int64_t)(op == 0 ? x + y :
				    op == 1 ? x - y :
				    op == 2 ? x * y :
				    op == 5 ? x & y :
				    op == 6 ? x | y :
				    op == 7 ? x ^ y :
				    op == 8 ? x << y :
					      x >> y));
}

static bool walk_order(int op, bool less, bool equal, bool greater)
{
	return op == 0 ? equal :
	       op == 1 ? less :
	       op == 2 ? less || equal :
	       op == 3 ? greater :
	       op == 4 ? greater || equal :
			 !equal;
}

static bool walk_compare(int op, struct value l, struct value r)
{
	if (l.is_float || r.is_float)
		return walk_order(op, l.number<r.number, l.number == r.number, l.number> r.number);
	return walk_order(op, l.integer<r.integer, l.integer == r.integer, l.integer> r.integer);
}

static bool walk_texts(int op, const char *l, const char *r)
{
	int order = strcmp(l, r);

	return op == 6 ? strstr(l, r) != NULL : walk_order(op, order<0, order == 0, order> 0);
}

static bool walk_matches(const char *text, const char *pattern)
{
	if (*pattern == '*')
		return walk_matches(text, pattern + 1) ||
		       (*text && walk_matches(text + 1, pattern));
	return *text == *pattern && (!*text || walk_matches(text + 1, pattern + 1));
}

static struct value walk_item(uint32_t which)
{
	failed = failed || which >= nr_items;
	return integer_of(which < nr_items ? items[which] : 0);
}

static bool walk_truth(const struct tree *tree)
{
	struct value value = walk(tree);

	return value.is_float ? value.number != 0 : value.integer != 0;
}

static bool walk_in(const struct tree *tree)
{
	struct value left = walk(tree->left);

	if (failed || walk_compare(0, left, walk(tree->right)))
		return !failed;
	return walk_compare(0, left, integer_of(tree->other));
}

static struct value walk_compute(const struct tree *tree)
{
	struct value l = walk(tree->left), r = walk(tree->right);

	if (tree->is_float)
		return walk_floats(tree->op, l.number, r.number);
	return walk_integers(tree->op, l.integer, r.integer);
}

static struct value walk_unary(const struct tree *tree)
{
	struct value value = walk(tree->left);

	if (unaries[tree->op] == '!')
		return integer_of(value.is_float ? value.number == 0 : value.integer == 0);
	if (value.is_float)
		return float_of(unaries[tree->op] == '-' ? -value.number : value.number);
	return integer_of(unaries[tree->op] == '-' ? (int64_t)(0 - (uint64_t)value.integer) :
			  unaries[tree->op] == '~' ? ~value.integer :
						     value.integer);
}

static struct value walk(const struct tree *tree)
{
	switch (failed ? NUMBER : tree->kind) {
	case FLOATING:
		return float_of(tree->number);
	case FIELD_INT:
		return integer_of(integers[tree->which]);
	case FIELD_FLOAT:
		return float_of(floating);
	case FIELD_ITEM:
		return walk_item(tree->which);
	case CONTEXT_INT:
		return integer_of(filter_event_values[0].integer);
	case CONTEXT_FLOAT:
		return float_of(filter_event_values[2].number);
	case CONTEXT_ABSENT:
		failed = true;
		return integer_of(0);
	case LENGTH:
		return integer_of(tree->which < TEXTS ? (int64_t)strlen(texts[tree->which]) :
							nr_items);
	case COMPUTE:
		return walk_compute(tree);
	case UNARY:
		return walk_unary(tree);
	case RELATION:
		return integer_of(walk_compare(tree->op, walk(tree->left), walk(tree->right)));
	case TEXTS_RELATION:
		return integer_of(walk_texts(tree->op, texts[tree->which], texts[tree->other]));
	case TEXT_CONSTANT:
		return integer_of(walk_texts(tree->op, texts[tree->which], words[tree->other]));
	case TEXT_PATTERN:
		return integer_of(walk_matches(texts[tree->which], patterns[tree->other]) ==
				  (tree->op == 0));
	case AND:
		return integer_of(walk_truth(tree->left) && walk_truth(tree->right));
	case OR:
		return integer_of(walk_truth(tree->left) || walk_truth(tree->right));
	case NOT:
		return integer_of(!walk_truth(tree->left));
	case IN:
		return integer_of(walk_in(tree));
	default:
		return integer_of(tree->integer);
	}
}

/* Return: whether the expression was compiled to a program. */
static bool try_one(uint32_t *nr_accepted)
{
	struct filter_result r;
	const struct tree *tree;
	bool expected, accepted = false, compiled;

	nr_nodes = 0;
	written = 0;
	make_payload();
	tree = make_condition(1 + roll(4), LEVEL_OR);
	failed = false;
	expected = walk_truth(tree);
	expected = expected && !failed;
	compiled = filter_event_compile(&event, expression, FILTER_LENIENT, &r) == FILTER_COMPILED;
	if (compiled)
		accepted = filter_event_run(&r, event.bytes, event.length);
	if (accepted != expected || r.status == FILTER_INVALID)
		fprintf(stderr, "%s\nstatus %d %s: %d, not %d\n", expression, r.status, r.text,
			accepted, expected);
	CHECK(r.status != FILTER_INVALID && accepted == expected);
	*nr_accepted += accepted;
	filter_result_fini(&r);
	return compiled;
}

int main(void)
{
	uint32_t nr = check_short() > 1 ? SHORT_RUN : EXPRESSIONS;
	uint32_t nr_compiled = 0, nr_accepted = 0;

	make_layout();
	for (uint32_t i = 0; i < nr; i++)
		nr_compiled += try_one(&nr_accepted);
	layout_free(event.layout);
	CHECK_IS(nr_compiled, >, nr / 10 * 8);
	CHECK(nr_accepted > nr / 5 && nr_accepted < nr / 10 * 8);
	return 0;
}
