/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacked.c - the stacks of a trace (analyse/flame.h) for tools that draw flame graphs: folded
 * lines, and speedscope's JSON (speedscope.app/file-format-schema.json).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/flame.h"
#include "analyse/symbol/names.h"
#include "base/mem.h"
#include "ctl/print/flame.h"
#include "export.h"
#include "read/event.h"
#include "show/pen.h"

/* Return: the kind of @ret; FLAME_NR: there are no stacks; negative errno. */
static int stacked_read(const struct exporting *exporting, struct stacks **ret)
{
	struct view_select select = *exporting->select;
	struct flame *flame = flame_new(FLAME_ANY, exporting->names->objects,
					exporting->names->host, select.threads);
	struct event event;
	int r;

	select.threads = NULL; /* others hold locks */
	if (!select.names)
		select.names = flame_events(FLAME_ANY);
	while ((r = event_next(exporting->view, &select, &event)) > 0)
		flame_take(flame, &event);
	if (r == 0)
		r = (int)flame_finish(flame, ret);
	flame_free(flame);
	return r;
}

int export_folded(const struct exporting *exporting)
{
	struct stacks *stacks = NULL;
	int kind = stacked_read(exporting, &stacks);

	if (kind < 0)
		return kind;
	if (kind == FLAME_NR)
		return -ENODATA;
	flame_folded(exporting->file, stacks);
	stacks_free(stacks);
	return ferror(exporting->file) ? -EIO : 0;
}

/* --- speedscope --------------------------------------------------------------------------- */

static void stacked_text(struct pen *pen, const char *key, const char *text)
{
	pen_text(pen, key);
	pen_json_text(pen, (const uint8_t *)text, strlen(text));
}

/* In the order of their numbers. */
static void stacked_frames(struct pen *pen, const struct stacks *stacks)
{
	const struct stacks_frame **all AUTO_FREE =
		xalloc((stacks->nr_frames + 1) * sizeof(const struct stacks_frame *));

	for (const struct stacks_frame *frame = stacks->frames; frame; frame = frame->next)
		all[frame->number] = frame;
	for (uint32_t i = 0; i < stacks->nr_frames; i++) {
		stacked_text(pen, i ? ",\n{\"name\":" : "{\"name\":", all[i]->name);
		if (all[i]->file) {
			stacked_text(pen, ",\"file\":", all[i]->file);
			pen_text(pen, ",\"line\":");
			pen_u64(pen, all[i]->line);
		}
		pen_char(pen, '}');
	}
}

static void stacked_samples(struct pen *pen, const struct stacks *stacks)
{
	const struct stacks_node *path[STACKS_DEPTH_MOST + 1], *node = NULL;
	bool any = false;

	while ((node = stacks_next(stacks, node))) {
		path[node->depth] = node;
		if (!node->self)
			continue;
		pen_text(pen, any ? ",\n" : "");
		any = true;
		for (uint32_t i = 1; i <= node->depth; i++) {
			pen_char(pen, i > 1 ? ',' : '[');
			pen_u64(pen, path[i]->frame->number);
		}
		pen_char(pen, ']');
	}
}

static void stacked_weights(struct pen *pen, const struct stacks *stacks)
{
	const struct stacks_node *node = NULL;
	bool any = false;

	while ((node = stacks_next(stacks, node))) {
		if (!node->self)
			continue;
		pen_text(pen, any ? "," : "");
		any = true;
		pen_u64(pen, node->self);
	}
}

static void stacked_speedscope(struct pen *pen, const struct stacks *stacks, enum flame_kind kind)
{
	const char *unit = flame_unit(kind);

	pen_text(pen, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		      "\"exporter\":\"lttctl\",\"shared\":{\"frames\":[\n");
	stacked_frames(pen, stacks);
	stacked_text(pen, "\n]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":", flame_name(kind));
	stacked_text(pen, ",\"unit\":",
		     strcmp(unit, "ns") == 0	? "nanoseconds" :
		     strcmp(unit, "bytes") == 0 ? "bytes" :
						  "none");
	pen_text(pen, ",\"startValue\":0,\"endValue\":");
	pen_u64(pen, stacks->root.total);
	pen_text(pen, ",\n\"samples\":[");
	stacked_samples(pen, stacks);
	pen_text(pen, "],\n\"weights\":[");
	stacked_weights(pen, stacks);
	pen_text(pen, "]}]}\n");
}

int export_speedscope(const struct exporting *exporting)
{
	struct stacks *stacks = NULL;
	int kind = stacked_read(exporting, &stacks);
	struct pen pen;
	int ret;

	if (kind < 0)
		return kind;
	if (kind == FLAME_NR)
		return -ENODATA;
	pen_init(&pen, exporting->file);
	stacked_speedscope(&pen, stacks, (enum flame_kind)kind);
	ret = pen_flush(&pen);
	pen_fini(&pen);
	stacks_free(stacks);
	return ret;
}
