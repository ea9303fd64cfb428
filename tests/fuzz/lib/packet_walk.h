/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packet_walk.h - reads the packets of a stream file, for targets that check the consumer's output.
 * It is written from the format alone and shares no code with the product, like
 * tests/lib/ctfpkt.py, which reads whole traces.
 */
#ifndef PACKET_WALK_H
#define PACKET_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WALK_HEAD = 136,
	WALK_CRC_AT = 12,
	WALK_INDEX_HEAD = 16,
	WALK_ENTRY = 72,
};

struct contents {
	uint8_t *at;
	size_t len;
};

/** Facts that all packets of a stream have in common. */
struct walk_stream {
	const uint8_t *uuid; /* 16 bytes */
	uint32_t stream;
	uint64_t instance;
};

/** A packet's header, and where it is. */
struct walk_packet {
	size_t at, bytes;
	uint64_t begin, end, seq, discarded, pos, recorded, lost[4];
	uint32_t sum;
};

/** Read all of @fd; free ->at. */
struct contents walk_load(int fd);

/** A big-endian number. */
uint64_t walk_be64(const uint8_t *p);

/** Whether there is a complete packet of the stream at @at. */
bool walk_at(const struct walk_stream *s, const struct contents *c, size_t at,
	     struct walk_packet *ret);

/** Whether @next begins where @last ended. */
bool walk_follows(const struct walk_packet *next, const struct walk_packet *last);

/** Check the checksum and the loss counters of a packet that was written by this program. */
void walk_judge(const struct contents *c, const struct walk_packet *p);

/** Whether an index has the header it should have, in big-endian numbers of four bytes. */
bool walk_is_index(const struct contents *index);

/** Whether entry @nr of the index describes this packet. */
bool walk_entry_is(const struct walk_stream *s, const struct contents *index, size_t nr,
		   const struct walk_packet *p);

#endif
