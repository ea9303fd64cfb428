/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as names of frames: the picture is well-formed XML, of characters that XML allows, with
 * a frame for each that is wide enough; each folded stack is one line. Names end with NUL; one that
 * begins with a digit goes up so many levels, and has a value. */
#include <stdlib.h>
#include <string.h>

#include "analyse/stacks.h"
#include "base/escape.h"
#include "base/mem.h"
#include "ctl/print/flame.h"
#include "must_hold.h"

#define LEVELS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct stacks *read_stacks(const uint8_t *data, size_t size)
{
	const struct stacks_frame *frames[LEVELS];
	struct stacks *stacks = stacks_new(256);
	uint32_t depth = 0;

	while (size) {
		size_t len = strnlen((const char *)data, size);
		char *name AUTO_FREE = xasprintf("%.*s", (int)len, (const char *)data);
		uint32_t up = len && *name >= '0' && *name <= '9' ? (uint32_t)(*name - '0') : 0;

		depth -= MIN(up, depth);
		if (depth < LEVELS)
			frames[depth++] = stacks_frame(stacks, name, len % 2 ? name : NULL, up);
		stacks_add(stacks, frames, depth, up * up * up + 1);
		data += MIN(len + 1, size);
		size -= MIN(len + 1, size);
	}
	stacks_sort(stacks);
	return stacks;
}

static void check_characters(const char *text, size_t len, bool is_xml)
{
	while (len) {
		uint32_t c;
		size_t nr = escape_decode((const uint8_t *)text, len, &c);

		MUST_HOLD(nr && !(is_xml && (c & 0xfffe) == 0xfffe));
		MUST_HOLD((is_xml && c == '\n') || !escape_is_harmful(c));
		text += nr;
		len -= nr;
	}
}

static void check_entity(const char *at)
{
	static const char *const all[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&apos;" };
	size_t i = 0;

	while (i < ARRAY_SIZE(all) && strncmp(at, all[i], strlen(all[i])) != 0)
		i++;
	MUST_HOLD(i < ARRAY_SIZE(all));
}

/* Return: behind the tag at @at. @open: names of the elements that are open. */
static const char *read_tag(const char *at, const char *open[], uint32_t *nr)
{
	size_t len = strcspn(at + 1, " >/");
	const char *end = strchr(at, '>');

	MUST_HOLD(end);
	if (strncmp(at, "<![CDATA[", 9) == 0) {
		end = strstr(at, "]]>");
		MUST_HOLD(end);
		return end + 3;
	}
	if (at[1] == '/') {
		len = (size_t)(end - at) - 2;
		MUST_HOLD(*nr && strncmp(open[--*nr], at + 2, len) == 0);
		MUST_HOLD(strchr(" >", open[*nr][len]));
	} else if (at[1] != '?' && end[-1] != '/') {
		MUST_HOLD(len && *nr < 8);
		open[(*nr)++] = at + 1;
	}
	return end + 1;
}

static void check_svg(const char *text, uint64_t frames)
{
	const char *open[8];
	uint32_t nr = 0;
	uint64_t titles = 0;

	while (*text) {
		text += strcspn(text, "<&>");
		MUST_HOLD(*text != '>');
		if (*text == '&') {
			check_entity(text++);
		} else if (*text) {
			titles += strncmp(text, "<title>", 7) == 0;
			text = read_tag(text, open, &nr);
		}
	}
	MUST_HOLD(nr == 0);
	MUST_HOLD(titles == frames + 2); /* the picture's and that of "all" */
}

static void check_folded(const char *text, const struct stacks *stacks, uint64_t nr)
{
	uint64_t sum = 0;

	for (; *text; nr--) {
		const char *end = strchr(text, '\n'), *blank = end;

		MUST_HOLD(end && nr);
		check_characters(text, (size_t)(end - text), false);
		while (*--blank != ' ')
			MUST_HOLD(blank > text);
		sum += strtoull(blank + 1, NULL, 10);
		text = end + 1;
	}
	MUST_HOLD(nr == 0);
	MUST_HOLD(sum == stacks->root.total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stacks *stacks = read_stacks(data, size);
	struct flame_picture picture = { .title = "", .unit = "ns", .hue = size % 360 };
	char *svg AUTO_FREE = NULL, *folded AUTO_FREE = NULL;
	char *title AUTO_FREE = xasprintf("%.*s", (int)size, (const char *)data);
	size_t svg_len = 0, folded_len = 0;
	FILE *out = open_memstream(&svg, &svg_len);
	uint64_t left_out, nr;

	picture.title = title;
	left_out = flame_svg(out, stacks, &picture);
	fclose(out);
	check_characters(svg, svg_len, true);
	check_svg(svg, stacks->nr_nodes - left_out);
	out = open_memstream(&folded, &folded_len);
	nr = flame_folded(out, stacks);
	fclose(out);
	check_folded(folded, stacks, nr);
	stacks_free(stacks);
	return 0;
}
