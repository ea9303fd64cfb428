/* SPDX-License-Identifier: GPL-2.0-only */
#include "longest.h"

#include <stdlib.h>

#include "base/mem.h"

struct longest_line {
	int64_t ns;
	uint64_t number; /* in the order of time */
	size_t len;
	char *text;
};

/**
 * struct longest
 * @floor_ns: the shortest of @most lines; a line has to be longer. Before there are @most: -1.
 * @taken: lines so far, with those that were dropped.
 */
struct longest {
	uint64_t most;
	int64_t floor_ns;
	uint64_t taken;
	struct longest_line *lines;
	size_t nr, size;
};

struct longest *longest_new(uint64_t most)
{
	struct longest *longest = xalloc(sizeof(*longest));

	longest->most = most;
	longest->floor_ns = -1;
	return longest;
}

/* Keep the first @nr lines. */
static void longest_cut(struct longest *longest, size_t nr)
{
	while (longest->nr > nr)
		free(longest->lines[--longest->nr].text);
}

void longest_free(struct longest *longest)
{
	longest_cut(longest, 0);
	free(longest->lines);
	free(longest);
}

static int longest_compare(const void *a, const void *b)
{
	const struct longest_line *one = a, *other = b;

	if (one->ns != other->ns)
		return one->ns > other->ns ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

/* Once for each @most lines. */
static void longest_sort(struct longest *longest)
{
	if (longest->nr)
		qsort(longest->lines, longest->nr, sizeof(*longest->lines), longest_compare);
	if (longest->nr < longest->most)
		return;
	longest_cut(longest, longest->most);
	longest->floor_ns = longest->lines[longest->nr - 1].ns;
}

bool longest_wants(const struct longest *longest, int64_t ns)
{
	return ns > longest->floor_ns;
}

void longest_take(struct longest *longest, int64_t ns, struct pen *line)
{
	struct longest_line *to;

	if (longest->nr == longest->size) {
		longest->size = longest->size ? 2 * longest->size : 16;
		longest->lines = xrealloc(longest->lines, longest->size * sizeof(*to));
	}
	to = &longest->lines[longest->nr++];
	*to = (struct longest_line){ ns, longest->taken++, line->used, xalloc(line->used) };
	memcpy(to->text, line->buf, line->used);
	line->used = 0;
	if (longest->nr / 2 >= longest->most)
		longest_sort(longest);
}

void longest_write(struct longest *longest, struct pen *pen)
{
	longest_sort(longest);
	for (size_t i = 0; i < longest->nr; i++)
		pen_bytes(pen, longest->lines[i].text, longest->lines[i].len);
}
