/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfetto.c - a trace of Perfetto: messages of perfetto.dev/docs/reference/trace-packet-proto.
 * Processes and threads are tracks, names are interned. Times are of CLOCK_REALTIME; a snapshot of
 * the clocks makes them those of the trace's clock, too, by which the events of the scheduler are.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/sched.h"
#include "base/mem.h"
#include "base/text.h"
#include "counters.h"
#include "export.h"
#include "protobuf.h"
#include "read/event.h"
#include "show/print.h"
#include "slices.h"

/** Numbers of fields; the message is the first part of the name. */
enum {
	TRACE_PACKET = 1,

	PACKET_FTRACE_EVENTS = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,

	SNAPSHOT_CLOCKS = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	DEFAULTS_TIMESTAMP_CLOCK_ID = 58,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_FLOW_IDS = 47,

	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_KINDS,
	NAME_IID = 1,
	NAME_TEXT = 2,

	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_LEGACY_JSON = 9,

	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	FTRACE_TIMESTAMP = 1,
	FTRACE_PID = 2,
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_SCHED_WAKING = 20,
};

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { SLICE_BEGINS = 1, SLICE_ENDS = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

#define SEQUENCE_ID 1u

/** A text with a number in the sequence of packets. */
struct perfetto_text {
	struct idmap_node node;
	struct perfetto_text *next;
	uint64_t iid;
	char text[];
};

#define RECENT 64u /* a power of two */

/** A track of slices of one name that are not within those of their row. */
struct perfetto_lane {
	struct idmap_node node;
	struct perfetto_lane *next;
	const struct slice_row *row;
	uint64_t uuid;
	int64_t until_ns;
	char name[];
};

#define LANE_UUIDS (UINT64_C(1) << 48) /* from here on; below are those of rows */

/**
 * struct perfetto
 * @packet: the one that is written; @interned: names that it is the first to have.
 * @whole: packets of a slice.
 */
struct perfetto {
	const struct exporting *exporting;
	struct slices *slices;
	struct counters *counters;
	struct pen out, packet, interned, scratch, whole;
	struct idmap texts[INTERNED_KINDS], lanes;
	struct {
		const char *text; /* of the trace: it stays where it is */
		uint64_t iid;
	} recent[INTERNED_KINDS][RECENT];
	struct perfetto_text *all_texts;
	struct perfetto_lane *all_lanes;
	uint64_t nr_texts, nr_tracks;
	int64_t before_1970_ns;
};

/* A time before 1970 has no number: then all are moved. */
static uint64_t perfetto_time(const struct perfetto *perfetto, int64_t ns)
{
	return (uint64_t)(ns + perfetto->before_1970_ns);
}

/* --- packets -------------------------------------------------------------------------------- */

static void perfetto_begin(struct perfetto *perfetto)
{
	perfetto->packet.used = perfetto->interned.used = 0;
}

/* @to: where the packet goes. */
static void perfetto_end(struct perfetto *perfetto, struct pen *to, uint32_t flags)
{
	struct pen *packet = &perfetto->packet;

	if (perfetto->interned.used)
		protobuf_bytes(packet, PACKET_INTERNED_DATA, perfetto->interned.buf,
			       perfetto->interned.used);
	protobuf_u64(packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	protobuf_u64(packet, PACKET_SEQUENCE_FLAGS, flags);
	protobuf_bytes(to, TRACE_PACKET, packet->buf, packet->used);
}

/* Readers expect UTF-8. */
static void perfetto_put_text(struct pen *pen, uint32_t field, const void *text, size_t len)
{
	size_t begin;

	protobuf_bytes(pen, field, text, len);
	if (text_is_utf8(text, len))
		return;
	for (begin = pen->used - len; begin < pen->used; begin++)
		if (pen->buf[begin] & 0x80)
			pen->buf[begin] = '?';
}

static uint64_t perfetto_iid(struct perfetto *perfetto, uint32_t kind, const char *text)
{
	struct idmap *map = &perfetto->texts[kind];
	uint64_t hash = idmap_hash_text(text);
	struct idmap_node *node = idmap_find(map, hash);
	struct perfetto_text *added;
	size_t at;

	for (; node; node = idmap_next(map, node)) {
		added = container_of(node, struct perfetto_text, node);
		if (strcmp(added->text, text) == 0)
			return added->iid;
	}
	added = xalloc(sizeof(*added) + strlen(text) + 1);
	strcpy(added->text, text);
	added->iid = ++perfetto->nr_texts;
	added->next = perfetto->all_texts;
	perfetto->all_texts = added;
	idmap_add(map, &added->node, hash);
	at = protobuf_begin(&perfetto->interned, kind);
	protobuf_u64(&perfetto->interned, NAME_IID, added->iid);
	perfetto_put_text(&perfetto->interned, NAME_TEXT, text, strlen(text));
	protobuf_end(&perfetto->interned, at);
	return added->iid;
}

/* The same, of a text of the trace, or of its pairs: it stays where it is. */
static uint64_t perfetto_known_iid(struct perfetto *perfetto, uint32_t kind, const char *text)
{
	size_t at = (uintptr_t)text / 8 % RECENT;

	if (perfetto->recent[kind][at].text != text) {
		perfetto->recent[kind][at].text = text;
		perfetto->recent[kind][at].iid = perfetto_iid(perfetto, kind, text);
	}
	return perfetto->recent[kind][at].iid;
}

/* The clock of the trace is CLOCK_BOOTTIME to readers, and has these times, too. */
static void perfetto_snapshot(struct perfetto *perfetto)
{
	static const uint64_t clocks[] = { CLOCK_REALTIME_ID, CLOCK_BOOTTIME_ID };
	uint64_t now = perfetto_time(perfetto, perfetto->exporting->origin_ns);
	size_t snapshot, clock;

	perfetto_begin(perfetto);
	snapshot = protobuf_begin(&perfetto->packet, PACKET_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		clock = protobuf_begin(&perfetto->packet, SNAPSHOT_CLOCKS);
		protobuf_u64(&perfetto->packet, CLOCK_ID, clocks[i]);
		protobuf_u64(&perfetto->packet, CLOCK_TIMESTAMP, now);
		protobuf_end(&perfetto->packet, clock);
	}
	protobuf_end(&perfetto->packet, snapshot);
	snapshot = protobuf_begin(&perfetto->packet, PACKET_DEFAULTS);
	protobuf_u64(&perfetto->packet, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_REALTIME_ID);
	protobuf_end(&perfetto->packet, snapshot);
	perfetto_end(perfetto, &perfetto->out, STATE_CLEARED);
}

/* --- tracks --------------------------------------------------------------------------------- */

static size_t perfetto_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			     const char *name)
{
	size_t track;

	perfetto_begin(perfetto);
	track = protobuf_begin(&perfetto->packet, PACKET_TRACK_DESCRIPTOR);
	protobuf_u64(&perfetto->packet, TRACK_UUID, uuid);
	if (parent)
		protobuf_u64(&perfetto->packet, TRACK_PARENT_UUID, parent);
	if (name)
		protobuf_bytes(&perfetto->packet, TRACK_NAME, name, strlen(name));
	return track;
}

static void perfetto_track_end(struct perfetto *perfetto, size_t track)
{
	protobuf_end(&perfetto->packet, track);
	perfetto_end(perfetto, &perfetto->out, NEEDS_STATE);
}

static void perfetto_process(struct perfetto *perfetto, struct slice_process *process)
{
	size_t track, at;

	if (process->is_told)
		return;
	process->is_told = true;
	track = perfetto_track(perfetto, process->id, 0, process->is_cpus ? process->name : NULL);
	if (!process->is_cpus) {
		at = protobuf_begin(&perfetto->packet, TRACK_PROCESS);
		protobuf_u64(&perfetto->packet, PROCESS_PID, process->pid);
		protobuf_bytes(&perfetto->packet, PROCESS_NAME, process->name,
			       strlen(process->name));
		protobuf_end(&perfetto->packet, at);
	}
	perfetto_track_end(perfetto, track);
}

static void perfetto_row(struct perfetto *perfetto, struct slice_row *row)
{
	size_t track, at;

	perfetto_process(perfetto, row->process);
	if (row->is_told)
		return;
	row->is_told = true;
	track = perfetto_track(perfetto, row->id, row->process->id,
			       row->process->is_cpus ? row->name : NULL);
	if (!row->process->is_cpus) {
		at = protobuf_begin(&perfetto->packet, TRACK_THREAD);
		protobuf_u64(&perfetto->packet, THREAD_PID, row->process->pid);
		protobuf_u64(&perfetto->packet, THREAD_TID, row->tid);
		protobuf_bytes(&perfetto->packet, THREAD_NAME, row->name, strlen(row->name));
		protobuf_end(&perfetto->packet, at);
	}
	perfetto_track_end(perfetto, track);
}

/* --- fields --------------------------------------------------------------------------------- */

static void perfetto_number(struct pen *pen, const struct value *value)
{
	if (value->type->kind == TYPE_FLOAT)
		protobuf_fixed64(pen, ANNOTATION_DOUBLE, &value->d);
	else
		protobuf_u64(pen, value->type->is_signed ? ANNOTATION_INT : ANNOTATION_UINT,
			     value->u);
}

static void perfetto_label(struct pen *pen, const struct value *value)
{
	struct enum_labels labels;
	const char *label;

	enum_begin(value->type, value->u, &labels);
	label = enum_next(&labels);
	if (label)
		perfetto_put_text(pen, ANNOTATION_STRING, label, strlen(label));
	else
		perfetto_number(pen, value);
}

/* Only UTF-8 is a string. */
static void perfetto_string(struct perfetto *perfetto, struct pen *pen, const struct value *value)
{
	size_t len = value_text_length(value);

	if (text_is_utf8(value->bytes, len)) {
		protobuf_bytes(pen, ANNOTATION_STRING, value->bytes, len);
		return;
	}
	perfetto->scratch.used = 0;
	print_json_value(&perfetto->scratch, value);
	protobuf_bytes(pen, ANNOTATION_LEGACY_JSON, perfetto->scratch.buf, perfetto->scratch.used);
}

static void perfetto_field(struct perfetto *perfetto, struct pen *pen, const struct value *value)
{
	size_t at = protobuf_begin(pen, EVENT_DEBUG_ANNOTATIONS);

	protobuf_u64(pen, ANNOTATION_NAME_IID,
		     perfetto_known_iid(perfetto, INTERNED_ANNOTATION_NAMES, value->field->shown));
	if (value->type->kind == TYPE_ENUM) {
		perfetto_label(pen, value);
	} else if (type_is_scalar(value->type)) {
		perfetto_number(pen, value);
	} else if (value_has_text(value)) {
		perfetto_string(perfetto, pen, value);
	} else {
		perfetto->scratch.used = 0;
		print_json_value(&perfetto->scratch, value);
		protobuf_bytes(pen, ANNOTATION_LEGACY_JSON, perfetto->scratch.buf,
			       perfetto->scratch.used);
	}
	protobuf_end(pen, at);
}

static void perfetto_fields(struct perfetto *perfetto, struct pen *pen, const struct event *event)
{
	const struct value *value = event->fields ? event->fields + 1 : NULL;

	for (uint32_t i = 0; value && i < event->fields->count; i++) {
		if (!value_is_provided(value))
			perfetto_field(perfetto, pen, value);
		value = value_behind(value);
	}
}

/* --- events --------------------------------------------------------------------------------- */

/* @name: NULL: none. Return: for perfetto_event_end(). */
static size_t perfetto_event_begin(struct perfetto *perfetto, uint64_t type, uint64_t track,
				   int64_t ns, const char *name)
{
	struct pen *packet = &perfetto->packet;
	size_t at;

	perfetto_begin(perfetto);
	protobuf_u64(packet, PACKET_TIMESTAMP, perfetto_time(perfetto, ns));
	at = protobuf_begin(packet, PACKET_TRACK_EVENT);
	protobuf_u64(packet, EVENT_TYPE, type);
	protobuf_u64(packet, EVENT_TRACK_UUID, track);
	if (name)
		protobuf_u64(packet, EVENT_NAME_IID,
			     perfetto_iid(perfetto, INTERNED_EVENT_NAMES, name));
	return at;
}

static void perfetto_event_end(struct perfetto *perfetto, size_t at, struct pen *to)
{
	protobuf_end(&perfetto->packet, at);
	perfetto_end(perfetto, to, NEEDS_STATE);
}

static void perfetto_category(struct perfetto *perfetto, const struct event *event)
{
	protobuf_u64(&perfetto->packet, EVENT_CATEGORY_IIDS,
		     perfetto_known_iid(perfetto, INTERNED_CATEGORIES, event->ec->name));
}

static void perfetto_flow(struct perfetto *perfetto, uint64_t flow)
{
	if (flow)
		protobuf_fixed64(&perfetto->packet, EVENT_FLOW_IDS, &flow);
}

static void perfetto_instant(struct perfetto *perfetto, const struct event *event,
			     const struct slice *slice, uint64_t flow)
{
	size_t at =
		perfetto_event_begin(perfetto, INSTANT, slice->row->id, event->ns, event->ec->name);

	perfetto_category(perfetto, event);
	perfetto_fields(perfetto, &perfetto->packet, event);
	perfetto_flow(perfetto, flow);
	perfetto_event_end(perfetto, at, &perfetto->out);
}

/* The fields of the begin, kept until the end. Its new names are written at once. */
static void perfetto_note(struct perfetto *perfetto, const struct event *event,
			  struct slice_opening *opening)
{
	struct pen *packet = &perfetto->packet;

	if (!opening || !event->fields)
		return;
	perfetto_begin(perfetto);
	perfetto_fields(perfetto, packet, event);
	opening->note = memcpy(xalloc(packet->used + 1), packet->buf, packet->used);
	opening->note_len = packet->used;
	packet->used = 0;
	if (perfetto->interned.used)
		perfetto_end(perfetto, &perfetto->out, NEEDS_STATE);
}

static uint64_t perfetto_lane(struct perfetto *perfetto, const struct slice *slice)
{
	uint64_t key = idmap_hash_text(slice->name) ^ slice->row->id;
	int64_t until_ns = slice->from_ns + (int64_t)slice->ns;
	struct perfetto_lane *lane;

	for (struct idmap_node *node = idmap_find(&perfetto->lanes, key); node;
	     node = idmap_next(&perfetto->lanes, node)) {
		lane = container_of(node, struct perfetto_lane, node);
		if (lane->row == slice->row && lane->until_ns <= slice->from_ns &&
		    strcmp(lane->name, slice->name) == 0) {
			lane->until_ns = until_ns;
			return lane->uuid;
		}
	}
	lane = xalloc(sizeof(*lane) + strlen(slice->name) + 1);
	strcpy(lane->name, slice->name);
	lane->row = slice->row;
	lane->until_ns = until_ns;
	lane->uuid = LANE_UUIDS + perfetto->nr_tracks++;
	lane->next = perfetto->all_lanes;
	perfetto->all_lanes = lane;
	idmap_add(&perfetto->lanes, &lane->node, key);
	perfetto_track_end(perfetto,
			   perfetto_track(perfetto, lane->uuid, slice->row->id, lane->name));
	return lane->uuid;
}

/* Slices that begin at the same time are written from the outermost one on. @to: where. */
static void perfetto_write(const struct slice *slice, struct pen *whole, struct pen *out)
{
	struct slice_opening *below = slice->opening ? slice->opening->below : NULL;

	if (slice->crosses || !below || below->ns != slice->opening->ns) {
		pen_bytes(out, whole->buf, whole->used);
		return;
	}
	below->held = xrealloc(below->held, below->held_len + whole->used);
	memcpy(below->held + below->held_len, whole->buf, whole->used);
	below->held_len += whole->used;
}

static void perfetto_slice(struct perfetto *perfetto, const struct event *event,
			   const struct slice *slice)
{
	const struct slice_opening *opening = slice->opening;
	uint64_t track = slice->crosses ? perfetto_lane(perfetto, slice) : slice->row->id;
	uint64_t flow = slice->row != slice->end_row ? slice->number : 0;
	size_t at =
		perfetto_event_begin(perfetto, SLICE_BEGINS, track, slice->from_ns, slice->name);

	perfetto->whole.used = 0;
	perfetto_category(perfetto, event);
	perfetto_flow(perfetto, flow);
	if (opening)
		pen_bytes(&perfetto->packet, opening->note, opening->note_len);
	perfetto_event_end(perfetto, at, &perfetto->whole);
	if (opening)
		pen_bytes(&perfetto->whole, opening->held, opening->held_len);
	at = perfetto_event_begin(perfetto, SLICE_ENDS, track, event->ns, NULL);
	perfetto_fields(perfetto, &perfetto->packet, event);
	perfetto_event_end(perfetto, at, &perfetto->whole);
	perfetto_write(slice, &perfetto->whole, &perfetto->out);
	if (flow) {
		const struct slice end = { .row = slice->end_row };

		perfetto_row(perfetto, slice->end_row);
		perfetto_instant(perfetto, event, &end, flow);
	}
}

static void perfetto_counters(struct perfetto *perfetto, const struct event *event,
			      const struct slice_row *row)
{
	struct counter *counter;
	uint32_t nr = 0;
	double value;
	size_t at, track;

	while ((counter = counters_next(perfetto->counters, event, &nr, &value))) {
		if (!counter->id) {
			counter->id = LANE_UUIDS + perfetto->nr_tracks++;
			track = perfetto_track(perfetto, counter->id, row->process->id,
					       counter->name);
			protobuf_bytes(&perfetto->packet, TRACK_COUNTER, "", 0);
			perfetto_track_end(perfetto, track);
		}
		at = perfetto_event_begin(perfetto, COUNTER, counter->id, event->ns, NULL);
		protobuf_fixed64(&perfetto->packet, EVENT_DOUBLE_COUNTER_VALUE, &value);
		perfetto_event_end(perfetto, at, &perfetto->out);
	}
}

/* --- the scheduler -------------------------------------------------------------------------- */

/** A field of an event as one of ftrace's messages. */
struct perfetto_member {
	const char *name, *other; /* LTTng's */
};

static void perfetto_members(struct pen *pen, const struct event *event,
			     const struct perfetto_member *members, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct value *value = value_member(event->fields, members[i].name);

		if (!value && members[i].other)
			value = value_member(event->fields, members[i].other);
		if (!value)
			continue;
		if (value_has_text(value))
			perfetto_put_text(pen, i + 1, value->bytes, value_text_length(value));
		else if (type_is_scalar(value->type) && value->type->kind != TYPE_FLOAT)
			protobuf_u64(pen, i + 1, value->u);
	}
}

static void perfetto_sched(struct perfetto *perfetto, const struct event *event)
{
	static const struct perfetto_member of_switch[] = {
		{ "prev_comm", NULL },	   { "prev_pid", "prev_tid" }, { "prev_prio", NULL },
		{ "prev_state", NULL },	   { "next_comm", NULL },      { "next_pid", "next_tid" },
		{ "next_prio", NULL },
	}, of_wakeup[] = {
		{ "comm", NULL },    { "pid", "tid" },		      { "prio", NULL },
		{ "success", NULL }, { "target_cpu", NULL },
	};
	enum sched_kind kind = sched_action_of(event).kind;
	struct pen *packet = &perfetto->packet;
	size_t bundle, ftrace, at;

	if (kind == SCHED_NONE)
		return;
	perfetto_begin(perfetto);
	bundle = protobuf_begin(packet, PACKET_FTRACE_EVENTS);
	protobuf_u64(packet, BUNDLE_CPU, event->packet->cpu);
	ftrace = protobuf_begin(packet, BUNDLE_EVENT);
	protobuf_u64(packet, FTRACE_TIMESTAMP, perfetto_time(perfetto, event->ns));
	if (event->task.tid)
		protobuf_u64(packet, FTRACE_PID, event->task.tid->u);
	at = protobuf_begin(packet,
			    kind == SCHED_SWITCH ? FTRACE_SCHED_SWITCH : FTRACE_SCHED_WAKING);
	if (kind == SCHED_SWITCH)
		perfetto_members(packet, event, of_switch, ARRAY_SIZE(of_switch));
	else
		perfetto_members(packet, event, of_wakeup, ARRAY_SIZE(of_wakeup));
	protobuf_end(packet, at);
	protobuf_end(packet, ftrace);
	protobuf_end(packet, bundle);
	perfetto_end(perfetto, &perfetto->out, NEEDS_STATE);
}

/* --- all of it ------------------------------------------------------------------------------ */

static void perfetto_event(struct perfetto *perfetto, const struct event *event)
{
	struct slice slice;

	slices_take(perfetto->slices, event, &slice);
	perfetto_row(perfetto, slice.row);
	if (slice.kind == SLICE_BEGIN)
		perfetto_note(perfetto, event, slice.opening);
	else if (slice.kind == SLICE_WHOLE)
		perfetto_slice(perfetto, event, &slice);
	else if (sched_action_of(event).kind == SCHED_NONE)
		perfetto_instant(perfetto, event, &slice, 0);
	perfetto_counters(perfetto, event, slice.row);
	perfetto_sched(perfetto, event);
}

/* Slices whose outer one has not ended. */
static void perfetto_rest(struct perfetto *perfetto)
{
	const struct slice_opening *opening;

	list_for_each(opening, slices_open(perfetto->slices), in_open)
		pen_bytes(&perfetto->out, opening->held, opening->held_len);
}

static void perfetto_free(struct perfetto *perfetto)
{
	struct perfetto_text *text;
	struct perfetto_lane *lane;

	while ((text = perfetto->all_texts)) {
		perfetto->all_texts = text->next;
		free(text);
	}
	while ((lane = perfetto->all_lanes)) {
		perfetto->all_lanes = lane->next;
		free(lane);
	}
	for (size_t i = 0; i < ARRAY_SIZE(perfetto->texts); i++)
		idmap_fini(&perfetto->texts[i]);
	idmap_fini(&perfetto->lanes);
	pen_fini(&perfetto->out);
	pen_fini(&perfetto->packet);
	pen_fini(&perfetto->interned);
	pen_fini(&perfetto->scratch);
	pen_fini(&perfetto->whole);
	counters_free(perfetto->counters);
	slices_free(perfetto->slices);
}

int export_perfetto(const struct exporting *exporting)
{
	struct perfetto perfetto = {
		.exporting = exporting,
		.slices = slices_new(exporting->pairs, exporting->names),
		.counters = counters_new(exporting->counters),
		.before_1970_ns = exporting->origin_ns < 0 ? -exporting->origin_ns : 0,
	};
	struct event event;
	int ret, flushed;

	pen_init(&perfetto.out, exporting->file);
	pen_init(&perfetto.packet, NULL);
	pen_init(&perfetto.interned, NULL);
	pen_init(&perfetto.scratch, NULL);
	pen_init(&perfetto.whole, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(perfetto.texts); i++)
		idmap_init(&perfetto.texts[i]);
	idmap_init(&perfetto.lanes);
	perfetto_snapshot(&perfetto);
	while ((ret = export_next(exporting, &event)) > 0)
		perfetto_event(&perfetto, &event);
	perfetto_rest(&perfetto);
	flushed = pen_flush(&perfetto.out);
	perfetto_free(&perfetto);
	return ret ? ret : flushed;
}
