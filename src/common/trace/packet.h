/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packet.h - layout of the header and context of a packet in a stream file.
 *
 * trace/metadata.c has the TSDL that declares it; doc/trace-format.md explains it. All fields are
 * little-endian and packed, according to CTF 1.8.3. Files, relays and viewers have the same bytes.
 *
 * As readers print each declared field of a packet's context, the fields of this project are in a
 * gap that the metadata does not declare: it aligns stream_id to 64 bytes.
 */
#ifndef TRACE_PACKET_H
#define TRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAGIC 0xc1fc1fc1u

#define PACKET_FORM 2u /* distinguishes this layout from that of earlier versions */

struct packet_header {
	/* packet.header */
	uint32_t magic;
	uint32_t stream_instance_id; /* CPU */
	/* the gap */
	uint32_t form;		  /* PACKET_FORM */
	uint32_t crc32c;	  /* of the packet, computed with 0 in this field */
	uint64_t stream_pos;	  /* bytes of the stream before the first one */
	uint64_t events_recorded; /* records from the stream's begin to this packet's end */
	uint64_t lost_full;	  /* causes of loss, cumulative; or events were overwritten */
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t lost_output; /* recorded, but the output failed */
	/* packet.header */
	uint32_t stream_id; /* stream class = channel */
	uint8_t uuid[16];
	/* packet.context */
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size; /* bits; equal to packet_size, as there is no padding */
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* sum of the four causes of loss above; cumulative */
	uint32_t cpu_id;
} __attribute__((packed));

/** The stream that packets belong to. */
struct packet_stream {
	const uint8_t *uuid; /* of the trace */
	uint32_t stream_class;
	uint32_t instance;
	uint32_t cpu;
};

/** Whether @header is set: a header with magic 0 means "no packet". */
static inline bool packet_is_set(const struct packet_header *header)
{
	return header->magic != 0;
}

/** The header of an empty packet of @stream: times, position and counts are 0. */
struct packet_header packet_make(const struct packet_stream *stream);
/** Set both sizes, for a body of @bytes. */
void packet_set_body(struct packet_header *header, uint64_t bytes);
/** Size of the body. @header: of a valid packet. */
static inline uint64_t packet_body_bytes(const struct packet_header *header)
{
	return header->packet_size / 8 - sizeof(*header);
}

/** The header of an empty packet after @last, with which a stream goes on in another chunk: it has
 *  the next number, and the same counts. The checksum is 0. */
struct packet_header packet_opening(const struct packet_header *last);

/** Outcome of packet_check(). */
enum packet_kind {
	PACKET_FITS,
	PACKET_INVALID, /* it is no header, or that of an unfinished packet, or too large */
	PACKET_FOREIGN, /* it belongs to another stream */
};

/** Check a header that was read or received. @room: most bytes of the packet. */
enum packet_kind packet_check(const struct packet_header *header,
			      const struct packet_stream *stream, uint64_t room);

/** CRC-32C of a packet, with the header's checksum field taken as 0. Without a body, the result can
 *  be continued with it by crc32c(). */
uint32_t packet_checksum(const struct packet_header *header, const void *body, size_t len);

/**
 * packet_first_ts() - the time of the first record of a packet: a compact record header has only
 * the low bits of the clock, which are completed by the packet's begin (see ltt_ring.h).
 * @body: the body, or its first PACKET_FIRST_BYTES.
 * Return: the time; the packet's begin, if there are no records.
 */
uint64_t packet_first_ts(const struct packet_header *header, const void *body, size_t len);
#define PACKET_FIRST_BYTES 13u

#endif
