// SPDX-License-Identifier: GPL-2.0-only
#include "fallback_probe.h"

#include <linux/err.h>
#include <linux/string.h>

#include "counters.h"
#include "fallback.h"
#include "ltt_kmod.h"
#include "registry.h"

/* --- a sample ------------------------------------------------------------- */

/* A part of variable length: a word has its offset and length. */
static u32 find_part(const struct fallback_place *place, const u8 *record, u32 size, u32 *ret_bytes)
{
	u32 word, at;

	memcpy(&word, record + place->at, sizeof(word));
	at = (word & 0xffff) + (place->is_relative ? place->at + sizeof(word) : 0);
	*ret_bytes = at + (word >> 16) <= size ? word >> 16 : 0;
	return at;
}

static u32 part_bytes(const struct field *field, const u8 *record, u32 at, u32 bytes)
{
	if (field->form == FORM_STRING)
		return strnlen(record + at, bytes) + 1;
	return sizeof(u16) + bytes / field->elem_bytes * field->elem_bytes;
}

static bool varies(const struct field *field)
{
	return field->form == FORM_STRING || field->form == FORM_DYNAMIC;
}

static u32 payload_bytes(const struct fallback *fallback, const u8 *record, u32 size)
{
	u32 len = fallback->fixed, bytes, at, i;

	for (i = 0; i < fallback->event.nr_fields; i++) {
		if (!varies(&fallback->fields[i]))
			continue;
		at = find_part(&fallback->places[i], record, size, &bytes);
		len += part_bytes(&fallback->fields[i], record, at, bytes);
	}
	return len;
}

static u8 *put_part(u8 *to, const struct field *field, const u8 *from, u32 bytes)
{
	u16 count = bytes / field->elem_bytes;

	if (field->form == FORM_STRING) {
		bytes = strnlen(from, bytes);
		memcpy(to, from, bytes);
		to[bytes] = 0;
		return to + bytes + 1;
	}
	memcpy(to, &count, sizeof(count));
	memcpy(to + sizeof(count), from, count * field->elem_bytes);
	return to + sizeof(count) + count * field->elem_bytes;
}

static void put_payload(u8 *to, const struct fallback *fallback, const u8 *record, u32 size)
{
	u32 bytes, at, i;

	for (i = 0; i < fallback->event.nr_fields; i++) {
		memcpy(to, record + fallback->places[i].at, fallback->places[i].bytes);
		to += fallback->places[i].bytes;
	}
	for (i = 0; i < fallback->event.nr_fields; i++) {
		if (!varies(&fallback->fields[i]))
			continue;
		at = find_part(&fallback->places[i], record, size, &bytes);
		to = put_part(to, &fallback->fields[i], record + at, bytes);
	}
}

/* Perf calls this with preemption off; the record is this CPU's until we return. */
static void on_sample(struct perf_event *counter, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	struct hook *hook = counter->overflow_handler_context;
	const struct fallback *fallback = container_of(hook->event, struct fallback, event);
	const u8 *record = data->raw->frag.data;
	u32 size = data->raw->frag.size;
	struct ring *ring;
	u8 *payload;

	payload = ring_begin(&hook->source, payload_bytes(fallback, record, size), &ring);
	if (!payload)
		return;
	put_payload(payload, fallback, record, size);
	ring_end(ring);
}

/* --- on and off ------------------------------------------------------------ */

static int fallback_probe_attach(struct hook *hook)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = container_of(hook->event, struct fallback, event)->type,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
	};
	struct counters *counters = counters_new(&attr, on_sample, hook, hook->event->name);

	if (IS_ERR(counters))
		return PTR_ERR(counters);
	hook->own = counters;
	return 0;
}

static void fallback_probe_detach(struct hook *hook)
{
	counters_free(hook->own);
}

const struct event_kind fallback_kind = {
	.attach = fallback_probe_attach,
	.detach = fallback_probe_detach,
	.flags = LTT_KMOD_BY_PERF,
};
