/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packet.h"

#include <string.h>

#include "crc32c.h"
#include "ltt_ring.h"

_Static_assert(sizeof(struct packet_header) == 136, "layout of a file");
_Static_assert(offsetof(struct packet_header, crc32c) == 132, "the last field");

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
