/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packet.h"

#include <string.h>

#include "crc32c.h"
#include "ltt_ring.h"

_Static_assert(sizeof(struct packet_header) == 136, "layout of a file");
_Static_assert(offsetof(struct packet_header, crc32c) == 132, "the last field");
_Static_assert(sizeof(struct packet_file_header) == sizeof(struct packet_header), "room in files");
_Static_assert(offsetof(struct packet_file_header, stream_id) == 64, "as the metadata aligns it");

/* All that has the same name on both sides. */
#define COPY_FIELDS(to, from)                                      \
	do {                                                       \
		(to)->magic = (from)->magic;                       \
		(to)->crc32c = (from)->crc32c;                     \
		(to)->stream_pos = (from)->stream_pos;             \
		(to)->events_recorded = (from)->events_recorded;   \
		(to)->lost_full = (from)->lost_full;               \
		(to)->lost_size = (from)->lost_size;               \
		(to)->lost_busy = (from)->lost_busy;               \
		(to)->lost_output = (from)->lost_output;           \
		(to)->stream_id = (from)->stream_id;               \
		memcpy((to)->uuid, (from)->uuid, 16);              \
		(to)->timestamp_begin = (from)->timestamp_begin;   \
		(to)->timestamp_end = (from)->timestamp_end;       \
		(to)->content_size = (from)->content_size;         \
		(to)->packet_size = (from)->packet_size;           \
		(to)->packet_seq_num = (from)->packet_seq_num;     \
		(to)->events_discarded = (from)->events_discarded; \
		(to)->cpu_id = (from)->cpu_id;                     \
	} while (0)

void packet_to_file(const struct packet_header *header, bool hides, union packet_bytes *ret)
{
	if (!hides) {
		ret->plain = *header;
		return;
	}
	ret->hiding.stream_instance_id = (uint32_t)header->stream_instance_id;
	ret->hiding.form = PACKET_FORM_HIDING;
	COPY_FIELDS(&ret->hiding, header);
}

bool packet_from_file(const union packet_bytes *bytes, bool hides, struct packet_header *ret)
{
	if (!hides) {
		*ret = bytes->plain;
		return true;
	}
	ret->stream_instance_id = bytes->hiding.stream_instance_id;
	COPY_FIELDS(ret, &bytes->hiding);
	return bytes->hiding.form == PACKET_FORM_HIDING;
}

size_t packet_content_at(bool hides)
{
	return hides ? offsetof(struct packet_file_header, content_size) :
		       offsetof(struct packet_header, content_size);
}

size_t packet_crc_at(bool hides)
{
	return hides ? offsetof(struct packet_file_header, crc32c) :
		       offsetof(struct packet_header, crc32c);
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
