/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * packet.h - header and context of one packet, of any CTF trace. Owned by a feed, which parses the
 * next packet into the same struct. Its values are untrusted, except those that packet_parse()
 * checks.
 */
#ifndef READ_FEED_PACKET_H
#define READ_FEED_PACKET_H

#include "read/decode/value.h"
#include "read/view.h"

/* No packet header and context is larger than this. */
#define PACKET_MAX_HEAD (64u << 10)

#define PACKET_SHOWN_MORE 32u

/** Outcomes of packet_parse(). */
enum {
	PACKET_OK = 0,
	PACKET_SHORT = 1, /* more bytes are needed to decide */
	PACKET_BAD = 2,	  /* reason in packet.why */
};

/**
 * struct packet
 * @offset: offset in the file; @size: bytes in the file.
 * @content_bits: bits without the padding; @head_bits: bits of header and context.
 * @has: bits 1 << enum field_role of the fields that the packet has.
 * @cpu: value of a field cpu_id, which stays with @context for display.
 * @lost: cumulative, by cause; a tracer that does not distinguish causes uses OTHER.
 * @context: its values; texts in it point into @head, a copy of the bytes.
 * @shown: the context as text, made by a printer, for all events of the packet; @shown_source:
 *	bytes before it that describe its source. PACKET_SHOWN_MORE more bytes can be read.
 */
struct packet {
	/* that each event needs: behind those of its feed */
	struct ctf_stream_class *sc;
	char *shown;
	size_t shown_len, shown_source;
	uint64_t offset;
	uint64_t size;
	uint64_t content_bits;
	uint64_t head_bits;
	uint32_t has;
	uint64_t stream_id;
	uint64_t instance;
	uint64_t begin;
	uint64_t end;
	uint64_t seq_num;
	uint64_t recorded;
	uint64_t stream_pos;
	uint64_t crc32c;
	uint64_t cpu;
	uint64_t lost[VIEW_NR_LOST];
	struct values context;
	uint8_t *head;
	size_t head_size;
	const char *why;
};

void packet_fini(struct packet *packet);

/** CRC-32C of the head of a packet that has ROLE_CRC32C, with 0 in that field; to be continued with
 *  the body. */
uint32_t packet_head_sum(const struct packet *packet, const struct ctf_trace_class *tc);

static inline bool packet_has(const struct packet *packet, enum field_role role)
{
	return packet->has & (1u << role);
}

/**
 * packet_parse() - parse and check the head of a packet.
 * @bytes, @len: available bytes of the file from @offset on.
 * @file_left: bytes from @offset to the end of the file; the size of a packet without a size field.
 * @slots: of the stream, see struct reader.
 *
 * A packet may go beyond the end of the file: the caller checks that.
 */
int packet_parse(struct packet *packet, const struct ctf_trace_class *tc, const uint8_t *bytes,
		 size_t len, uint64_t offset, uint64_t file_left, uint64_t *slots);

#endif
