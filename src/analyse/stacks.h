/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - call stacks with a value each, merged to one tree: for flame graphs, folded stacks and
 * speedscope. Owned by one reader. Its memory is bounded, as the trace may be damaged.
 *
 * 	stacks = stacks_new(STACKS_NODES_MOST);
 * 	frame[i] = stacks_frame(stacks, "main", "main.c", 3);
 * 	stacks_add(stacks, frame, nr, ns);
 * 	stacks_sort(stacks);
 * 	for (node = NULL; (node = stacks_next(stacks, node));)
 * 		...
 */
#ifndef ANALYSE_STACKS_H
#define ANALYSE_STACKS_H

#include "base/idmap.h"

#define STACKS_NODES_MOST (1u << 20)
#define STACKS_DEPTH_MOST 512u
#define STACKS_TEXT_MOST (64u << 20) /* bytes of all names and files */

/** struct stacks_frame - a function; one for all calls. @number: from 0 on, in the order in which
 *  they were made. @file: NULL: unknown. @line: in it, of the first call. */
struct stacks_frame {
	struct idmap_node node;
	struct stacks_frame *next;
	uint32_t number, line;
	const char *file;
	char name[];
};

/** struct stacks_node - a function as called by those above it. @frame: NULL: the root. @self: the
 *  value of stacks that end here; @total: and of those that go on. @depth: of the root: 0. */
struct stacks_node {
	struct idmap_node node;
	struct stacks_node *parent, *first, *next;
	const struct stacks_frame *frame;
	uint64_t self, total;
	uint32_t depth;
};

/**
 * struct stacks - @root: its total is that of all.
 * @left_out: the value of stacks for which there was no room; @nr_left_out: their number.
 * @nr_cut: stacks that are deeper than STACKS_DEPTH_MOST: their innermost frames are missing.
 * @deepest: depth of a node. @others: the frame for names beyond STACKS_TEXT_MOST; or NULL.
 */
struct stacks {
	struct stacks_node root;
	struct stacks_frame *frames;
	struct stacks_frame *others;
	uint64_t left_out, nr_left_out, nr_cut;
	uint32_t nr_nodes, nodes_most, nr_frames, deepest;
	/* of stacks.c */
	size_t text_bytes;
	struct idmap nodes_map, frames_map;
};

/** @nodes_most: without the root. */
struct stacks *stacks_new(uint32_t nodes_most);
void stacks_free(struct stacks *stacks);

/** The frame of a function; it lives as long as the stacks. @file: or NULL. */
const struct stacks_frame *stacks_frame(struct stacks *stacks, const char *name, const char *file,
					uint32_t line);
/** stacks_add() - add @value to the stack of @nr frames, the outermost one first. */
void stacks_add(struct stacks *stacks, const struct stacks_frame *const *frames, uint32_t nr,
		uint64_t value);
/** After the last one: the callees of each function by their totals, the largest first, then by
 *  their names. */
void stacks_sort(struct stacks *stacks);
/** struct stacks_function - a function in all stacks. @total: of the stacks that it is in. */
struct stacks_function {
	const struct stacks_frame *frame;
	uint64_t self, total;
};

/** stacks_functions() - those at @depth and below, the largest @self first. Allocated. */
struct stacks_function *stacks_functions(const struct stacks *stacks, uint32_t depth,
					 size_t *ret_nr);
/** stacks_next() - the next node: callees come behind their caller. @node: NULL: the first one.
 *  Return: NULL: there are no more. */
const struct stacks_node *stacks_next(const struct stacks *stacks, const struct stacks_node *node);

#endif
