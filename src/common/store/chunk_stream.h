/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk_stream.h - the files of one stream and their indexes: packets are appended
 * so that readers find complete ones only, and before their index entries; after a
 * crash, complete packets are found again. Owned by a stream, of a consumer or of a relay;
 * runs in its thread. The file is created with the first packet.
 */
#ifndef STORE_CHUNK_STREAM_H
#define STORE_CHUNK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/splice.h"
#include "store/chunk.h"
#include "trace/packet.h"

/** Attributes that the streams of a ring set share. */
struct stream_config {
	const struct chunk_trace *trace;
	struct disk *disk; /* of the trace */
	char *channel;
	uint32_t stream_class;
	uint32_t first_instance;  /* CTF stream instance id of the first ring */
	uint64_t tracefile_size;  /* bytes; 0: unlimited */
	uint32_t tracefile_count; /* 0: unlimited */
	bool unlisted;		  /* temporary files: the trace's list omits them */
	/* In a file that was last written before this time (CLOCK_REALTIME), the checksum of the
	 * last packet is checked: a power failure may have left its space only. 0: never. */
	uint64_t doubted_ns;
};

/** The stream of packets of the @cpu-th ring. */
static inline struct packet_stream stream_config_packets(const struct stream_config *config,
							 uint32_t cpu)
{
	return (struct packet_stream){ config->trace->uuid, config->stream_class,
				       config->first_instance + cpu, cpu };
}

struct chunk_stream {
	const struct stream_config *config;
	uint32_t cpu;
	int fd, index_fd; /* -1: not open */
	bool dirty;	  /* has data that is not synced yet */
	uint64_t bytes, index_bytes;
	uint64_t number; /* number of the next file, if their size is limited */
};

/** @config: outlives @file. */
void chunk_stream_init(struct chunk_stream *file, const struct stream_config *config, uint32_t cpu);
void chunk_stream_close(struct chunk_stream *file);

/** Add the file and its length to the trace's list of streams. A failure is ignored: readers do
 *  not miss a file that the list does not have. */
void chunk_stream_note(const struct chunk_stream *file);

/** The next packet makes the first file in another directory. */
void chunk_stream_turn(struct chunk_stream *file);

/** Whether a packet of @bytes would begin a new file. *@ret_replaces: whether the oldest file would
 *  then be removed. */
bool chunk_stream_is_next(const struct chunk_stream *file, uint64_t bytes, bool *ret_replaces);
/** Append a packet with its index entry. @source: the ring that @body is in, if it is to be
 *  spliced; NULL: it is written. Return: 0, or negative errno: nothing was appended. */
int chunk_stream_append(struct chunk_stream *file, const struct packet_header *header,
			const void *body, uint64_t body_bytes,
			const struct splice_source *source) MUST_CHECK;
/** The same with a checksum of the header alone, which is continued over the body. */
int chunk_stream_append_sum(struct chunk_stream *file, struct packet_header *header,
			    const void *body, uint64_t body_bytes,
			    const struct splice_source *source) MUST_CHECK;
/**
 * chunk_stream_begin(), chunk_stream_body(), chunk_stream_finish() - append a packet whose body is
 * received in chunks: until it is finished, readers find an empty packet.
 * @at: bytes of the body before @data.
 */
int chunk_stream_begin(struct chunk_stream *file, const struct packet_header *header) MUST_CHECK;
int chunk_stream_body(struct chunk_stream *file, uint64_t at, const void *data,
		      size_t len) MUST_CHECK;
int chunk_stream_finish(struct chunk_stream *file, const struct packet_header *header) MUST_CHECK;
/** Store the checksum of an unfinished packet, if it was not known when the packet was begun. */
int chunk_stream_sum(struct chunk_stream *file, const struct packet_header *header) MUST_CHECK;
/** Remove the unfinished packet. Return: 0 or negative errno. */
int chunk_stream_undo(struct chunk_stream *file) MUST_CHECK;

/** Sync the files to the disk. Return: 0 or negative errno. */
int chunk_stream_sync(struct chunk_stream *file) MUST_CHECK;

/**
 * chunk_stream_continue() - continue after the last complete packet of the existing files, which
 * are not written to if they end with it.
 * @ret_last: header of that packet.
 * @cut: bytes that were cut off are added.
 * Return: 1: there is one; 0: there is none; negative errno.
 */
int chunk_stream_continue(struct chunk_stream *file, struct packet_header *ret_last,
			  uint64_t *cut) MUST_CHECK;

/** The same for the files that a turn has moved to an archive: the stream goes on after them. */
int chunk_stream_continue_moved(const struct chunk_stream *file, struct packet_header *ret_last,
				uint64_t *cut) MUST_CHECK;

/** The header of the packet that begins the stream's first file. Return: whether there is one. */
bool chunk_stream_first(const struct chunk_stream *file, struct packet_header *ret);

/** Names of a stream's files. */
struct chunk_stream_names {
	char stream[256];
	char index[264];
};

int chunk_stream_names(const struct chunk_stream *file, uint64_t number,
		       struct chunk_stream_names *ret) MUST_CHECK;
/** Whether @name is that of a file of the stream, CHANNEL_CPU_NUMBER. */
bool chunk_stream_number_of(const struct chunk_stream *file, const char *name, uint64_t *ret);
#endif
