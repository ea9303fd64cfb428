/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * index.h - the index of a stream file: the positions of its packets.
 * Layout: LTTng's, version 1.1 (readers of LTTng traces can use it): a header
 * of 16 bytes, then entries of nine words, all big-endian. Pure: bytes only.
 */
#ifndef TRACE_INDEX_H
#define TRACE_INDEX_H

#include <stdint.h>

#include "packet.h"

#define INDEX_MAGIC 0xc1f1dcc1u
#define INDEX_MAJOR 1u
#define INDEX_MINOR 1u

struct index_header {
	uint32_t magic;
	uint32_t major;
	uint32_t minor;
	uint32_t entry_bytes;
};

struct index_entry {
	uint64_t offset;       /* bytes, in the stream file */
	uint64_t packet_size;  /* bits */
	uint64_t content_size; /* bits */
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t events_discarded;
	uint64_t stream_id;
	uint64_t stream_instance_id;
	uint64_t packet_seq_num;
};

/** The header, in the byte order of the file. */
struct index_header index_header_make(void);
/** The entry of a packet that begins at @offset. */
struct index_entry index_entry_make(uint64_t offset, const struct packet_header *packet);

/** Offset of the @n-th entry. */
static inline uint64_t index_offset(uint64_t n)
{
	return sizeof(struct index_header) + n * sizeof(struct index_entry);
}

/** Number of whole entries of an index of @bytes. */
static inline uint64_t index_entries(uint64_t bytes)
{
	return bytes < index_offset(0) ? 0 :
					 (bytes - index_offset(0)) / sizeof(struct index_entry);
}

#endif
