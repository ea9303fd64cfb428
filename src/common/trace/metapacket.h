/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metapacket.h - header of a packet in a metadata file (CTF 1.8.3, 7.1): 37
 * bytes, then text. The magic's byte order is the trace's. Pure: bytes only.
 */
#ifndef TRACE_METAPACKET_H
#define TRACE_METAPACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METAPACKET_MAGIC 0x75d11d57u

struct metapacket_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum;     /* none: 0 */
	uint32_t content_size; /* bits, this header included */
	uint32_t packet_size;  /* bits */
	uint8_t compression_scheme;
	uint8_t encryption_scheme;
	uint8_t checksum_scheme;
	uint8_t major;
	uint8_t minor;
} __attribute__((packed));

/** Header of a packet with @len bytes of text and no padding. */
struct metapacket_header metapacket_header_make(const uint8_t uuid[16], uint32_t len);

/*
 * Readers reject a packet whose header has a checksum, so the checksum is in a comment at the
 * end of the text: the trailer, which covers all bytes before it.
 */
#define METAPACKET_TRAILER_BYTES 22u

/** Write the trailer of @text, without a NUL. */
void metapacket_trailer_make(const void *text, size_t len, char ret[METAPACKET_TRAILER_BYTES]);

/** Whether @text, the complete text of a packet, ends with a trailer whose checksum is wrong. */
bool metapacket_is_damaged(const void *text, size_t len);

#endif
