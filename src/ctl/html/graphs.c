/* SPDX-License-Identifier: GPL-2.0-only */
#include "graphs.h"

#include <inttypes.h>

#include "analyse/flame.h"
#include "base/mem.h"
#include "text.h"

#define GRAPHS_NODES_MOST 10000u       /* of a kind */
#define GRAPHS_BYTES_MOST (300u << 10) /* likewise */

static uint32_t graphs_count(const struct stacks *stacks, uint64_t least)
{
	const struct stacks_node *node = NULL;
	uint32_t nr = 0;

	while ((node = stacks_next(stacks, node)))
		nr += node->total >= least;
	return nr;
}

/* @numbers: of the frames, in the order in which they are printed, from 1 on. */
static void graphs_print_frames(FILE *out, const struct stacks *stacks, uint64_t least,
				uint32_t *numbers)
{
	const struct stacks_node *node = NULL;
	uint32_t nr = 0;

	while ((node = stacks_next(stacks, node))) {
		uint32_t *number = &numbers[node->frame->number];

		if (node->total < least || *number)
			continue;
		fputs(nr ? "," : "", out);
		html_json(out, node->frame->name);
		*number = ++nr;
	}
}

static void graphs_print(FILE *out, const struct stacks *stacks, enum flame_kind kind,
			 uint64_t least)
{
	uint32_t *numbers AUTO_FREE = xalloc((stacks->nr_frames + 1) * sizeof(*numbers));
	const struct stacks_node *node = NULL;
	const char *comma = "";

	fprintf(out,
		"{\"of\":\"%s\",\"unit\":\"%s\",\"total\":%" PRIu64
		",\"left_out\":%u,\n\"frames\":[",
		flame_name(kind), flame_unit(kind), stacks->root.total,
		stacks->nr_nodes - graphs_count(stacks, least));
	graphs_print_frames(out, stacks, least, numbers);
	fputs("],\n\"nodes\":[", out);
	while ((node = stacks_next(stacks, node))) {
		if (node->total < least)
			continue;
		fprintf(out, "%s[%u,%u,%" PRIu64 ",%" PRIu64 "]", comma, node->depth,
			numbers[node->frame->number] - 1, node->total, node->self);
		comma = ",";
	}
	fputs("]}", out);
}

/* No callee is larger than its caller, so that any least value leaves a tree. */
static char *graphs_text_of(const struct stacks *stacks, enum flame_kind kind)
{
	for (uint64_t least = 1;; least = least > UINT64_MAX / 2 ? UINT64_MAX : 2 * least) {
		char *text = NULL;
		size_t len = 0;
		FILE *out;

		if (graphs_count(stacks, least) > GRAPHS_NODES_MOST && least < UINT64_MAX)
			continue;
		out = open_memstream(&text, &len);
		if (!out)
			return NULL;
		graphs_print(out, stacks, kind, least);
		fclose(out);
		if (len <= GRAPHS_BYTES_MOST || least == UINT64_MAX)
			return text;
		free(text);
	}
}

char *graphs_text(struct flame *flame)
{
	char *all = NULL, *text;
	size_t len = 0;
	FILE *out = open_memstream(&all, &len);
	const char *comma = "";

	if (!out)
		return NULL;
	putc('[', out);
	for (int kind = 0; kind < FLAME_NR; kind++) {
		struct stacks *stacks;

		if (!flame_has(flame, (enum flame_kind)kind))
			continue;
		stacks = flame_stacks(flame, (enum flame_kind)kind);
		text = graphs_text_of(stacks, (enum flame_kind)kind);
		fprintf(out, "%s%s", comma, text ? text : "{}");
		comma = ",\n";
		free(text);
		stacks_free(stacks);
	}
	putc(']', out);
	fclose(out);
	return all;
}
