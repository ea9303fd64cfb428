/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packet.h"

#include <string.h>

#include "crc32c.h"
#include "ltt_ring.h"

_Static_assert(sizeof(struct packet_header) == 136, "layout of a file");
_Static_assert(offsetof(struct packet_header, stream_id) == 64, "as the metadata aligns it");

struct packet_header packet_make(const struct packet_stream *stream)
{
	struct packet_header header = {
		.magic = PACKET_MAGIC,
		.form = PACKET_FORM,
		.stream_id = stream->stream_class,
		.stream_instance_id = stream->instance,
		.cpu_id = stream->cpu,
	};

	memcpy(header.uuid, stream->uuid, sizeof(header.uuid));
	packet_set_body(&header, 0);
	return header;
}

void packet_set_body(struct packet_header *header, uint64_t bytes)
{
	header->content_size = header->packet_size = (sizeof(*header) + bytes) * 8;
}

struct packet_header packet_opening(const struct packet_header *last)
{
	struct packet_header opening = *last;

	opening.packet_seq_num++;
	opening.stream_pos += packet_body_bytes(last);
	opening.timestamp_begin = opening.timestamp_end;
	opening.crc32c = 0;
	packet_set_body(&opening, 0);
	return opening;
}

/* No packet can follow the last sequence number. */
enum packet_kind packet_check(const struct packet_header *h, const struct packet_stream *stream,
			      uint64_t room)
{
	uint64_t bytes = h->packet_size / 8;

	if (h->magic != PACKET_MAGIC || h->form != PACKET_FORM || h->packet_size % 8 ||
	    h->content_size != h->packet_size || bytes < sizeof(*h) || bytes > room ||
	    h->packet_seq_num == UINT64_MAX)
		return PACKET_INVALID;
	if (memcmp(h->uuid, stream->uuid, sizeof(h->uuid)) != 0 ||
	    h->stream_id != stream->stream_class || h->stream_instance_id != stream->instance)
		return PACKET_FOREIGN;
	return PACKET_FITS;
}

uint32_t packet_checksum(const struct packet_header *header, const void *body, size_t len)
{
	struct packet_header copy = *header;

	copy.crc32c = 0;
	return crc32c(crc32c(0, &copy, sizeof(copy)), body, len);
}

_Static_assert(PACKET_FIRST_BYTES == LTT_HDR_EXTENDED, "the longest header of a record");

uint64_t packet_first_ts(const struct packet_header *header, const void *body, size_t len)
{
	const uint64_t low = (1ull << LTT_TS_BITS) - 1;
	uint64_t ts = header->timestamp_begin;
	uint32_t word;

	if (len < LTT_HDR_COMPACT)
		return ts;
	memcpy(&word, body, sizeof(word));
	if ((word & LTT_ID_EXTENDED) != LTT_ID_EXTENDED)
		ts = (ts & ~low) | word >> (32 - LTT_TS_BITS);
	else if (len >= LTT_HDR_EXTENDED)
		memcpy(&ts, (const uint8_t *)body + LTT_HDR_EXTENDED - sizeof(ts), sizeof(ts));
	return ts >= header->timestamp_begin && ts <= header->timestamp_end ?
		       ts :
		       header->timestamp_begin;
}
