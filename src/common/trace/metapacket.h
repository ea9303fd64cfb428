/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metapacket.h - packets of a metadata file: a header, then text, whose end is a checksum, the
 * trailer. Each is one part that was appended. Pure: bytes only.
 *
 * CTF 1.8: the header is that of CTF 1.8.3, 7.1; its magic's byte order is the trace's. Readers
 * reject a packet whose header has a checksum, so the trailer is a comment.
 *
 * CTF 2: readers know no packets, but a sequence of fragments (trace/fragment.h). So header and
 * trailer are white space in it: the header is the separator of the first fragment and the size of
 * the packet, the trailer is behind the last one. Each character is two bits, the highest first.
 */
#ifndef TRACE_METAPACKET_H
#define TRACE_METAPACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define METAPACKET_MAGIC 0x75d11d57u
#define METAPACKET_SEPARATOR '\x1e' /* of fragments */
/* The first fragment of CTF 2 begins so; the UUID's numbers follow, metadata_uuid_numbers(). */
#define METAPACKET_PREAMBLE "{\"type\":\"preamble\",\"version\":2,\"uuid\":["

/** Header in CTF 1.8. */
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

/** Header in CTF 2. */
struct metapacket_spaces {
	char separator;
	char size[16]; /* bytes of the packet, this header included */
} __attribute__((packed));

/** Header of a packet with @len bytes of text, trailer included, and no padding. */
struct metapacket_header metapacket_header_make(const uint8_t uuid[16], uint32_t len);
/** The same in CTF 2. */
struct metapacket_spaces metapacket_spaces_make(uint32_t len);

/** Whether text has the form of CTF 2: it begins with a separator. */
bool metapacket_is_ctf_2(const void *text, size_t len);

#define METAPACKET_TRAILER_BYTES 22u

/** Write the trailer of @text, all that is between it and the header; without a NUL. */
void metapacket_trailer_make(const void *text, size_t len, bool ctf_2,
			     char ret[METAPACKET_TRAILER_BYTES]);

/** Whether @text, the complete text of a packet, ends with a trailer whose checksum is wrong. */
bool metapacket_is_damaged(const void *text, size_t len);

/** A packet in a file, by its first bytes. */
struct metapacket {
	bool ctf_2;
	bool has_uuid;	     /* of CTF 2, the first one of a file alone has it */
	uint8_t uuid[16];    /* of the trace */
	uint32_t head_bytes;
	uint32_t bytes;	     /* all of it */
	uint32_t text_bytes; /* behind the header, trailer included */
};
#define METAPACKET_PEEK_BYTES 128u

/** metapacket_parse() - @bytes: the first ones of a packet, up to METAPACKET_PEEK_BYTES. Return:
 *  whether it is a packet. */
bool metapacket_parse(const uint8_t *bytes, size_t len, struct metapacket *ret) MUST_CHECK;

#endif
