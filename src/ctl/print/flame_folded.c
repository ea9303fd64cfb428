/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <string.h>

#include "analyse/stacks.h"
#include "base/escape.h"
#include "flame.h"

/* A semicolon separates names. */
static void flame_folded_name(FILE *out, const char *name)
{
	size_t left = strlen(name), len;

	for (; left; name += len, left -= len) {
		uint32_t c = 0;

		len = escape_decode((const uint8_t *)name, left, &c);
		if (!len || escape_is_harmful(c) || c == ';')
			fputc(c == ';' ? ':' : '?', out);
		else
			fwrite(name, 1, len, out);
		len = len ? len : 1;
	}
}

uint64_t flame_folded(FILE *out, const struct stacks *stacks)
{
	const struct stacks_node *path[STACKS_DEPTH_MOST + 1], *node = NULL;
	uint64_t nr = 0;

	while ((node = stacks_next(stacks, node))) {
		path[node->depth] = node;
		if (!node->self)
			continue;
		for (uint32_t i = 1; i <= node->depth; i++) {
			fputs(i > 1 ? ";" : "", out);
			flame_folded_name(out, path[i]->frame->name);
		}
		fprintf(out, " %" PRIu64 "\n", node->self);
		nr++;
	}
	return nr;
}
