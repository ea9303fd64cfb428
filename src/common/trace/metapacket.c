/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metapacket.h"

#include <stdio.h>
#include <string.h>

#include "crc32c.h"

_Static_assert(sizeof(struct metapacket_header) == 37, "layout of a file");

struct metapacket_header metapacket_header_make(const uint8_t uuid[16], uint32_t len)
{
	struct metapacket_header header = {
		.magic = METAPACKET_MAGIC,
		.content_size = ((uint32_t)sizeof(header) + len) * 8,
		.packet_size = ((uint32_t)sizeof(header) + len) * 8,
		.major = 1,
		.minor = 8,
	};

	memcpy(header.uuid, uuid, sizeof(header.uuid));
	return header;
}

void metapacket_trailer_make(const void *text, size_t len, char ret[METAPACKET_TRAILER_BYTES])
{
	char buf[METAPACKET_TRAILER_BYTES + 1];

	snprintf(buf, sizeof(buf), "/* crc32c %08x */\n", crc32c(0, text, len));
	memcpy(ret, buf, METAPACKET_TRAILER_BYTES);
}

bool metapacket_is_damaged(const void *text, size_t len)
{
	char own[METAPACKET_TRAILER_BYTES];
	const char *trailer = (const char *)text + len - METAPACKET_TRAILER_BYTES;

	if (len < METAPACKET_TRAILER_BYTES || memcmp(trailer, "/* crc32c ", 10) != 0)
		return false;
	metapacket_trailer_make(text, len - METAPACKET_TRAILER_BYTES, own);
	return memcmp(trailer, own, METAPACKET_TRAILER_BYTES) != 0;
}
