/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "index.h"

#include <endian.h>

_Static_assert(sizeof(struct index_header) == 16, "layout of a file");
_Static_assert(sizeof(struct index_entry) == 72, "layout of a file");

struct index_header index_header_make(void)
{
	return (struct index_header){
		.magic = htobe32(INDEX_MAGIC),
		.major = htobe32(INDEX_MAJOR),
		.minor = htobe32(INDEX_MINOR),
		.entry_bytes = htobe32(sizeof(struct index_entry)),
	};
}

struct index_entry index_entry_make(uint64_t offset, const struct packet_header *packet)
{
	return (struct index_entry){
		.offset = htobe64(offset),
		.packet_size = htobe64(packet->packet_size),
		.content_size = htobe64(packet->content_size),
		.timestamp_begin = htobe64(packet->timestamp_begin),
		.timestamp_end = htobe64(packet->timestamp_end),
		.events_discarded = htobe64(packet->events_discarded),
		.stream_id = htobe64(packet->stream_id),
		.stream_instance_id = htobe64(packet->stream_instance_id),
		.packet_seq_num = htobe64(packet->packet_seq_num),
	};
}
