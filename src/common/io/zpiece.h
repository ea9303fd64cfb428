/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * zpiece.h - data in chunks, each compressed separately (zstd, RFC 8878), so that
 * the receiver needs to keep only one. A chunk is sent like a message, after its
 * length (frame.h). Owned by a connection, or by all of a thread's; runs in it. Pure.
 */
#ifndef IO_ZPIECE_H
#define IO_ZPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define ZPIECE_BYTES (64u << 10) /* of what is compressed at once, at most */

struct zpacker;
struct zpacker *zpacker_new(void);
/** @packer: may be NULL. Return: NULL. */
struct zpacker *zpacker_free(struct zpacker *packer);
/**
 * zpacker_pack() - one piece, behind its length.
 * @data: may change meanwhile, as memory of others does: then so does what is made of it.
 * @len: 1 to ZPIECE_BYTES.
 * @ret_len: of what is returned.
 * Return: the bytes, valid until the next one.
 */
const uint8_t *zpacker_pack(struct zpacker *packer, const void *data, size_t len, size_t *ret_len);

struct zunpacker;
struct zunpacker *zunpacker_new(void);
/** @unpacker: may be NULL. Return: NULL. */
struct zunpacker *zunpacker_free(struct zunpacker *unpacker);
/**
 * zunpacker_unpack() - what a piece was made of.
 * @data: whatever somebody sends.
 * @most: more than that is an error.
 * @ret_len: 1 to ZPIECE_BYTES.
 * Return: the bytes, valid until the next one; NULL: that is no piece.
 */
const uint8_t *zunpacker_unpack(struct zunpacker *unpacker, const void *data, size_t len,
				uint64_t most, size_t *ret_len) MUST_CHECK;

#endif
