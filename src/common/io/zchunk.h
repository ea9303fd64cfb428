/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * zchunk.h - data in chunks, each compressed separately (zstd, RFC 8878), so that
 * the receiver needs memory for one chunk only. A chunk is sent like a message, after its
 * length (frame.h). Owned by a connection, or shared by all connections
 * of a thread; runs in that thread. No I/O.
 */
#ifndef IO_ZCHUNK_H
#define IO_ZCHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define ZCHUNK_BYTES (64u << 10) /* maximum size of the data that is compressed at once */

struct zpacker;
struct zpacker *zpacker_new(void);
/** @packer: may be NULL. Return: NULL. */
struct zpacker *zpacker_free(struct zpacker *packer);
/**
 * zpacker_pack() - compress one chunk, preceded by its length.
 * @data: may be memory that another process changes during the call; the result is valid, its
 *        content undefined.
 * @len: 1 to ZCHUNK_BYTES.
 * @ret_len: length of the returned bytes.
 * Return: the bytes, valid until the next call.
 */
const uint8_t *zpacker_pack(struct zpacker *packer, const void *data, size_t len, size_t *ret_len);

struct zunpacker;
struct zunpacker *zunpacker_new(void);
/** @unpacker: may be NULL. Return: NULL. */
struct zunpacker *zunpacker_free(struct zunpacker *unpacker);
/**
 * zunpacker_unpack() - decompress a chunk.
 * @data: untrusted.
 * @most: a larger result is an error.
 * @ret_len: 1 to ZCHUNK_BYTES.
 * Return: the bytes, valid until the next call; NULL: @data is not a chunk.
 */
const uint8_t *zunpacker_unpack(struct zunpacker *unpacker, const void *data, size_t len,
				uint64_t most, size_t *ret_len) MUST_CHECK;

#endif
