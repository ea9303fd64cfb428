/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * point.c - instrumentation points as applications announce them. Data of an application is
 * untrusted: a point that can't be recorded and described is rejected, and no other one is
 * affected.
 */
#include <string.h>

#include "app.h"
#include "ltt/site.h"

/* The wire carries the numbers of the public header; shapes have their own. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

SAME(SHAPE_TRACEPOINT, LTT_EVENT_TRACEPOINT);
SAME(SHAPE_MARKER, LTT_EVENT_MARKER);

struct size {
	uint32_t fields, labels;
	size_t text;
};

static void user_point_measure(struct list fields, struct size *size)
{
	struct msg_app_field f;
	struct msg_app_enum_entry e;

	while (msg_app_field_next(&fields, &f)) {
		size->fields++;
		size->text += strlen(f.name) + 1;
		while (msg_app_enum_entry_next(&f.entries, &e)) {
			size->labels++;
			size->text += strlen(e.label) + 1;
		}
	}
}

static void fill_field(struct layout *layout, struct msg_app_field *f)
{
	struct layout_field field = {
		.name = f->name,
		.kind = f->kind,
		.size_bits = f->size_bits,
		.length_bits = f->length_bits,
		.base = f->base,
		.flags = f->flags,
		.count = f->count,
	};
	struct msg_app_enum_entry e;

	layout_add_field(layout, &field);
	while (msg_app_enum_entry_next(&f->entries, &e))
		layout_add_label(layout, e.label, e.first, e.last);
}

static struct layout *user_point_make_layout(struct list fields, const struct size *size)
{
	struct layout *layout = layout_new(size->fields, size->labels, size->text);
	struct msg_app_field f;

	while (layout && msg_app_field_next(&fields, &f))
		fill_field(layout, &f);
	return layout;
}

const char *point_add(struct app *app, struct msg_app_point *msg)
{
	struct shape_facts facts = {
		.name = msg->name,
		.kind = (enum shape_kind)msg->kind,
		.loglevel = msg->loglevel,
		.format = msg->kind == SHAPE_MARKER ? msg->format : "",
	};
	const struct app_point *point;
	struct size size = { 0 };
	const char *why;

	user_point_measure(msg->fields, &size);
	if (size.fields > LAYOUT_MAX_FIELDS || size.labels > LAYOUT_MAX_LABELS) {
		why = "has too many fields or labels";
		app_refuse_point(app, msg->id, msg->file, msg->line, &facts, why);
		return why;
	}
	facts.layout = user_point_make_layout(msg->fields, &size);
	if (!facts.layout)
		return "can't be stored: out of memory";
	why = app_add_point(app, msg->id, msg->file, msg->line, &facts, &point);
	layout_free(facts.layout);
	return why;
}
