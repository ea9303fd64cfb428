/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "announce.h"

#include <string.h>

#include "tracer/base/env.h"
#include "points.h"
#include "proto/app.h"
#include "tracer/site/site.h"
#include "tracer/base/large.h"

/* Room for a list's records in a message: header, two list words, `complete`. */
#define LIST_BYTES (MSG_MAX_BYTES - 64)
#define GONE_A_MESSAGE 1024

/* Lists are built from the inside out; only the helper uses this buffer, for one list at a time. */
static uint8_t entry_bytes[LIST_BYTES] TRACER_LARGE;
static uint8_t field_bytes[LIST_BYTES] TRACER_LARGE;
static uint8_t point_bytes[LIST_BYTES] TRACER_LARGE;

static struct list encode_labels(const struct ltt_enum *e)
{
	struct encoder enc;

	encoder_init(&enc, entry_bytes, sizeof(entry_bytes));
	for (uint32_t i = 0; i < e->nr_entries; i++) {
		struct msg_app_enum_entry m = { e->entries[i].label, e->entries[i].first,
						e->entries[i].last };

		msg_app_enum_entry_add(&enc, &m);
	}
	return encoder_finish(&enc) == 0 ? encoder_list(&enc) : (struct list){ 0 };
}

static void announce_add_field(struct encoder *enc, const struct ltt_field *field, bool labels)
{
	const struct ltt_enum *e = field->enumeration;
	struct msg_app_field m = {
		.name = field->name,
		.kind = field->kind,
		.size_bits = field->size_bits,
		.length_bits = field->length_bits,
		.base = field->base,
		.flags = field->flags,
		.count = field->count,
		.enum_name = e ? e->name : "",
	};

	if (e && labels)
		m.entries = encode_labels(e);
	msg_app_field_add(enc, &m);
}

/* Return: whether it fit. */
static bool announce_add_point(struct encoder *enc, const struct point *point, bool whole)
{
	const struct ltt_event *event = point->event;
	struct msg_app_point m = {
		.id = point->id,
		.name = event->name,
		.kind = event->kind,
		.loglevel = event->loglevel,
		.format = whole ? event->format : "",
		.file = event->file,
		.line = event->line,
	};
	struct encoder fields;
	struct encoder undo = *enc;

	encoder_init(&fields, field_bytes, sizeof(field_bytes));
	for (uint32_t i = 0; i < point->nr_fields; i++)
		announce_add_field(&fields, &point->fields[i], whole);
	m.fields = encoder_list(&fields);
	if (encoder_finish(&fields) == 0)
		msg_app_point_add(enc, &m);
	if (encoder_finish(&fields) == 0 && encoder_finish(enc) == 0)
		return true;
	*enc = undo;
	return false;
}

/* With the points' lock held. Return: whether all are announced. */
static bool add_points(unsigned int link, struct encoder *enc)
{
	const struct point *point;

	while ((point = agent_points_peek(link))) {
		if (!announce_add_point(enc, point, true)) {
			if (enc->nr_records > 0)
				return false;
			if (!announce_add_point(enc, point, false))
				tracer_debug("%s is too large to be registered",
					     point->event->name);
		}
		agent_points_advance(link);
	}
	return true;
}

bool agent_announce_points(unsigned int link, bool unanswered, uint32_t *announced,
			   struct encoder *enc)
{
	struct msg_app_points_add m;
	struct encoder points;
	uint32_t generation;
	bool all;

	encoder_init(&points, point_bytes, sizeof(point_bytes));
	agent_points_lock();
	all = add_points(link, &points);
	generation = agent_points_generation();
	agent_points_unlock();
	m.complete = all && !unanswered && *announced != generation;
	if (points.nr_records == 0 && !m.complete)
		return false;
	if (m.complete)
		*announced = generation;
	m.points = encoder_list(&points);
	msg_app_points_add_encode(enc, &m);
	return true;
}

bool agent_announce_gone(unsigned int link, struct encoder *enc)
{
	uint32_t ids[GONE_A_MESSAGE];
	struct msg_app_points_remove m;
	struct encoder list;
	size_t nr;

	agent_points_lock();
	nr = agent_points_take_gone(link, ids, GONE_A_MESSAGE);
	agent_points_unlock();
	encoder_init(&list, point_bytes, sizeof(point_bytes));
	for (size_t i = 0; i < nr; i++) {
		struct msg_app_point_ref ref = { .id = ids[i] };

		msg_app_point_ref_add(&list, &ref);
	}
	m.points = encoder_list(&list);
	msg_app_points_remove_encode(enc, &m);
	return nr > 0;
}
