/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packet.h - layout of the header and context of a packet in a stream file.
 *
 * trace/metadata.c has the TSDL that declares it; doc/trace-format.md explains it. All fields are
 * little-endian and packed. According to CTF 1.8.3; the first fields have LTTng's layout, fields of
 * this project follow.
 *
 * Consumers send struct packet_header to relays. There are two forms of it in files: traces of form
 * 1 contain struct packet_header. As readers print each declared field of a context, traces of form
 * 2 have this project's fields in a gap that the metadata does not declare (packet_to_file()). Both
 * have the same size.
 */
#ifndef TRACE_PACKET_H
#define TRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAGIC 0xc1fc1fc1u

struct packet_header {
	/* packet.header */
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;	     /* stream class = channel */
	uint64_t stream_instance_id; /* CPU */
	/* packet.context */
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size; /* bits; equal to packet_size, as there is no padding */
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* sum of the four causes of loss below; cumulative */
	uint32_t cpu_id;
	/* fields of this project */
	uint64_t stream_pos;	  /* position of the first byte, from the ring's creation */
	uint64_t events_recorded; /* records from the stream's begin to this packet's end */
	uint64_t lost_full;	  /* causes of loss, cumulative */
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t lost_output; /* recorded, but the output failed */
	uint32_t crc32c;      /* of the packet, computed with 0 in this field */
} __attribute__((packed));

/** Whether @header is set: a header with magic 0 means "no packet". */
static inline bool packet_is_set(const struct packet_header *header)
{
	return header->magic != 0;
}

/**
 * struct packet_file_header - a packet's header in the files of a trace of form 2: the metadata
 * aligns stream_id to 64 bytes, so that readers skip the gap before it.
 */
struct packet_file_header {
	/* packet.header */
	uint32_t magic;
	uint32_t stream_instance_id;
	/* the gap */
	uint32_t form;	 /* PACKET_FORM_HIDING */
	uint32_t crc32c; /* computed over the struct packet_header */
	uint64_t stream_pos;
	uint64_t events_recorded;
	uint64_t lost_full;
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t lost_output;
	/* packet.header */
	uint32_t stream_id;
	uint8_t uuid[16];
	/* packet.context */
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
} __attribute__((packed));

#define PACKET_FORM_HIDING 2u

/** A packet's header in a file, of either form. */
union packet_bytes {
	struct packet_header plain;
	struct packet_file_header hiding;
};

/** @hides: the trace has form 2. */
void packet_to_file(const struct packet_header *header, bool hides, union packet_bytes *ret);
/** Convert a header of a file. Return: false: it does not have that form. Nothing else is
 *  checked. */
bool packet_from_file(const union packet_bytes *bytes, bool hides, struct packet_header *ret);
/** Offsets of the content size and the checksum in the header in a file. */
size_t packet_content_at(bool hides);
size_t packet_crc_at(bool hides);

/** CRC-32C of a packet, with the header's checksum field taken as 0. */
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
