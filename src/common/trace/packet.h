/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packet.h - header and context of a packet in a stream file, as bytes.
 *
 * The TSDL that describes it is written by sessiond (trace/metadata.c) from the
 * same file of facts; doc/trace-format.md explains it. All little-endian, packed.
 * Source: CTF 1.8.3; the leading fields are laid out as LTTng's are, ours follow.
 */
#ifndef TRACE_PACKET_H
#define TRACE_PACKET_H

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

/** CRC-32C of a packet, whatever the header's own field holds. */
uint32_t packet_checksum(const struct packet_header *header, const void *body, size_t len);

/**
 * packet_first_ts() - when the first record of a packet was made: its header is a clock cut
 * short, which goes on from the packet's begin (see ltt_ring.h).
 * @body: as much of it as there is, PACKET_FIRST_BYTES at most.
 * Return: a time within the packet; its begin, if it has no records.
 */
uint64_t packet_first_ts(const struct packet_header *header, const void *body, size_t len);
#define PACKET_FIRST_BYTES 13u

#endif
