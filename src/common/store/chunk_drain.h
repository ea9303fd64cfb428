/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk_drain.h - the packets of a stream in their order, for an owner that passes them on while
 * more are appended. Files whose packets were all passed on are removed, at once, or (@keeps) when
 * they are released: until then the owner may begin again. Their numbers rise, but need not follow
 * each other. Their contents are untrusted, as they belong to the output's user, and may change at
 * any time.
 *
 * A damaged packet (a faulty disk, holes after a power failure) does not affect others: the
 * position of the next one is in the index, whose entries are written after their packets.
 *
 * Belongs to the owner of the stream; runs in its thread.
 */
#ifndef STORE_CHUNK_DRAIN_H
#define STORE_CHUNK_DRAIN_H

#include "store/chunk_stream.h"

/** Sums over several drains; atomic. */
struct chunk_drain_sums {
	uint64_t waiting, kept;
};

struct chunk_drain {
	struct chunk_stream *stream; /* the size of its files is limited, their number is not */
	int fd;			     /* file that is read; -1: none is open */
	uint64_t number;	     /* of that file */
	uint64_t passed;	     /* bytes at its beginning that were passed on */
	uint64_t sent;		     /* bytes after these that are being passed on */
	uint64_t waiting;	     /* bytes in all files that were not passed on */
	bool keeps;		     /* files stay until they are released */
	uint64_t first;		     /* number of the oldest file, at most @number */
	uint64_t kept;		     /* bytes in all files that were passed on */
	struct chunk_drain_sums *sums;
};

/** @stream, @sums: outlive the drain. */
void chunk_drain_init(struct chunk_drain *drain, struct chunk_stream *stream,
		      struct chunk_drain_sums *sums);
/** Begin with the oldest existing file. After chunk_stream_continue(). Return: 0 or negative errno:
 *  it is not known. */
int chunk_drain_find(struct chunk_drain *drain) MUST_CHECK;
/** A packet of @bytes was appended to the stream. */
void chunk_drain_add(struct chunk_drain *drain, uint64_t bytes);

/** Outcome of chunk_drain_next(). */
enum { CHUNK_DRAIN_PACKET = 1, CHUNK_DRAIN_DAMAGED = 2 };
/**
 * chunk_drain_next() - read the first packet that is not being passed on, and remove the files
 * before it.
 * @ret: of a damaged packet the header as it was read; where that differs from the index, its size
 * alone.
 * @ret_body: allocated; not set if the packet is damaged.
 * Return: CHUNK_DRAIN_PACKET, CHUNK_DRAIN_DAMAGED; 0: no packet is left, or none in the current
 * file, which has packets that are being passed on; negative errno.
 */
int chunk_drain_next(struct chunk_drain *drain, struct packet_header *ret,
		     void **ret_body) MUST_CHECK;
/** The first @bytes were passed on, or can't be. */
void chunk_drain_pass(struct chunk_drain *drain, uint64_t bytes);
/** Remove the oldest files whose packets were all passed on, and have no later number than @seq.
 *  Return: whether one was removed; then @ret_last is the header of the last packet in them;
 *  unchanged if that is damaged. */
bool chunk_drain_release(struct chunk_drain *drain, uint64_t seq, struct packet_header *ret_last);
/** Begin again with the oldest file. Nothing may be being passed on. @ret: the number of its first
 *  packet; UINT64_MAX: there is none. Return: 0 or negative errno. */
int chunk_drain_rewind(struct chunk_drain *drain, uint64_t *ret) MUST_CHECK;
/** Close the file. @remove: also remove all files. */
void chunk_drain_close(struct chunk_drain *drain, bool remove);

#endif
