/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packet.h"

#include "base/mem.h"
#include "trace/crc32c.h"
#include "trace/packet.h"

void packet_fini(struct packet *packet)
{
	values_fini(&packet->context);
	free(packet->head);
	free(packet->shown);
	*packet = (struct packet){ 0 };
}

static int view_packet_error(struct packet *packet, const char *why)
{
	packet->why = why;
	return PACKET_BAD;
}

/* Where a role's value is kept. */
static uint64_t *place(struct packet *p, enum field_role role)
{
	switch (role) {
	case ROLE_STREAM_ID:
		return &p->stream_id;
	case ROLE_STREAM_INSTANCE:
		return &p->instance;
	case ROLE_BEGIN:
		return &p->begin;
	case ROLE_END:
		return &p->end;
	case ROLE_CONTENT_SIZE:
		return &p->content_bits;
	case ROLE_PACKET_SIZE:
		return &p->size;
	case ROLE_SEQ_NUM:
		return &p->seq_num;
	case ROLE_DISCARDED:
		return &p->lost[VIEW_LOST_OTHER];
	case ROLE_STREAM_POS:
		return &p->stream_pos;
	case ROLE_RECORDED:
		return &p->recorded;
	case ROLE_CRC32C:
		return &p->crc32c;
	case ROLE_LOST_FULL:
		return &p->lost[VIEW_LOST_FULL];
	case ROLE_LOST_SIZE:
		return &p->lost[VIEW_LOST_SIZE];
	case ROLE_LOST_BUSY:
		return &p->lost[VIEW_LOST_BUSY];
	case ROLE_LOST_OUTPUT:
		return &p->lost[VIEW_LOST_OUTPUT];
	default:
		return NULL;
	}
}

static bool uuid_fits(const struct value *value, const struct ctf_trace_class *tc)
{
	return !tc->has_uuid || !value_is_packed(value) || value->count != 16 || value->bit ||
	       !memcmp(value->bytes, tc->uuid, 16);
}

/* Get the values that the reader itself needs from a header or context. */
static int take_roles(struct packet *packet, const struct ctf_trace_class *tc,
		      const struct values *values)
{
	for (uint32_t i = 0; i < values->nr; i++) {
		const struct value *value = &values->at[i];
		enum field_role role = value->field ? value->field->role : ROLE_NONE;
		uint64_t *to = place(packet, role);

		if (role == ROLE_MAGIC && value->u != PACKET_MAGIC)
			return view_packet_error(packet, "its magic number is wrong");
		if (role == ROLE_UUID && !uuid_fits(value, tc))
			return view_packet_error(packet, "it belongs to another trace");
		if (to && (value->type->kind == TYPE_INT || value->type->kind == TYPE_ENUM)) {
			*to = value->u;
			packet->has |= 1u << role;
		}
		if (value->field && !strcmp(value->field->shown, "cpu_id"))
			packet->cpu = value->u;
	}
	return PACKET_OK;
}

static int view_packet_read_struct(struct packet *packet, struct reader *reader,
				   const struct ctf_type *type)
{
	int result = reader_struct(reader, type);

	if (result == READ_SHORT)
		return PACKET_SHORT;
	return result ? view_packet_error(packet, "its header can't be decoded") : PACKET_OK;
}

/* Sizes arrive in bits. */
static int check_sizes(struct packet *packet, uint64_t file_left)
{
	if (!packet_has(packet, ROLE_PACKET_SIZE) && packet_has(packet, ROLE_CONTENT_SIZE))
		packet->size = packet->content_bits;
	else if (!packet_has(packet, ROLE_PACKET_SIZE))
		packet->size = file_left > UINT64_MAX / 8 ? UINT64_MAX - 7 : file_left * 8;
	if (!packet_has(packet, ROLE_CONTENT_SIZE))
		packet->content_bits = packet->size;
	if (packet->size % 8)
		return view_packet_error(packet, "its size is not a whole number of bytes");
	packet->size /= 8;
	if (packet->content_bits > packet->size * 8 || packet->content_bits < packet->head_bits)
		return view_packet_error(packet, "its sizes are invalid");
	if (packet_has(packet, ROLE_BEGIN) && packet_has(packet, ROLE_END) && packet->end &&
	    packet->end < packet->begin)
		return view_packet_error(packet, "it ends before it begins");
	return PACKET_OK;
}

/* If the causes are given, their sum is only a check. */
static int view_packet_check_losses(struct packet *packet)
{
	uint64_t sum = 0;

	if (!packet_has(packet, ROLE_LOST_FULL))
		return PACKET_OK;
	for (int i = VIEW_LOST_FULL; i <= VIEW_LOST_OUTPUT; i++)
		sum += packet->lost[i];
	if (packet_has(packet, ROLE_DISCARDED) && packet->lost[VIEW_LOST_OTHER] != sum)
		return view_packet_error(packet, "its counts of losses contradict each other");
	packet->lost[VIEW_LOST_OTHER] = 0;
	return PACKET_OK;
}

static void set_hidden(struct packet *packet, enum field_role role, uint64_t value)
{
	*place(packet, role) = value;
	packet->has |= 1u << role;
}

/* The gap of a header of this project, see trace/packet.h. */
static int take_hidden(struct packet *packet, const uint8_t *bytes, size_t len)
{
	struct packet_header h;

	if (len < sizeof(h))
		return PACKET_SHORT;
	if (packet->head_bits != sizeof(h) * 8)
		return view_packet_error(packet, "its header differs from the metadata");
	memcpy(&h, bytes, sizeof(h));
	if (h.form != PACKET_FORM)
		return view_packet_error(packet, "its header is damaged");
	set_hidden(packet, ROLE_STREAM_POS, h.stream_pos);
	set_hidden(packet, ROLE_RECORDED, h.events_recorded);
	set_hidden(packet, ROLE_LOST_FULL, h.lost_full);
	set_hidden(packet, ROLE_LOST_SIZE, h.lost_size);
	set_hidden(packet, ROLE_LOST_BUSY, h.lost_busy);
	set_hidden(packet, ROLE_LOST_OUTPUT, h.lost_output);
	set_hidden(packet, ROLE_CRC32C, h.crc32c);
	return PACKET_OK;
}

uint32_t packet_head_sum(const struct packet *packet, const struct ctf_trace_class *tc)
{
	const size_t len = packet->head_bits / 8 - sizeof(uint32_t);
	static const uint8_t zeros[sizeof(uint32_t)];
	struct packet_header h;

	if (!tc->hides) /* it declares the field, as the last one */
		return crc32c(crc32c(0, packet->head, len), zeros, sizeof(zeros));
	memcpy(&h, packet->head, sizeof(h));
	return packet_checksum(&h, NULL, 0);
}

static int view_packet_parse(struct packet *packet, const struct ctf_trace_class *tc,
			     struct reader *reader, uint64_t file_left)
{
	int r = view_packet_read_struct(packet, reader, tc->packet_header);

	r = r ? r : take_roles(packet, tc, &packet->context);
	if (r)
		return r;
	if (!packet_has(packet, ROLE_STREAM_ID) && tc->streams)
		packet->stream_id = tc->streams->id;
	packet->sc = trace_class_stream(tc, packet->stream_id);
	if (!packet->sc || packet->sc->broken)
		return view_packet_error(packet, "its stream is not in the metadata");
	packet->context.nr = 0;
	r = view_packet_read_struct(packet, reader, packet->sc->packet_context);
	r = r ? r : take_roles(packet, tc, &packet->context);
	packet->head_bits = reader->pos;
	if (!r && tc->hides)
		r = take_hidden(packet, reader->bytes, reader->end / 8);
	r = r ? r : check_sizes(packet, file_left);
	return r ? r : view_packet_check_losses(packet);
}

/* The context outlives the window: its texts point into a copy. */
static void copy_head(struct packet *packet, const uint8_t *bytes, size_t len)
{
	if (len > packet->head_size) {
		packet->head = xrealloc(packet->head, len);
		packet->head_size = len;
	}
	memcpy(packet->head, bytes, len);
}

int packet_parse(struct packet *packet, const struct ctf_trace_class *tc, const uint8_t *bytes,
		 size_t len, uint64_t offset, uint64_t file_left, uint64_t *slots)
{
	struct packet fresh = { .offset = offset,
				.context = packet->context,
				.head = packet->head,
				.head_size = packet->head_size };
	struct reader reader = { .slots = slots, .values = &packet->context };
	int r;

	free(packet->shown);
	*packet = fresh;
	packet->context.nr = 0;
	len = MIN(len, PACKET_MAX_HEAD);
	if (!len)
		return PACKET_SHORT;
	copy_head(packet, bytes, len);
	reader.bytes = packet->head;
	reader.end = len * 8;
	r = view_packet_parse(packet, tc, &reader, file_left);
	return r == PACKET_SHORT && len == PACKET_MAX_HEAD ?
		       view_packet_error(packet, "its header is too long") :
		       r;
}
