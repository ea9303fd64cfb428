/* SPDX-License-Identifier: GPL-2.0-only */
/* Random stacks have the totals of all stacks that begin like them; the limits are counted. */
#include <stdlib.h>
#include <string.h>

#include "analyse/stacks.h"
#include "check.h"

#define STACKS 5000
#define DEPTH 6
#define NAMES 4

struct one {
	uint32_t nr;
	uint64_t value;
	const struct stacks_frame *frames[DEPTH];
};

static struct one all[STACKS];

static void make_one(struct stacks *stacks, struct one *one)
{
	one->nr = (uint32_t)random() % DEPTH + 1;
	one->value = (uint64_t)random() % 1000;
	for (uint32_t i = 0; i < one->nr; i++) {
		const char name[] = { (char)('a' + random() % NAMES), '\0' };

		one->frames[i] = stacks_frame(stacks, name, i % 2 ? "odd.c" : NULL, i);
	}
	stacks_add(stacks, one->frames, one->nr, one->value);
}

static bool one_begins_so(const struct one *one, const struct stacks_node *node)
{
	if (one->nr < node->depth)
		return false;
	for (; node->frame; node = node->parent)
		if (one->frames[node->depth - 1] != node->frame)
			return false;
	return true;
}

static void check_node(const struct stacks_node *node)
{
	uint64_t self = 0, total = 0;

	for (size_t i = 0; i < STACKS; i++) {
		if (!one_begins_so(&all[i], node))
			continue;
		total += all[i].value;
		self += all[i].nr == node->depth ? all[i].value : 0;
	}
	CHECK_IS(self, ==, node->self);
	CHECK_IS(total, ==, node->total);
	if (node->next)
		CHECK(node->next->total <= node->total);
}

static void check_random(void)
{
	struct stacks *stacks = stacks_new(STACKS_NODES_MOST);
	const struct stacks_node *node = NULL, *before = &stacks->root;
	uint32_t nr = 0;

	for (size_t i = 0; i < STACKS; i++)
		make_one(stacks, &all[i]);
	stacks_sort(stacks);
	for (; (node = stacks_next(stacks, node)); nr++, before = node) {
		CHECK(node->depth <= before->depth + 1);
		check_node(node);
	}
	check_node(&stacks->root);
	CHECK_IS(nr, ==, stacks->nr_nodes);
	CHECK_IS(stacks->nr_frames, ==, 2 * NAMES);
	CHECK_IS(stacks->deepest, ==, DEPTH);
	CHECK(!stacks->nr_left_out && !stacks->nr_cut);
	stacks_free(stacks);
}

static void check_limits(void)
{
	struct stacks *stacks = stacks_new(STACKS_DEPTH_MOST);
	const struct stacks_frame *a = stacks_frame(stacks, "a", NULL, 0);
	const struct stacks_frame *deep[STACKS_DEPTH_MOST + 1];

	CHECK(!stacks_next(stacks, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = a;
	stacks_add(stacks, deep, ARRAY_SIZE(deep), 5);
	CHECK_IS(stacks->nr_cut, ==, 1);
	CHECK_IS(stacks->deepest, ==, STACKS_DEPTH_MOST);
	deep[1] = stacks_frame(stacks, "b", NULL, 0);
	stacks_add(stacks, deep, 2, 7); /* no room for it */
	CHECK_IS(stacks->nr_left_out, ==, 1);
	CHECK_IS(stacks->left_out, ==, 7);
	stacks_add(stacks, deep, 1, UINT64_MAX); /* too large a sum */
	CHECK_IS(stacks->nr_left_out, ==, 2);
	CHECK_IS(stacks->left_out, ==, UINT64_MAX);
	CHECK_IS(stacks->root.total, ==, 5);
	stacks_free(stacks);
}

static void check_text(void)
{
	struct stacks *stacks = stacks_new(8);
	char *name = malloc(STACKS_TEXT_MOST / 4);
	const struct stacks_frame *last = NULL;

	memset(name, 'x', STACKS_TEXT_MOST / 4 - 1);
	name[STACKS_TEXT_MOST / 4 - 1] = '\0';
	for (char c = 'a'; c < 'k'; c++) {
		*name = c;
		last = stacks_frame(stacks, name, NULL, 0);
	}
	CHECK(last && last == stacks->others);
	CHECK_IS(stacks->nr_frames, ==, 4);
	stacks_free(stacks);
	free(name);
}

int main(void)
{
	check_random();
	check_limits();
	check_text();
	return 0;
}
