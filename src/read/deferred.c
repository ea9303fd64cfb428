/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "deferred.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "read/decode/plan.h"

#define SPARED_MOST ((size_t)2 << 20) /* bytes that a decoder keeps for parts to come */
#define PART_BEHIND ((size_t)512) /* bytes that are read behind the begin of the last event */

/** struct deferred_packet - @slots: of the values in the packet's header and context. */
struct deferred_packet {
	unsigned int refs;
	struct window_file *file;
	const struct source *source;
	struct packet packet;
	uint64_t *slots;
	uint32_t nr_slots;
};

/* --- packets ------------------------------------------------------------------------------- */

/* Texts of the context are in the head, but those that were converted. */
static void deferred_copy_context(struct packet *to, const struct packet *from)
{
	to->head = xalloc(from->head_size + 1);
	if (from->head_size)
		memcpy(to->head, from->head, from->head_size);
	to->context.texts = NULL;
	to->context.size = from->context.nr;
	to->context.at = xalloc((from->context.nr + 1) * sizeof(*to->context.at));
	for (uint32_t i = 0; i < from->context.nr; i++) {
		struct value *value = &to->context.at[i];

		*value = from->context.at[i];
		if (value->type->kind != TYPE_STRING && !value_is_packed(value))
			continue;
		if (values_has_text(&from->context, value))
			value->bytes = values_add_text(&to->context, value->bytes, value->count);
		else
			value->bytes = to->head + (value->bytes - from->head);
	}
}

struct deferred_packet *deferred_packet_new(const struct view *view)
{
	const struct feed *feed = view->current;
	struct deferred_packet *packet = xalloc(sizeof(*packet));

	packet->refs = 1;
	packet->file = window_file_ref(feed->window.file);
	packet->source = feed->source;
	packet->packet = feed->packet;
	deferred_copy_context(&packet->packet, &feed->packet);
	packet->packet.shown = xalloc(feed->packet.shown_len + PACKET_SHOWN_MORE);
	if (feed->packet.shown)
		memcpy(packet->packet.shown, feed->packet.shown, feed->packet.shown_len);
	packet->nr_slots = feed->source->tc->nr_slots;
	packet->slots = xalloc((packet->nr_slots + 1) * sizeof(*packet->slots));
	memcpy(packet->slots, feed->reader.slots, packet->nr_slots * sizeof(*packet->slots));
	return packet;
}

struct deferred_packet *deferred_packet_ref(struct deferred_packet *packet)
{
	__atomic_fetch_add(&packet->refs, 1, __ATOMIC_RELAXED);
	return packet;
}

void deferred_packet_unref(struct deferred_packet *packet)
{
	if (!packet || __atomic_sub_fetch(&packet->refs, 1, __ATOMIC_ACQ_REL))
		return;
	window_file_unref(packet->file);
	packet_fini(&packet->packet);
	free(packet->slots);
	free(packet);
}

/* --- decoding ------------------------------------------------------------------------------ */

void deferred_decoder_fini(struct deferred_decoder *decoder)
{
	values_fini(&decoder->values);
	free(decoder->slots);
	while (decoder->nr_spares)
		free(decoder->spares[--decoder->nr_spares].bytes);
}

void deferred_part_release(struct deferred_decoder *decoder, struct deferred_part *part)
{
	decoder->part = NULL;
	if (part->bytes && decoder->nr_spares < DEFERRED_SPARES &&
	    decoder->spared + part->size <= SPARED_MOST) {
		decoder->spares[decoder->nr_spares++] =
			(struct deferred_spare){ part->bytes, part->size };
		decoder->spared += part->size;
	} else {
		free(part->bytes);
	}
	part->bytes = NULL;
	part->len = part->size = 0;
}

/* Have memory for @size bytes. */
static void deferred_grow(struct deferred_decoder *decoder, struct deferred_part *part, size_t size)
{
	if (!part->bytes && decoder->nr_spares) {
		const struct deferred_spare *spare = &decoder->spares[--decoder->nr_spares];

		decoder->spared -= spare->size;
		part->bytes = spare->bytes;
		part->size = spare->size;
	}
	if (part->size >= size)
		return;
	if (!part->len)
		free(TAKE(part->bytes));
	part->bytes = xrealloc(part->bytes, size);
	part->size = size;
}

/* More bytes than are there, up to the packet's end. Return: whether there are. */
static bool deferred_load(struct deferred_decoder *decoder, struct deferred_part *part)
{
	const struct packet *packet = &part->packet->packet;
	uint64_t content = (packet->content_bits + 7) >> 3;
	size_t len =
		part->bytes ? 2 * part->len + PART_BEHIND : part->last - part->from + PART_BEHIND;

	len = MIN(len, content - part->from);
	if ((part->bytes && len <= part->len) || len > WINDOW_MAX)
		return false;
	decoder->part = NULL;
	deferred_grow(decoder, part, MAX(len, 1u)); /* there may be none behind the last header */
	while (part->len < len) {
		ssize_t n = pread(part->packet->file->fd, part->bytes + part->len, len - part->len,
				  (off_t)(packet->offset + part->from + part->len));

		if (n <= 0)
			return false;
		part->len += (size_t)n;
	}
	part->end = MIN((part->from + len) * 8, packet->content_bits);
	return true;
}

static void deferred_take_slots(struct deferred_decoder *decoder,
				const struct deferred_packet *packet)
{
	size_t size = packet->nr_slots * sizeof(*decoder->slots);

	if (decoder->nr_slots < packet->nr_slots || !decoder->slots) {
		decoder->nr_slots = packet->nr_slots;
		decoder->slots = xrealloc(decoder->slots, size + sizeof(*decoder->slots));
	}
	memcpy(decoder->slots, packet->slots, size);
	decoder->reader.slots = decoder->slots;
	decoder->packet = packet;
}

static int deferred_scope(struct reader *reader, const struct ctf_type *type, int32_t *ret)
{
	*ret = type ? (int32_t)reader->values->nr : -1;
	return reader_struct(reader, type);
}

/* @bases: NULL: decode it, and set @scopes. */
static int deferred_read(struct deferred_decoder *decoder, const struct deferred_part *part,
			 uint64_t at, const struct ctf_event_class *ec, int32_t scopes[3],
			 const uint8_t **bases)
{
	struct reader *reader = &decoder->reader;
	int result;

	reader->bytes = part->bytes;
	reader->base = part->from;
	reader->end = part->end;
	reader->pos = at;
	decoder->part = part;
	if (bases)
		return plan_locate(reader, ec->skipped, bases);
	reader->slots = decoder->slots;
	reader->values = &decoder->values;
	decoder->values.nr = 0;
	result = deferred_scope(reader, part->packet->packet.sc->event_context, &scopes[0]);
	result = result ? result : deferred_scope(reader, ec->context, &scopes[1]);
	return result ? result : deferred_scope(reader, ec->fields, &scopes[2]);
}

static const struct value *deferred_value(const struct deferred_decoder *decoder, int32_t index)
{
	return index < 0 ? NULL : &decoder->values.at[index];
}

/* Most events are behind another one in the bytes of their part. */
static bool deferred_is_at_hand(const struct deferred_decoder *decoder,
				const struct deferred_part *part, const struct ctf_event_class *ec)
{
	return decoder->part == part && (!ec->uses_slots || decoder->packet == part->packet);
}

/* Have the bytes of an event, and read it. */
static bool deferred_have(struct deferred_decoder *decoder, struct deferred_part *part, uint64_t at,
			  const struct ctf_event_class *ec, int32_t scopes[3],
			  const uint8_t **bases)
{
	int result = READ_SHORT;

	if (ec->uses_slots && decoder->packet != part->packet)
		deferred_take_slots(decoder, part->packet);
	if (part->bytes)
		result = deferred_read(decoder, part, at, ec, scopes, bases);
	while (result == READ_SHORT && deferred_load(decoder, part))
		result = deferred_read(decoder, part, at, ec, scopes, bases);
	return result == READ_OK;
}

bool deferred_locate(struct deferred_decoder *decoder, struct deferred_part *part, uint64_t at,
		     struct ctf_event_class *ec, int64_t ns, const uint8_t **bases,
		     struct event *ret)
{
	decoder->reader.pos = at;
	if ((!deferred_is_at_hand(decoder, part, ec) ||
	     plan_locate(&decoder->reader, ec->skipped, bases) != READ_OK) &&
	    !deferred_have(decoder, part, at, ec, NULL, bases))
		return false;
	event_init(ret, part->packet->source, ec, &part->packet->packet, ns);
	ret->bases = bases;
	return true;
}

bool deferred_decode(struct deferred_decoder *decoder, struct deferred_part *part, uint64_t at,
		     struct ctf_event_class *ec, int64_t ns, struct event *ret)
{
	struct deferred_packet *packet = part->packet;
	int32_t scopes[3];

	if (!deferred_have(decoder, part, at, ec, scopes, NULL))
		return false;
	event_init(ret, packet->source, ec, &packet->packet, ns);
	ret->stream_context = deferred_value(decoder, scopes[0]);
	ret->context = deferred_value(decoder, scopes[1]);
	ret->fields = deferred_value(decoder, scopes[2]);
	ret->task.procname = deferred_value(decoder, ec->task_at[0]);
	ret->task.pid = deferred_value(decoder, ec->task_at[1]);
	ret->task.tid = deferred_value(decoder, ec->task_at[2]);
	return true;
}
