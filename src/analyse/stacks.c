/* SPDX-License-Identifier: GPL-2.0-only */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

#define OTHERS "[others]"

struct stacks *stacks_new(uint32_t nodes_most)
{
	struct stacks *stacks = xalloc(sizeof(*stacks));

	stacks->nodes_most = nodes_most;
	idmap_init(&stacks->nodes_map);
	idmap_init(&stacks->frames_map);
	return stacks;
}

static void stacks_free_nodes(struct stacks_node *node)
{
	while (node) {
		struct stacks_node *last = node->first, *next;

		/* callees become the next ones: any depth is fine */
		while (last && last->next)
			last = last->next;
		if (last)
			last->next = node->next;
		next = last ? node->first : node->next;
		free(node);
		node = next;
	}
}

void stacks_free(struct stacks *stacks)
{
	struct stacks_frame *frame;

	if (!stacks)
		return;
	idmap_fini(&stacks->nodes_map);
	idmap_fini(&stacks->frames_map);
	stacks_free_nodes(stacks->root.first);
	while ((frame = stacks->frames)) {
		stacks->frames = frame->next;
		free(frame);
	}
	free(stacks);
}

/* --- frames -------------------------------------------------------------------------------- */

static bool stacks_is_frame(const struct stacks_frame *frame, const char *name, const char *file)
{
	if (strcmp(frame->name, name) != 0 || !frame->file != !file)
		return false;
	return !file || strcmp(frame->file, file) == 0;
}

static struct stacks_frame *stacks_new_frame(struct stacks *stacks, const char *name,
					     const char *file, uint64_t hash)
{
	size_t name_size = strlen(name) + 1, file_size = file ? strlen(file) + 1 : 0;
	struct stacks_frame *frame = xalloc(sizeof(*frame) + name_size + file_size);

	memcpy(frame->name, name, name_size);
	if (file)
		frame->file = memcpy(frame->name + name_size, file, file_size);
	frame->number = stacks->nr_frames++;
	frame->next = stacks->frames;
	stacks->frames = frame;
	stacks->text_bytes += sizeof(*frame) + name_size + file_size;
	idmap_add(&stacks->frames_map, &frame->node, hash);
	return frame;
}

const struct stacks_frame *stacks_frame(struct stacks *stacks, const char *name, const char *file,
					uint32_t line)
{
	uint64_t hash = idmap_hash_text(name) ^ (file ? 31 * idmap_hash_text(file) : 0);
	struct idmap_node *node = idmap_find(&stacks->frames_map, hash);
	struct stacks_frame *frame;

	for (; node; node = idmap_next(&stacks->frames_map, node)) {
		frame = container_of(node, struct stacks_frame, node);
		if (stacks_is_frame(frame, name, file))
			return frame;
	}
	if (stacks->others)
		return stacks->others;
	if (stacks->text_bytes + strlen(name) + (file ? strlen(file) : 0) > STACKS_TEXT_MOST)
		return stacks->others =
			       stacks_new_frame(stacks, OTHERS, NULL, idmap_hash_text(OTHERS));
	frame = stacks_new_frame(stacks, name, file, hash);
	frame->line = line;
	return frame;
}

/* --- nodes --------------------------------------------------------------------------------- */

/* Return: NULL: there is no room. */
static struct stacks_node *stacks_child(struct stacks *stacks, struct stacks_node *parent,
					const struct stacks_frame *frame)
{
	uint64_t hash =
		((uintptr_t)parent ^ (uintptr_t)frame * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	struct idmap_node *found = idmap_find(&stacks->nodes_map, hash);
	struct stacks_node *node;

	for (; found; found = idmap_next(&stacks->nodes_map, found)) {
		node = container_of(found, struct stacks_node, node);
		if (node->parent == parent && node->frame == frame)
			return node;
	}
	if (stacks->nr_nodes == stacks->nodes_most)
		return NULL;
	stacks->nr_nodes++;
	node = xalloc(sizeof(*node));
	node->parent = parent;
	node->frame = frame;
	node->depth = parent->depth + 1;
	node->next = parent->first;
	parent->first = node;
	stacks->deepest = MAX(stacks->deepest, node->depth);
	idmap_add(&stacks->nodes_map, &node->node, hash);
	return node;
}

/* No sum in the tree is larger than the root's. */
void stacks_add(struct stacks *stacks, const struct stacks_frame *const *frames, uint32_t nr,
		uint64_t value)
{
	struct stacks_node *node = &stacks->root;

	if (!nr || !value)
		return;
	stacks->nr_cut += nr > STACKS_DEPTH_MOST;
	for (uint32_t i = 0; node && i < nr && i < STACKS_DEPTH_MOST; i++)
		node = stacks_child(stacks, node, frames[i]);
	if (!node || value > UINT64_MAX - stacks->root.total) {
		stacks->nr_left_out++;
		if (__builtin_add_overflow(stacks->left_out, value, &stacks->left_out))
			stacks->left_out = UINT64_MAX;
		return;
	}
	node->self += value;
	for (; node; node = node->parent)
		node->total += value;
}

/* --- results ----------------------------------------------------------------------------- */

static int stacks_compare(const void *a, const void *b)
{
	const struct stacks_node *x = *(struct stacks_node *const *)a;
	const struct stacks_node *y = *(struct stacks_node *const *)b;
	int order = strcmp(x->frame->name, y->frame->name);

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return order ? order :
		       (x->frame->number > y->frame->number) -
			       (x->frame->number < y->frame->number);
}

static void stacks_sort_callees(struct stacks_node *parent, struct stacks_node **all)
{
	size_t nr = 0;

	for (struct stacks_node *node = parent->first; node; node = node->next)
		all[nr++] = node;
	if (nr < 2)
		return;
	qsort(all, nr, sizeof(*all), stacks_compare);
	parent->first = all[0];
	for (size_t i = 0; i < nr; i++)
		all[i]->next = i + 1 < nr ? all[i + 1] : NULL;
}

const struct stacks_node *stacks_next(const struct stacks *stacks, const struct stacks_node *node)
{
	node = node ? node : &stacks->root;
	if (node->first)
		return node->first;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

void stacks_sort(struct stacks *stacks)
{
	struct stacks_node **all AUTO_FREE = xalloc((stacks->nr_nodes + 1) * sizeof(*all));
	const struct stacks_node *node = NULL;

	stacks_sort_callees(&stacks->root, all);
	while ((node = stacks_next(stacks, node)))
		stacks_sort_callees((struct stacks_node *)node, all);
}

/* --- functions ----------------------------------------------------------------------------- */

static bool stacks_is_recursive(const struct stacks_node *node, uint32_t depth)
{
	const struct stacks_node *above = node->parent;

	while (above->depth >= depth && above->frame != node->frame)
		above = above->parent;
	return above->depth >= depth;
}

static int stacks_compare_functions(const void *a, const void *b)
{
	const struct stacks_function *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(x->frame->name, y->frame->name);
}

struct stacks_function *stacks_functions(const struct stacks *stacks, uint32_t depth,
					 size_t *ret_nr)
{
	struct stacks_function *all = xalloc((stacks->nr_frames + 1) * sizeof(*all));
	const struct stacks_node *node = NULL;
	size_t nr = 0;

	while ((node = stacks_next(stacks, node))) {
		struct stacks_function *function = &all[node->frame->number];

		if (node->depth < depth)
			continue;
		function->frame = node->frame;
		function->self += node->self;
		function->total += stacks_is_recursive(node, depth) ? 0 : node->total;
	}
	for (uint32_t i = 0; i < stacks->nr_frames; i++)
		if (all[i].frame)
			all[nr++] = all[i];
	qsort(all, nr, sizeof(*all), stacks_compare_functions);
	*ret_nr = nr;
	return all;
}
