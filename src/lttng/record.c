// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions that a provider's function calls to record an event: it reserves the event's size,
 * writes field by field, and commits. Runs in any thread and any signal handler, between
 * lttng_ust_urcu_read_lock() and lttng_ust_urcu_read_unlock().
 *
 * The payload is collected in the thread's block, or in libltt's memory if it is larger, or if a
 * signal handler records while its thread does.
 */
#include <errno.h>
#include <string.h>

#include <ltt/payload.h>

#include "event.h"
#include "readers.h"

static struct event *record_event_of(const struct tp_common *common)
{
	return (struct event *)((char *)common - offsetof(struct event, common));
}

/* --- values for filters --------------------------------------------------------------------- */

/* The probe's stack is used again before the event is reserved. */
static int record_filter(const struct tp_common *common, const char *stack,
			 struct tp_context *context, void *filter)
{
	const struct event *event = record_event_of(common);
	struct reader *reader = lttng_ust_urcu_reader;
	const size_t bytes = event->nr_slots * sizeof(uint64_t);

	(void)filter;
	for (uint32_t i = 0; i < SAVED_DEPTH && bytes <= sizeof(reader->saved[i].slot); i++) {
		struct saved *saved = &reader->saved[i];

		if (saved->owner && saved->owner != context)
			continue;
		saved->owner = context;
		memcpy(saved->slot, stack, bytes);
		break;
	}
	return 0;
}

static struct saved *record_saved(const struct event *event, const void *context)
{
	struct reader *reader = lttng_ust_urcu_reader;

	for (uint32_t i = 0; event->nr_hidden && i < SAVED_DEPTH; i++)
		if (reader->saved[i].owner == context)
			return &reader->saved[i];
	return NULL;
}

static const void *record_pointer(uint64_t slot)
{
	return (const void *)(uintptr_t)slot;
}

static size_t hidden_bytes(const struct hidden *hidden, const struct saved *saved)
{
	const struct ltt_field *field = hidden->field;
	const uint64_t value = saved->slot[hidden->slot];

	switch (field->kind) {
	case LTT_KIND_STRING:
		return strlen(record_pointer(value)) + 1;
	case LTT_KIND_ARRAY:
		return (size_t)field->count * field->size_bits / 8;
	case LTT_KIND_SEQUENCE:
		return field->length_bits / 8 + (size_t)value * field->size_bits / 8;
	default:
		return field->size_bits / 8;
	}
}

/* The stack has a number in the machine's byte order, and each float as a double. */
static void hidden_put_number(unsigned char *to, const struct ltt_field *field, uint64_t value)
{
	double wide;
	float narrow;

	if (field->kind == LTT_KIND_FLOAT && field->size_bits == 32) {
		memcpy(&wide, &value, sizeof(wide));
		narrow = (float)wide;
		value = 0;
		memcpy(&value, &narrow, sizeof(narrow));
	}
	if (field->flags & LTT_FIELD_BIG_ENDIAN)
		value = __builtin_bswap64(value) >> (64 - field->size_bits);
	memcpy(to, &value, field->size_bits / 8);
}

/* @bytes: as hidden_bytes() has it; a string may have become shorter or longer since. */
static void hidden_put(unsigned char *to, size_t bytes, const struct hidden *hidden,
		       const struct saved *saved)
{
	const uint64_t *slot = &saved->slot[hidden->slot];
	const size_t length =
		hidden->field->kind == LTT_KIND_SEQUENCE ? hidden->field->length_bits / 8 : 0;

	switch (hidden->field->kind) {
	case LTT_KIND_STRING:
		memcpy(to, record_pointer(slot[0]), bytes);
		to[bytes - 1] = '\0';
		break;
	case LTT_KIND_ARRAY:
	case LTT_KIND_SEQUENCE:
		memcpy(to, slot, length);
		if (bytes > length)
			memcpy(to + length, record_pointer(slot[1]), bytes - length);
		break;
	default:
		hidden_put_number(to, hidden->field, slot[0]);
	}
}

static size_t hidden_total(const struct event *event, const struct saved *saved)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < event->nr_hidden; i++)
		bytes += hidden_bytes(&event->hidden[i], saved);
	return bytes;
}

/* Up to @room bytes. Return: the bytes. */
static size_t hidden_put_all(unsigned char *to, size_t room, const struct event *event,
			     const struct saved *saved)
{
	size_t used = 0;

	for (uint32_t i = 0; i < event->nr_hidden; i++) {
		const size_t bytes = hidden_bytes(&event->hidden[i], saved);

		if (bytes > room - used)
			break;
		hidden_put(to + used, bytes, &event->hidden[i], saved);
		used += bytes;
	}
	return used;
}

/* --- the event ------------------------------------------------------------------------------ */

/* The payload is behind the frame. */
static __attribute__((noinline)) struct frame *record_stage(struct event *event, size_t bytes)
{
	struct frame *frame = ltt_stage(&event->site, sizeof(*frame) + bytes);

	if (frame)
		frame->payload = (unsigned char *)(frame + 1);
	return frame;
}

static struct event *record_event(const struct tp_reservation *at)
{
	return record_event_of(((const struct tp_recorder *)at->recorder)->parent);
}

struct frame *record_open(struct event *event, const void *owner, size_t bytes)
{
	struct reader *reader = lttng_ust_urcu_reader;
	struct frame *frame = &reader->frame;

	/* An owner at the same place of the stack left by longjmp(). */
	if (likely(bytes <= INLINE_BYTES && (!frame->owner || frame->owner == owner))) {
		frame->owner = owner;
		frame->payload = reader->room;
	} else {
		frame = record_stage(event, bytes);
	}
	if (unlikely(!frame))
		return NULL;
	frame->at = frame->payload;
	frame->end = frame->payload + bytes;
	return frame;
}

static int record_reserve(struct tp_reservation *at)
{
	struct event *event = record_event(at);
	struct saved *saved = record_saved(event, at->context);
	const size_t bytes = at->bytes + (saved ? hidden_total(event, saved) : 0);
	struct frame *frame = record_open(event, at, bytes);

	if (unlikely(!frame)) {
		if (saved)
			saved->owner = NULL;
		return -ENOBUFS;
	}
	at->private = frame;
	return 0;
}

static unsigned char *record_take(struct frame *frame, size_t bytes)
{
	unsigned char *to = frame->at;

	if (unlikely(bytes > (size_t)(frame->end - to)))
		return NULL;
	frame->at = to + bytes;
	return to;
}

void record_bytes(struct frame *frame, const void *from, size_t bytes)
{
	unsigned char *to = record_take(frame, bytes);

	if (unlikely(!to || !from))
		return;
	if (bytes == 4)
		memcpy(to, from, 4);
	else if (bytes == 8)
		memcpy(to, from, 8);
	else
		memcpy(to, from, bytes);
}

static void record_write(struct tp_reservation *at, const void *from, size_t bytes,
			 size_t alignment)
{
	(void)alignment;
	record_bytes(at->private, from, bytes);
}

/* If another thread has made the string shorter since, the rest is '#', as LTTng has it. */
void record_text(struct frame *frame, const char *from, size_t bytes)
{
	unsigned char *to = record_take(frame, bytes);
	unsigned char *end;

	if (unlikely(!to || !bytes))
		return;
	memcpy(to, from, bytes - 1);
	end = memchr(to, 0, bytes - 1);
	if (unlikely(end))
		memset(end, '#', (size_t)(to + bytes - 1 - end));
	to[bytes - 1] = '\0';
}

static void record_write_string(struct tp_reservation *at, const char *from, size_t bytes)
{
	record_text(at->private, from, bytes);
}

/* Text of a fixed length: bytes behind its end are recorded as 0. */
static void record_write_padded(struct tp_reservation *at, const char *from, size_t bytes)
{
	unsigned char *to = record_take(at->private, bytes);
	size_t length;

	if (unlikely(!to || !bytes))
		return;
	length = strnlen(from, bytes);
	memcpy(to, from, length);
	memset(to + length, 0, bytes - length);
}

void record_close(struct frame *frame)
{
	if (likely(frame == &lttng_ust_urcu_reader->frame))
		frame->owner = NULL;
	else
		ltt_unstage(frame);
}

static void record_commit(struct tp_reservation *at)
{
	struct event *event = record_event(at);
	struct saved *saved = record_saved(event, at->context);
	struct frame *frame = at->private;
	const size_t bytes = (size_t)(frame->at - frame->payload);
	size_t extra = 0;

	if (unlikely(saved)) {
		extra = hidden_put_all(frame->at, (size_t)(frame->end - frame->at), event, saved);
		saved->owner = NULL;
	}
	if (likely(bytes == at->bytes))
		ltt_emit_at(&event->site, frame->payload, bytes, extra, at->context->ip);
	record_close(frame);
}

/* --- its structures ------------------------------------------------------------------------ */

static struct tp_session session = { .size = sizeof(session), .active = 1 };
static struct tp_channel channel;
static struct tp_channel_common channel_common = {
	.size = sizeof(channel_common),
	.child = &channel,
	.enabled = 1,
	.session = &session,
};
static struct tp_operations operations = {
	.size = sizeof(operations),
	.reserve = record_reserve,
	.commit = record_commit,
	.write = record_write,
	.write_string = record_write_string,
	.write_padded = record_write_padded,
};
static struct tp_channel channel = {
	.size = sizeof(channel),
	.parent = &channel_common,
	.operations = &operations,
};

void event_prepare_recording(struct event *event)
{
	event->common = (struct tp_common){
		.size = sizeof(event->common),
		.kind = TP_RECORDER,
		.child = &event->recorder,
		.eval_filter = event->nr_hidden != 0,
		.run_filter = record_filter,
	};
	event->recorder = (struct tp_recorder){
		.size = sizeof(event->recorder),
		.parent = &event->common,
		.channel = &channel,
	};
}
