/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packet.h - header and context of a packet in a stream file, as bytes.
 *
 * The TSDL that describes it is written by sessiond (trace/metadata.c) from the
 * same file of facts; doc/trace-format.md explains it. All little-endian, packed.
 * Source: CTF 1.8.3; the leading fields are laid out as LTTng's are, ours follow.
 *
 * struct packet_header is what daemons and relays exchange, and what the files of traces of form 1
 * have. Readers print each field that a context declares, so the files of form 2 have ours in a gap
 * that the metadata does not declare (packet_to_file()). Both take the same room.
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
	uint64_t content_size; /* bits; equal to packet_size: no padding, ever */
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* sum of the four below; cumulative */
	uint32_t cpu_id;
	/* ours */
	uint64_t stream_pos;	  /* position of the first byte in the ring's life */
	uint64_t events_recorded; /* records from the stream's begin to this packet's end */
	uint64_t lost_full;	  /* causes of loss, cumulative */
	uint64_t lost_size;
	uint64_t lost_busy;
	uint64_t lost_output; /* published, but the output failed */
	uint32_t crc32c;      /* of the packet, this field taken as 0 */
} __attribute__((packed));

/** Whether @header was set: one whose magic is 0 stands for "there is none". */
static inline bool packet_is_set(const struct packet_header *header)
{
	return header->magic != 0;
}

/**
 * struct packet_file_header - a packet's header in the files of a trace of form 2: the gap in front
 * of stream_id is that of a field that is aligned to 64 bytes.
 */
struct packet_file_header {
	/* packet.header */
	uint32_t magic;
	uint32_t stream_instance_id;
	/* the gap */
	uint32_t form;	 /* PACKET_FORM_HIDING */
	uint32_t crc32c; /* as if the header were a struct packet_header */
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

/** A packet's header as the bytes of a file: of either form. */
union packet_bytes {
	struct packet_header plain;
	struct packet_file_header hiding;
};

/** @hides: the trace has form 2. */
void packet_to_file(const struct packet_header *header, bool hides, union packet_bytes *ret);
/** Return: false: it is not of that form. Nothing else is checked. */
bool packet_from_file(const union packet_bytes *bytes, bool hides, struct packet_header *ret);
/** Where the file has the content size, and the checksum, behind a packet's begin. */
size_t packet_content_at(bool hides);
size_t packet_crc_at(bool hides);

/** CRC-32C of a packet, with the header's checksum field taken as 0. */
uint32_t packet_checksum(const struct packet_header *header, const void *body, size_t len);

/**
 * packet_first_ts() - when the first record of a packet was made: its header is a clock cut
 * short, which goes on from the packet's begin (see ltt_ring.h).
 * @body: as much of it as there is, PACKET_FIRST_BYTES at most.
 * Return: a time within the packet; the packet's begin, if there are no records.
 */
uint64_t packet_first_ts(const struct packet_header *header, const void *body, size_t len);
#define PACKET_FIRST_BYTES 13u

#endif
